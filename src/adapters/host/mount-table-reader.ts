import { readFileSync } from 'node:fs';
import type { Instant } from '../../units/units.js';
import { type MountTable, parseMountTable } from './mount-table.js';

/** The mount table as it was a short while ago. */
export interface MountTableReader {
  /** The table, not older than `REREAD_AFTER_MS`; the same object for as long as nothing changed. */
  current(now: Instant): MountTable;
  /** Has the next `current` read again, because something was seen that does not fit the table. */
  invalidate(): void;
}

/**
 * The kernel offers poll(2) on mountinfo, Node does not, so the text is read again now and then: 30 us here, some hundred us
 * with a thousand mounts. What can be stale for that long is the read-only flag, and a foreign mount that was put over a
 * watched directory; a new device at a known path is noticed at once and calls `invalidate`.
 */
export const REREAD_AFTER_MS = 5_000;

/** Reads `/proc/self/mountinfo`, and parses it only when its text has changed. Throws what reading throws. */
export function mountTableReader(read: () => string = readOwnMountInfo): MountTableReader {
  let text: string | null = null;
  let table = parseMountTable('');
  let readAt: Instant | null = null;
  return {
    current(now) {
      if (readAt !== null && now - readAt < REREAD_AFTER_MS) return table;
      const fresh = read();
      if (fresh !== text) table = parseMountTable(fresh);
      text = fresh;
      readAt = now;
      return table;
    },
    invalidate() {
      readAt = null;
    },
  };
}

/** Synchronous on purpose: the kernel makes this text from memory, and the libuv threads may all be taken by dead disks. */
export function readOwnMountInfo(): string {
  return readFileSync('/proc/self/mountinfo', 'utf8');
}
