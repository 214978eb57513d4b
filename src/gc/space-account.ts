/** One holder of space on a disk, in bytes. */
export interface SpaceHolder {
  readonly what: string;
  /** Null = cannot be told; `note` says why. */
  readonly bytes: number | null;
  /** What collecting could give back of it, by what is claimed; null = nobody can say. */
  readonly reclaimable: number | null;
  /** Whether it is at least so much: a walk that ended early. */
  readonly isLowerBound: boolean;
  readonly note: string | null;
}

/** Who holds the space of one disk. */
export interface SpaceAccount {
  readonly used: number;
  readonly capacity: number;
  readonly available: number;
  readonly holders: readonly SpaceHolder[];
  /** What none of them explains; at most all that is used. */
  readonly unexplained: number;
  /** Where less than half is explained, the numbers decide nothing about who fills the disk. */
  readonly isMostlyUnexplained: boolean;
}

/** Adds up what is known to hold the space of a disk, the largest first. Pure. */
export function spaceAccount(
  disk: { readonly capacity: number; readonly available: number },
  holders: readonly SpaceHolder[],
): SpaceAccount {
  const used = Math.max(0, disk.capacity - disk.available);
  const explained = holders.reduce((sum, each) => sum + (each.bytes ?? 0), 0);
  return {
    used,
    ...disk,
    holders: holders.toSorted((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0)),
    unexplained: Math.max(0, used - explained),
    isMostlyUnexplained: explained < used / 2,
  };
}
