import type { BallastPort } from '../../src/ports/ballast.js';
import { PortError } from '../../src/ports/port-error.js';
import { type Bytes, bytes } from '../../src/units/units.js';
import { type FakeWorld, PATHS } from './fake-world.js';

/** Ballast files on the world's disks. It keeps what it was asked. */
export class FakeBallast implements BallastPort {
  readonly calls: string[] = [];
  /** Methods that fail. */
  readonly broken = new Set<'held' | 'resize' | 'release'>();
  /** Heard before more is laid. */
  beforeResize: (() => void) | null = null;
  readonly #held = new Map<string, number>();

  constructor(readonly world: FakeWorld) {}

  /** Ballast that is there from before. */
  put(directory: string, size: number): void {
    this.#disk(directory).take({ bytes: size - (this.#held.get(directory) ?? 0), inodes: 0 });
    this.#held.set(directory, size);
  }

  async held(directory: string): Promise<Bytes> {
    this.#ask('held', directory);
    return bytes(this.#held.get(directory) ?? 0);
  }

  async resize(directory: string, size: Bytes): Promise<Bytes> {
    this.#ask('resize', directory);
    this.beforeResize?.();
    const more = size - (this.#held.get(directory) ?? 0);
    const free = this.#disk(directory).freeBytes;
    this.put(directory, size - Math.max(0, more - free));
    if (more > free) throw new PortError(`Cannot lay ballast as the disk is full: ${directory}`);
    return size;
  }

  async release(directory: string): Promise<Bytes> {
    this.#ask('release', directory);
    const held = bytes(this.#held.get(directory) ?? 0);
    this.put(directory, 0);
    return held;
  }

  #ask(call: 'held' | 'resize' | 'release', directory: string): void {
    this.calls.push(`${call} ${directory}`);
    if (this.broken.has(call)) throw new PortError(`Cannot ${call} ballast as it is broken: ${directory}`);
  }

  #disk(directory: string) {
    const { imagefs, nodefs } = this.world.disks;
    return directory.startsWith(PATHS.root) ? nodefs : imagefs;
  }
}
