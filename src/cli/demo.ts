import { readFileSync } from 'node:fs';
import { logDestination } from '../adapters/log/destination.js';
import { createLogger } from '../adapters/log/logger.js';
import { loadSettings } from '../config/load.js';
import type { Settings } from '../config/settings.js';
import { runDaemon } from '../daemon/run.js';
import { type EmbeddedRuntime, startEmbeddedRuntime } from '../embedded/embedded-runtime.js';
import { BEHAVIOURS, type Behaviour } from '../embedded/options.js';
import type { EvictionEvent } from '../eviction/event.js';
import type { MountsPort } from '../ports/mounts.js';
import { PortError } from '../ports/port-error.js';
import { messageOf } from '../reclaim/removal.js';
import { instant } from '../units/units.js';
import { EXIT } from './exit-code.js';
import { DemoStory } from './render/demo-story.js';

/** Options of `reclaimd demo`. */
export interface DemoOptions {
  /** Which runtime the embedded one behaves as. */
  readonly behaviour: string;
  /** Log lines instead of the story. */
  readonly json: boolean;
}

const MIB = 1024 * 1024;
const DISK = 256 * MIB;
/** Fills 100 MiB in some eight seconds: slow enough to read along. */
const WRITE_RATE = 12 * MIB;
/** Ends the demonstration when the story does not come to its end; it takes some thirty seconds. */
const GIVE_UP_AFTER_MS = 90_000;

/**
 * `reclaimd demo`: an embedded runtime on a small disk, pods that write, and the real daemon against it over the real socket.
 * Answers with 0 when the whole story happened: pressure, containers and images deleted, one pod evicted, recovery.
 */
export async function demoCommand(options: DemoOptions): Promise<number> {
  if (!isBehaviour(options.behaviour)) {
    const known = Object.keys(BEHAVIOURS).join(', ');
    process.stderr.write(
      `error: Cannot start the demonstration as --behaviour must be one of ${known}: ${options.behaviour}\n`,
    );
    return EXIT.usage;
  }
  const abort = new AbortController();
  let interrupted = false;
  // Listening on, so that a second Ctrl-C does not end the cleaning up.
  const interrupt = () => {
    interrupted = true;
    abort.abort();
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  const timer = setTimeout(() => {
    abort.abort();
  }, GIVE_UP_AFTER_MS);
  const story = new DemoStory((line) => {
    if (!options.json) process.stdout.write(`${line}\n`);
  });
  try {
    const code = await play(options, options.behaviour, story, abort, () => interrupted);
    if (!interrupted) return code;
    process.stderr.write('interrupted; nothing is left behind\n');
    return EXIT.interrupted;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    process.stderr.write(`error: ${messageOf(error)}\n`);
    return EXIT.failed;
  } finally {
    clearTimeout(timer);
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

async function play(
  options: DemoOptions,
  behaviour: Behaviour,
  story: DemoStory,
  abort: AbortController,
  isInterrupted: () => boolean,
): Promise<number> {
  await using runtime = await startEmbeddedRuntime({
    behaviour,
    statsCollectPeriodMs: 1_000,
    disk: { sizeBytes: DISK, layout: BEHAVIOURS[behaviour].splitDisks ? 'split' : 'shared' },
  });
  story.begin(runtime.describe(), behaviour);
  await prepareNode(runtime, story);
  const settings = demoSettings(runtime);
  using destination = logDestination({ target: { fd: 1 } });
  const logger = await createLogger({
    level: options.json ? 'info' : 'error',
    format: options.json ? 'json' : 'auto',
    destination,
  });
  const hear = (event: EvictionEvent) => {
    story.tell(event);
    if (story.isOver || story.isStuck) abort.abort();
  };
  await runDaemon({
    settings,
    logger,
    abort: abort.signal,
    pathExists: () => true,
    onEvent: hear,
    ...(runtime.disks.all.some((disk) => disk.kind === 'accounted')
      ? { replacements: { mounts: accountedMounts(runtime) } }
      : {}),
  });
  if (!isInterrupted()) story.end();
  return story.isOver ? EXIT.done : EXIT.failed;
}

/** Pods at work, dead containers, unused images, and one pod that does not stop writing. */
async function prepareNode(runtime: EmbeddedRuntime, story: DemoStory): Promise<void> {
  await runtime.importImage({
    name: 'shop.example/web:7',
    layers: [
      { seed: 'base', bytes: 6 * MIB },
      { seed: 'web', bytes: 2 * MIB },
    ],
  });
  for (const version of [4, 5, 6]) {
    await runtime.importImage({
      name: `shop.example/web:${version}`,
      layers: [
        { seed: 'base', bytes: 6 * MIB },
        { seed: `web${version}`, bytes: 10 * MIB },
      ],
    });
  }
  const image = 'shop.example/web:7';
  await runtime.startPod({
    name: 'web',
    namespace: 'shop',
    containers: [{ name: 'server', image, writeBytesPerSecond: 4 * MIB, writeLimitBytes: 4 * MIB }],
  });
  const job = ['dd', 'if=/dev/urandom', 'of=/result', 'bs=1M', 'count=10'];
  await runtime.startPod({
    name: 'nightly',
    namespace: 'shop',
    containers: [
      { name: 'main', image },
      ...['import', 'convert', 'report'].map((name) => ({ name, image, command: job })),
    ],
  });
  await runtime.startPod({
    name: 'cache',
    namespace: 'shop',
    containers: [{ name: 'cache', image, writeBytesPerSecond: WRITE_RATE }],
  });
  story.prepared([
    'shop/web at work (4 MiB written)',
    'shop/nightly at work, with three dead containers of 10 MiB',
    'shop/cache, which writes 12 MiB a second and will not stop',
    'three images that nothing uses, 16 MiB each as listed, 6 MiB of them shared',
  ]);
}

function demoSettings(runtime: EmbeddedRuntime): Settings {
  const path = new URL('../../../config/demo.yaml', import.meta.url);
  const loaded = loadSettings({
    file: { path: 'config/demo.yaml', text: readFileSync(path, 'utf8') },
    flags: [
      { name: 'runtime-endpoint', value: runtime.endpoint },
      { name: 'root-dir', value: runtime.disks.node.path },
      { name: 'pod-logs-dir', value: runtime.logsPath },
      { name: 'sandbox-image', value: runtime.sandboxImage },
    ],
  });
  if (loaded.kind === 'loaded') return loaded.settings;
  const problems = loaded.problems.map((each) => each.message).join('; ');
  throw new Error(`Cannot run the demonstration as config/demo.yaml must load: ${problems}`);
}

/** Where nothing can be mounted, the numbers come from the runtime's account instead of statfs. */
function accountedMounts(runtime: EmbeddedRuntime): MountsPort {
  return {
    async look(path) {
      const disk = runtime.disks.all.find((each) => path === each.path || path.startsWith(`${each.path}/`));
      const at = instant(Date.now());
      if (disk === undefined) return { kind: 'missing', path, at };
      return { kind: 'reading', device: disk.path, readOnly: false, at, ...(await disk.read()) };
    },
  };
}

function isBehaviour(text: string): text is Behaviour {
  return Object.hasOwn(BEHAVIOURS, text);
}
