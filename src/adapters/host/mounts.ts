import type { Clock } from '../../ports/clock.js';
import type { MountsPort, PathLook } from '../../ports/mounts.js';
import { type Instant, type Milliseconds, milliseconds } from '../../units/units.js';
import { foreignLooks } from './foreign-looks.js';
import { Lanes } from './lanes.js';
import { locate, type Place } from './locate.js';
import type { MountTable } from './mount-table.js';
import { mountTableReader, REREAD_AFTER_MS, readOwnMountInfo } from './mount-table-reader.js';
import { failure, type RawLook, rawLook, readingOf } from './raw-look.js';

export interface HostMountsOptions {
  readonly clock: Clock;
  /** How long a look may take before it answers `hung`. */
  readonly deadline?: Milliseconds;
  /** The text of `/proc/self/mountinfo`. */
  readonly readMountInfo?: () => string;
  /** Looks from within this process at what is local. */
  readonly lookHere?: (path: string) => Promise<RawLook>;
}

/** The real `MountsPort`. */
export interface HostMounts extends MountsPort, Disposable {
  /**
   * Calls on local disks that do not come back and hold threads of this process. While there is one, `process.exit` waits
   * for it: the daemon must end by a signal to itself.
   */
  stuckHere(): number;
  /** Process id of the child that looks at foreign mounts; undefined while there is none. */
  helperPid(): number | undefined;
}

const DEADLINE = milliseconds(1_000);
/** Of the four threads of the pool, so many may be lost to dead local disks before all looks go to the child process. */
const MAX_STUCK_HERE = 2;
/** Paths whose place is remembered: a daemon watches half a dozen. */
const MAX_PLACES = 256;

interface KnownPlace extends Place {
  readonly table: MountTable;
  readonly at: Instant;
  /** `st_dev` of the first look; another one means that something else is mounted now. */
  device: bigint | null;
}

/**
 * Looks at filesystems by stat and statfs. Local filesystems are asked from the thread pool of this process (about 40 us of
 * CPU), whatever may depend on a server or daemon from a child process. One call at a time for each device; what overstays
 * the deadline is answered as `hung` until it comes back.
 */
export function hostMounts(options: HostMountsOptions): HostMounts {
  const { clock, deadline = DEADLINE, readMountInfo = readOwnMountInfo, lookHere = rawLook } = options;
  const lanes = new Lanes(clock, deadline);
  const tables = mountTableReader(readMountInfo);
  const foreign = foreignLooks();
  const places = new Map<string, KnownPlace>();

  const placeOf = async (path: string) => {
    const at = clock.now();
    const table = tables.current(at);
    const known = places.get(path);
    if (known !== undefined && known.table === table && at - known.at < REREAD_AFTER_MS) {
      return { kind: 'done', result: known } as const;
    }
    // Keyed by path: which device the walk will touch is not known before.
    const passage = await lanes.pass(`links of ${path}`, 'here', () => locate(table, path));
    if (passage.kind === 'stuck') return passage;
    const place: KnownPlace = { ...passage.result, table, at, device: null };
    if (places.size >= MAX_PLACES) places.clear();
    places.set(path, place);
    return { kind: 'done', result: place } as const;
  };

  const ask = (path: string, place: Place) => {
    const here = !place.foreign && lanes.stuck('here') < MAX_STUCK_HERE;
    return lanes.pass(place.mount?.device ?? path, here ? 'here' : 'child', () =>
      here ? lookHere(path) : foreign.ask(path),
    );
  };

  const lookAt = async (path: string): Promise<PathLook> => {
    const found = await placeOf(path);
    if (found.kind === 'stuck') return { kind: 'hung', path, since: found.since, at: clock.now() };
    const place = found.result;
    const passage = await ask(path, place);
    const at = clock.now();
    if (passage.kind === 'stuck') return { kind: 'hung', path, since: passage.since, at };
    const raw = passage.result;
    if (raw.kind === 'numbers') {
      if (place.device !== null && place.device !== raw.device) {
        // Something else is mounted there now. The numbers are right, but the mount they were filed under is not.
        tables.invalidate();
        places.delete(path);
        const renewed = await placeOf(path);
        return readingOf(raw, path, renewed.kind === 'done' ? renewed.result.mount : null, at);
      }
      place.device = raw.device;
    }
    return readingOf(raw, path, place.mount, at);
  };

  return {
    async look(path) {
      if (!path.startsWith('/') || /[\0\n]/.test(path)) {
        const message = `Cannot look at a path as it must be absolute and of one line: ${JSON.stringify(path)}`;
        return { kind: 'error', path, message, at: clock.now() };
      }
      try {
        return await lookAt(path);
      } catch (error) {
        // Only the mount table can throw (no /proc, no file descriptor left).
        return readingOf(failure(error), path, null, clock.now());
      }
    },
    stuckHere: () => lanes.stuck('here'),
    helperPid: () => foreign.pid,
    [Symbol.dispose]: () => foreign.close(),
  };
}
