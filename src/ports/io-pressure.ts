/** How much of the last ten seconds tasks waited for disks, in percent (the kernel's pressure stall information). */
export interface IoPressure {
  /** At least one task waited. */
  readonly some: number;
  /** All tasks that had anything to do waited: nothing else got on. */
  readonly full: number;
}

/** Tells the node's pressure on its disks. */
export interface IoPressurePort {
  /** Null where the kernel tells none. Never rejects. */
  read(): Promise<IoPressure | null>;
}
