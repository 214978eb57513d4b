import { existsSync } from 'node:fs';
import { type LogDestination, logDestination } from '../adapters/log/destination.js';
import { createEventLog } from '../adapters/log/event-log.js';
import { createLogger, type Logger } from '../adapters/log/logger.js';
import type { Settings } from '../config/settings.js';
import { onePass } from '../daemon/one-pass.js';
import { runDaemon } from '../daemon/run.js';
import type { CycleMode } from '../manager/cycle.js';
import { PortError } from '../ports/port-error.js';
import { messageOf } from '../reclaim/removal.js';
import { EXIT } from './exit-code.js';
import { readSettings, type SettingsOptions, UnreadableConfiguration } from './load-settings.js';
import { print } from './print.js';
import { renderPass } from './render/pass.js';

/** Options of `reclaimd run`. */
export interface RunCommandOptions extends SettingsOptions {
  readonly dryRun: boolean;
  readonly once: boolean;
}

/** `reclaimd run`: the daemon, one pass, or a dry run. Answers with the exit code. */
export async function runCommand(options: RunCommandOptions): Promise<number> {
  try {
    const loaded = readSettings(options);
    for (const problem of loaded.problems) process.stderr.write(`${problem.severity}: ${problem.message}\n`);
    if (loaded.kind === 'refused') return EXIT.usage;
    const { settings } = loaded;
    if (options.dryRun && settings.log.format !== 'json') {
      print(renderPass(await onePass(settings, 'dry-run', existsSync), settings));
      return EXIT.done;
    }
    using destination = openDestination(settings);
    const logger = await createLogger({ level: settings.log.level, format: settings.log.format, destination });
    for (const { code, message } of loaded.problems) logger.warn({ event: 'configuration', code }, message);
    if (options.dryRun) return await once(settings, logger, 'dry-run');
    return options.once ? await once(settings, logger, 'act') : await daemon(settings, logger);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    process.stderr.write(`error: ${messageOf(error)}\n`);
    return error instanceof UnreadableConfiguration ? EXIT.usage : EXIT.failed;
  }
}

async function once(settings: Settings, logger: Logger, mode: CycleMode): Promise<number> {
  const pass = await onePass(settings, mode, existsSync);
  pass.events.forEach(createEventLog(logger));
  return EXIT.done;
}

async function daemon(settings: Settings, logger: Logger): Promise<number> {
  const abort = new AbortController();
  const end = (signal: NodeJS.Signals) => {
    logger.info({ event: 'stopping', signal }, `stopping on ${signal}`);
    abort.abort();
    endForSure();
  };
  process.once('SIGTERM', end).once('SIGINT', end);
  await runDaemon({ settings, logger, abort: abort.signal, pathExists: existsSync });
  return EXIT.done;
}

/** A local disk that hangs keeps a thread, and an ordinary end would wait for it: then a signal to ourselves ends it. */
function endForSure(): void {
  setTimeout(() => {
    process.kill(process.pid, 'SIGKILL');
  }, END_WITHIN_MS).unref();
}

/** The promise is two seconds from SIGTERM to the end. */
const END_WITHIN_MS = 1_500;

function openDestination(settings: Settings): LogDestination {
  return logDestination({ target: settings.log.file === null ? { fd: 1 } : { path: settings.log.file } });
}
