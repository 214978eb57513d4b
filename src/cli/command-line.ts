import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { FLAGS, type FlagValue } from '../config/flags.js';
import { productVersion } from '../daemon/version.js';
import { EXIT } from './exit-code.js';
import type { SettingsOptions } from './load-settings.js';

/**
 * Reads the command line, runs the command, answers with the exit code. Commands are loaded when they are used: a start
 * should not pay for what it does not need.
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  let code: number = EXIT.done;
  const program = new Command('reclaimd')
    .description(
      'Answers disk pressure on a container host: reclaims unused containers and images, evicts a pod only then.',
    )
    .version(productVersion())
    .exitOverride()
    .showHelpAfterError('(see reclaimd --help)');

  const run = withSettings(program.command('run').description('run the daemon until it is told to end'))
    .option('--dry-run', 'make one pass that says what it would do and changes nothing')
    .addOption(new Option('--once', 'make one pass and end').conflicts('dryRun'));
  run.action(async (options: { dryRun?: boolean; once?: boolean }) => {
    const { runCommand } = await import('./run.js');
    code = await runCommand({ ...settingsOptions(run), dryRun: options.dryRun === true, once: options.once === true });
  });

  const admit = withSettings(
    program.command('admit').description('look once and tell whether a pod may start on this node now'),
  )
    .addOption(new Option('--pod-file <file>', 'manifest of the pod (YAML or JSON)').conflicts(['priority', 'qos']))
    .addOption(new Option('--priority <number>', 'priority of the pod, without a manifest').argParser(wholeNumber))
    .addOption(
      new Option('--qos <class>', 'class of service of the pod, without a manifest')
        .choices(['BestEffort', 'Burstable', 'Guaranteed'])
        .default('BestEffort'),
    )
    .addOption(new Option('--output <form>', 'text or json').choices(['text', 'json']).default('text'));
  admit.action(
    async (options: {
      podFile?: string;
      priority?: number;
      qos: 'BestEffort' | 'Burstable' | 'Guaranteed';
      output: 'text' | 'json';
    }) => {
      const { admitCommand } = await import('./admit.js');
      code = await admitCommand({
        ...settingsOptions(admit),
        podFile: options.podFile ?? null,
        priority: options.priority ?? null,
        qos: options.qos,
        output: options.output,
      });
    },
  );

  const plan = withTarget(
    withSettings(program.command('plan').description('show what would be removed, in which order; changes nothing')),
  )
    .option('--all', 'list what is in use as well')
    .option('--save <file>', 'keep the plan for reclaimd apply');
  plan.action(async (options: TargetFlags & { all?: boolean; save?: string }) => {
    const { planCommand } = await import('./plan.js');
    code = await planCommand({
      ...settingsOptions(plan),
      ...targetOptions(options),
      all: options.all === true,
      save: options.save ?? null,
    });
  });

  const apply = withTarget(
    withSettings(program.command('apply').description('remove what a plan says, in its order, and nothing else')),
  )
    .argument('[plan]', 'a plan saved by reclaimd plan --save; without one it is made now')
    .option('--max-age <duration>', 'refuse a saved plan that is older', '1h')
    .option('--dry-run', 'say what has changed since and what would still go; changes nothing');
  apply.action(async (file: string | undefined, options: TargetFlags & { maxAge: string; dryRun?: boolean }) => {
    const { applyCommand } = await import('./apply.js');
    code = await applyCommand({
      ...settingsOptions(apply),
      ...targetOptions(options),
      plan: file ?? null,
      maxAge: options.maxAge,
      dryRun: options.dryRun === true,
    });
  });

  const doctor = withSettings(
    program
      .command('doctor')
      .description('tell who holds the disk space, what can be reclaimed, and whether everything is set up to do it'),
  ).addOption(new Option('--output <form>', 'text or json').choices(['text', 'json']).default('text'));
  doctor.action(async (options: { output: 'text' | 'json' }) => {
    const { doctorCommand } = await import('./doctor.js');
    code = await doctorCommand({ ...settingsOptions(doctor), output: options.output });
  });

  const config = program.command('config').description('the configuration');
  const show = withSettings(config.command('show').description('print the effective settings'))
    .option('--origin', 'say where each value comes from')
    .addOption(new Option('--output <form>', 'table or json').choices(['table', 'json']).default('table'));
  show.action(async (options: { origin?: boolean; output: 'table' | 'json' }) => {
    const { configShowCommand } = await import('./config-show-command.js');
    code = configShowCommand({
      ...settingsOptions(show),
      origin: options.origin === true,
      output: options.output,
    });
  });

  const demo = program
    .command('demo')
    .description('fill the disk of an embedded runtime and show how the pressure is answered')
    .option('--behaviour <runtime>', 'containerd-1.6, containerd-2 or cri-o', 'containerd-2')
    .option('--json', 'show the log as JSON lines instead of the story');
  demo.action(async (options: { behaviour: string; json?: boolean }) => {
    const { demoCommand } = await import('./demo.js');
    code = await demoCommand({ behaviour: options.behaviour, json: options.json === true });
  });

  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // Help and version end the parsing like errors do, with a code of 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    throw error;
  }
  return code;
}

function wholeNumber(text: string): number {
  if (!/^-?\d{1,10}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** What is to be free, and how it is shown. */
interface TargetFlags {
  readonly signal?: string;
  readonly target?: string;
  readonly output: 'text' | 'json';
}

function withTarget(command: Command): Command {
  return command
    .option('--signal <signal>', 'the signal to free space for; the one nearest to its line unless given')
    .option('--target <amount>', 'how much is to be available: 20Gi, 15% or all; what the thresholds want unless given')
    .addOption(new Option('--output <form>', 'text or json').choices(['text', 'json']).default('text'));
}

function targetOptions({ signal, target, output }: TargetFlags) {
  return { signal: signal ?? null, target: target ?? null, output };
}

const given = new WeakMap<Command, FlagValue[]>();

/** Adds the configuration files and one flag for each setting; their order on the command line is kept. */
function withSettings(command: Command): Command {
  const values: FlagValue[] = [];
  given.set(command, values);
  command
    .option('-c, --config <file>', 'our own configuration file (YAML)')
    .option('--kubelet-config <file>', "the kubelet's KubeletConfiguration file")
    .option('--kubelet-config-dir <dir>', "the directory of the kubelet's drop-in files (*.conf)");
  for (const flag of FLAGS) {
    const value = flag.valueHint === '' ? '[value]' : `<${flag.valueHint}>`;
    const option = new Option(`--${flag.name} ${value}`, flag.help);
    option.argParser((text: string) => {
      values.push({ name: flag.name, value: text });
      return text;
    });
    if (flag.hidden) option.hideHelp();
    command.addOption(option);
    command.on(`option:${flag.name}`, (text: string | null) => {
      // A switch without a value does not reach the parser above.
      if (text === null) values.push({ name: flag.name, value: null });
    });
  }
  return command;
}

function settingsOptions(command: Command): SettingsOptions {
  const { config, kubeletConfig, kubeletConfigDir } = command.opts<{
    config?: string;
    kubeletConfig?: string;
    kubeletConfigDir?: string;
  }>();
  return {
    ...(config === undefined ? {} : { config }),
    ...(kubeletConfig === undefined ? {} : { kubeletConfig }),
    ...(kubeletConfigDir === undefined ? {} : { kubeletConfigDir }),
    flags: given.get(command) ?? [],
  };
}
