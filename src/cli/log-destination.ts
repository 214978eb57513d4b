import { type LogDestination, logDestination } from '../adapters/log/destination.js';
import type { Settings } from '../config/settings.js';
import { PortError } from '../ports/port-error.js';
import { messageOf } from '../reclaim/removal.js';

/** A log file that can never be written to as it was named: a mistake of configuration. */
export class UnusableLogFile extends PortError {}

/** What a full disk answers; it is the very thing that the daemon is started for, and must not keep it from starting. */
const WANT_OF_SPACE: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** Where the log goes, and what there is to say about it. */
export interface OpenedLog {
  readonly destination: LogDestination;
  /** Why it is not the file that was asked for; null = it is. */
  readonly problem: string | null;
}

/**
 * Opens where log lines go. A file that cannot be made for want of space or inodes is replaced by standard output; one that cannot
 * be opened for another reason throws an `UnusableLogFile`.
 */
export function openLog(settings: Pick<Settings, 'log'>, open: typeof logDestination = logDestination): OpenedLog {
  const { file } = settings.log;
  if (file === null) return { destination: open({ target: { fd: 1 } }), problem: null };
  try {
    return { destination: open({ target: { path: file } }), problem: null };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const { cause } = error;
    if (!(cause instanceof Error && 'code' in cause && WANT_OF_SPACE.has(cause.code))) {
      throw new UnusableLogFile(error.message, { cause });
    }
    return { destination: open({ target: { fd: 1 } }), problem: `${messageOf(error)}; logging to standard output` };
  }
}
