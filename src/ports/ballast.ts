import type { Bytes } from '../units/units.js';

/**
 * A file that holds space on a disk only to be given up when the disk is full. One in a directory. Every method rejects with a
 * `PortError` when something else stands in its place, or another process looks after it.
 */
export interface BallastPort {
  /** Bytes on the disk that are held there now, those of an earlier run included; 0 = none. Changes nothing. */
  held(directory: string): Promise<Bytes>;
  /**
   * Makes it hold `size` bytes, whether that is more or less than now, and answers what it then holds. Really allocated: when it
   * resolves, nobody else can get these blocks. Rejects when the disk has no room; what was got by then stays held.
   */
  resize(directory: string, size: Bytes): Promise<Bytes>;
  /** Gives all of it back and answers how much that was. Needs no free space. */
  release(directory: string): Promise<Bytes>;
}
