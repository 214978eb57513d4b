import type { MountsPort, PathLook } from '../../src/ports/mounts.js';
import { type FakeWorld, PATHS } from './fake-world.js';

/** How a path looks when it does not simply lie on its disk. */
export type Oddity = 'missing' | 'error' | 'hung';

/** The world's disks as seen by paths. */
export class FakeMounts implements MountsPort {
  readonly odd = new Map<string, Oddity>();
  looks = 0;

  constructor(readonly world: FakeWorld) {}

  async look(path: string): Promise<PathLook> {
    this.looks += 1;
    const at = this.world.clock.now();
    switch (this.odd.get(path)) {
      case undefined:
        return this.#diskOf(path).reading();
      case 'missing':
        return { kind: 'missing', path, at };
      case 'error':
        return { kind: 'error', path, message: 'input/output error', at };
      case 'hung':
        return { kind: 'hung', path, since: at, at };
    }
  }

  #diskOf(path: string) {
    const { imagefs, containerfs, nodefs } = this.world.disks;
    if (path.startsWith(PATHS.containers)) return containerfs;
    // What lies above the images' directory is on the images' disk too, up to the runtime's root.
    return path.startsWith('/var/lib/runtime') ? imagefs : nodefs;
  }
}
