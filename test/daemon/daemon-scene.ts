import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { type CriRuntime, connectRuntime } from '../../src/adapters/cri/client.js';
import { createLogger } from '../../src/adapters/log/logger.js';
import { splitFlags } from '../../src/config/flags.js';
import { loadSettings } from '../../src/config/load.js';
import type { Settings } from '../../src/config/settings.js';
import type { Replacements } from '../../src/daemon/build.js';
import { runDaemon } from '../../src/daemon/run.js';
import { type EmbeddedRuntime, startEmbeddedRuntime } from '../../src/embedded/embedded-runtime.js';
import type { EvictionEvent } from '../../src/eviction/event.js';
import type { GcEvent } from '../../src/gc/gc-event.js';
import type { MountsPort } from '../../src/ports/mounts.js';
import { instant } from '../../src/units/units.js';
import { wallClock } from '../adapters/cri/wall-clock.js';
import { fastClock } from '../fakes/fast-clock.js';

export const MIB = 1 << 20;
export const APP = 'embedded.test/app:1';
/** A minute of the daemon is a second of the test. */
const TIMES = 60;

/** An embedded runtime and somebody who looks at it beside the daemon. */
export interface Node {
  readonly embedded: EmbeddedRuntime;
  readonly runtime: CriRuntime;
}

/** Opens a runtime of its own for a test, with the image that its pods run. */
export async function openNode(t: ExecutionContext): Promise<Node> {
  const embedded = await startEmbeddedRuntime({ disk: { sizeBytes: 64 * MIB, layout: 'shared' }, removalDelayMs: 0 });
  t.teardown(() => embedded.close());
  await embedded.importImage({ name: APP, layers: [{ seed: 'app', bytes: MIB }] });
  const runtime = connectRuntime({ endpoint: embedded.endpoint, now: wallClock });
  t.teardown(() => runtime.close());
  return { embedded, runtime };
}

/** The daemon in this process. */
export interface RunningDaemon {
  readonly gc: readonly GcEvent[];
  readonly events: readonly EvictionEvent[];
  /** Log lines, parsed. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  /** The first event, past or to come, that satisfies the question. */
  gcEvent(isIt: (event: GcEvent) => boolean): Promise<GcEvent>;
  event(isIt: (event: EvictionEvent) => boolean): Promise<EvictionEvent>;
  /** Ends it; answers with the milliseconds that took. */
  end(): Promise<number>;
}

/** Starts the daemon on a node that is under no pressure. */
export function startDaemon(
  t: ExecutionContext,
  { embedded }: Node,
  flags: readonly string[],
  replacements: Replacements = {},
): RunningDaemon {
  const abort = new AbortController();
  const heard = new Heard<EvictionEvent>();
  const heardGc = new Heard<GcEvent>();
  const lines: Record<string, unknown>[] = [];
  const running = (async () => {
    const logger = await createLogger({
      level: 'debug',
      format: 'json',
      destination: {
        write: (line) => {
          lines.push(JSON.parse(line) as Record<string, unknown>); // What pino writes is an object.
        },
        reopen: () => null,
        state: () => ({ lost: 0, waiting: 0 }),
        isTTY: false,
        [Symbol.dispose]: () => undefined,
      },
    });
    await runDaemon({
      settings: settingsFor(embedded, flags),
      logger,
      abort: abort.signal,
      pathExists: () => true,
      replacements: {
        mounts: mountsOf(embedded),
        clock: fastClock(TIMES),
        kubeletRuns: () => Promise.resolve(false),
        ...replacements,
      },
      onEvent: (event) => {
        heard.tell(event);
      },
      onGcEvent: (event) => {
        heardGc.tell(event);
      },
    });
  })();
  const end = async () => {
    const began = performance.now();
    abort.abort();
    await running;
    return performance.now() - began;
  };
  t.teardown(end);
  return {
    gc: heardGc.all,
    events: heard.all,
    lines,
    gcEvent: (isIt) => Promise.race([heardGc.first(isIt), running.then(ended)]),
    event: (isIt) => Promise.race([heard.first(isIt), running.then(ended)]),
    end,
  };
}

/** The log directory of a pod, with a file in it. */
export function logPath({ embedded }: Node, directory: string): string {
  return join(embedded.logsPath, directory);
}

function ended(): never {
  throw new Error('Cannot hear more of the daemon as it must run: it has ended');
}

export function settingsFor(embedded: EmbeddedRuntime, flags: readonly string[]): Settings {
  const loaded = loadSettings({
    flags: splitFlags([
      `--runtime-endpoint=${embedded.endpoint}`,
      `--root-dir=${embedded.disks.node.path}`,
      `--pod-logs-dir=${embedded.logsPath}`,
      `--sandbox-image=${embedded.sandboxImage}`,
      '--eviction-hard=nodefs.available<1Mi',
      // Zero as a flag is zero.
      '--minimum-image-ttl-duration=0s',
      // What a daemon of this machine remembers is not the test's.
      '--state-file=none',
      ...flags,
    ]),
  });
  if (loaded.kind === 'loaded') return loaded.settings;
  throw new Error(loaded.problems.map((each) => each.message).join('; '));
}

/** The runtime's own account, which holds whether its disks are mounted or only accounted for. */
export function mountsOf(embedded: EmbeddedRuntime): MountsPort {
  return {
    async look(path) {
      const disk = embedded.disks.all.find((each) => path === each.path || path.startsWith(`${each.path}/`));
      const at = instant(Date.now());
      if (disk === undefined) return { kind: 'missing', path, at };
      return { kind: 'reading', device: disk.path, readOnly: false, at, ...(await disk.read()) };
    },
  };
}

/** What was heard so far, and who waits for something. */
class Heard<Event> {
  readonly all: Event[] = [];
  readonly #waiting = new Set<(event: Event) => void>();

  tell(event: Event): void {
    this.all.push(event);
    for (const each of this.#waiting) each(event);
  }

  first(isIt: (event: Event) => boolean): Promise<Event> {
    const past = this.all.find(isIt);
    if (past !== undefined) return Promise.resolve(past);
    return new Promise((resolve) => {
      const hear = (event: Event) => {
        if (!isIt(event)) return;
        this.#waiting.delete(hear);
        resolve(event);
      };
      this.#waiting.add(hear);
    });
  }
}
