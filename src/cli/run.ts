import { existsSync } from 'node:fs';
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
import { openLog, UnusableLogFile } from './log-destination.js';
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
    // A daemon tells its warnings in the log; said on the terminal too they would stand there twice.
    if (loaded.kind === 'refused' || (options.dryRun && loaded.settings.log.format !== 'json')) {
      for (const problem of loaded.problems) process.stderr.write(`${problem.severity}: ${problem.message}\n`);
    }
    if (loaded.kind === 'refused') return EXIT.usage;
    const { settings } = loaded;
    if (options.dryRun && settings.log.format !== 'json') {
      print(renderPass(await onePass(settings, 'dry-run', existsSync), settings));
      return EXIT.done;
    }
    const { destination: opened, problem } = openLog(settings);
    using destination = opened;
    // As logrotate asks for it; without this the signal would end the daemon.
    process.on('SIGHUP', () => {
      destination.reopen();
    });
    const logger = await createLogger({ level: settings.log.level, format: settings.log.format, destination });
    if (problem !== null) logger.warn({ event: 'log-file' }, problem);
    for (const { code, message } of loaded.problems) logger.warn({ event: 'configuration', code }, message);
    if (options.dryRun) return await once(settings, logger, 'dry-run');
    return options.once ? await once(settings, logger, 'act') : await daemon(settings, logger);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    process.stderr.write(`error: ${messageOf(error)}\n`);
    return error instanceof UnreadableConfiguration || error instanceof UnusableLogFile ? EXIT.usage : EXIT.failed;
  }
}

async function once(settings: Settings, logger: Logger, mode: CycleMode): Promise<number> {
  const abort = endOnSignals(logger);
  await onePass(settings, mode, existsSync, createEventLog(logger), abort);
  return abort.aborted ? EXIT.interrupted : EXIT.done;
}

async function daemon(settings: Settings, logger: Logger): Promise<number> {
  await runDaemon({ settings, logger, abort: endOnSignals(logger), pathExists: existsSync });
  return EXIT.done;
}

/** Aborts on SIGTERM and SIGINT, and sees to it that the end comes. */
function endOnSignals(logger: Logger): AbortSignal {
  const abort = new AbortController();
  const end = (signal: NodeJS.Signals) => {
    if (abort.signal.aborted) return;
    logger.info({ event: 'stopping', signal }, `stopping on ${signal}`);
    abort.abort();
    endForSure();
  };
  process.on('SIGTERM', end).on('SIGINT', end);
  return abort.signal;
}

/** A local disk that hangs keeps a thread, and an ordinary end would wait for it: then a signal to ourselves ends it. */
function endForSure(): void {
  setTimeout(() => {
    process.kill(process.pid, 'SIGKILL');
  }, END_WITHIN_MS).unref();
}

/** The promise is two seconds from SIGTERM to the end. */
const END_WITHIN_MS = 1_500;
