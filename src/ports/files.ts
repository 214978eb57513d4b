import type { Bytes, Count, Milliseconds } from '../units/units.js';

/** What a directory tree holds. Hard links count once; other devices are not entered; sparse files count what is allocated. */
export interface TreeUsage {
  readonly bytes: Bytes;
  readonly inodes: Count;
  /** False when the walk ended at its limit or something could not be read: the numbers are a lower bound. */
  readonly complete: boolean;
}

/** Files of pods: logs and volumes. All paths are absolute. */
export interface FilesPort {
  /**
   * Null when the path does not exist. Walks off the main thread, at most `maxEntries`, and ends `within` the given time with
   * what it has counted by then, the time in which it waits for its turn included.
   */
  usage(path: string, maxEntries: number, signal?: AbortSignal, within?: Milliseconds): Promise<TreeUsage | null>;
  /**
   * Removes the directory `name` under `root` with all it holds, without following a symbolic link and without leaving the
   * device. Missing is fine. Rejects with a `PortError` when `name` is not a plain name or something could not be removed.
   */
  removeTree(root: string, name: string): Promise<void>;
  /**
   * Removes a container's log and every file beside it whose name begins with the log's name (rotated, compressed,
   * temporary). Missing is fine. Rejects with a `PortError` when the log does not lie under `root` or a file stays.
   */
  removeLogs(root: string, logPath: string): Promise<void>;
}
