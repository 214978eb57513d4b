import type { Instant } from '../units/units.js';

/** How many bytes one container has written in its life, to whatever disk. Null = that count cannot be read. */
export interface WriteCount {
  /** What its processes made dirty, less what was thrown away before it was written out. At once. */
  readonly processes: number | null;
  /** What its control group sent to devices: late by the time that the kernel keeps dirty pages. */
  readonly cgroup: number | null;
}

/** The counts of one moment, by container id; those that cannot be read are missing. */
export interface WriteCounts {
  readonly at: Instant;
  readonly counts: ReadonlyMap<string, WriteCount>;
}

/** Reads how much containers have written. */
export interface WriteCountsPort {
  read(signal?: AbortSignal): Promise<WriteCounts>;
}
