import type { FilesPort, TreeUsage } from '../../src/ports/files.js';
import { PortError } from '../../src/ports/port-error.js';
import { bytes, count, type Milliseconds } from '../../src/units/units.js';
import type { Extent } from './fake-disk.js';
import { type FakeWorld, PATHS } from './fake-world.js';

/** Logs and emptyDirs of the world's pods, as files. A path in `broken` can be neither walked nor removed. */
export class FakeFiles implements FilesPort {
  readonly broken = new Set<string>();
  readonly removed: string[] = [];

  constructor(readonly world: FakeWorld) {}

  async usage(
    path: string,
    _maxEntries: number,
    signal?: AbortSignal,
    _within?: Milliseconds,
  ): Promise<TreeUsage | null> {
    if (this.broken.has(path)) throw new PortError(`Cannot walk as it is broken: ${path}`);
    const extents = [...this.#extentsUnder(path)];
    if (extents.length === 0) return null;
    const sum = (of: keyof Extent) => extents.reduce((total, extent) => total + extent[of], 0);
    return { bytes: bytes(sum('bytes')), inodes: count(sum('inodes')), complete: signal?.aborted !== true };
  }

  async removeTree(root: string, name: string): Promise<void> {
    const path = `${root}/${name}`;
    if (this.broken.has(path)) throw new PortError(`Cannot remove a tree as it is broken: ${path}`);
    this.removed.push(path);
    if (root === PATHS.logs) this.world.removeLogs((log) => log.startsWith(`${path}/`));
    if (root === PATHS.volumes) this.world.removeVolume(name);
  }

  async removeLogs(_root: string, logPath: string): Promise<void> {
    if (this.broken.has(logPath)) throw new PortError(`Cannot remove a log as it is broken: ${logPath}`);
    this.removed.push(logPath);
    this.world.removeLogs((log) => log === logPath);
  }

  *#extentsUnder(path: string): Generator<Extent> {
    for (const [log, extent] of this.world.logs) if (log.startsWith(`${path}/`)) yield extent;
    for (const [uid, extent] of this.world.volumes) {
      if (path === `${PATHS.volumes}/${uid}/volumes/kubernetes.io~empty-dir`) yield extent;
    }
  }
}
