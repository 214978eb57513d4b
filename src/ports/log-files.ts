import type { Bytes, Instant } from '../units/units.js';

/**
 * Log files of containers and the links to them. All paths are absolute. Every method rejects with a `PortError` when it
 * could not do what it says.
 */
export interface LogFilesPort {
  /** The names in a directory, whatever they are, in the order in which the directory gives them; null when there is none. */
  list(directory: string): Promise<readonly string[] | null>;
  /** Size of the file that the path leads to, links followed; null when there is none. */
  size(path: string): Promise<Bytes | null>;
  /** Gives a file another name in the same directory. A file that has that name already is replaced. */
  rename(from: string, to: string): Promise<void>;
  /** Removes one file, or a link itself. Missing is fine. */
  remove(path: string): Promise<void>;
  /** Writes a gzip copy of `source` to `target`, with the mode of the source, and has it on the disk when it resolves. */
  compress(source: string, target: string): Promise<void>;
}

/** Tells when entries of a directory changed last. */
export interface ChangeTimesPort {
  /** By the wall clock, of the entry itself and not of what a link leads to; null when there is none. Rejects with a `PortError`. */
  changedAt(path: string): Promise<Instant | null>;
}

/** Has a container's log reopened under its path after it was renamed (CRI ReopenContainerLog). Rejects with a `RuntimeError`. */
export interface LogReopener {
  reopenContainerLog(id: string, signal?: AbortSignal): Promise<void>;
}
