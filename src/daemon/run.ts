import { from, merge, type Observable, tap } from 'rxjs';
import { parseEndpoint } from '../adapters/cri/endpoint.js';
import { systemClock } from '../adapters/host/clock.js';
import { acquireInstanceLock } from '../adapters/host/instance-lock.js';
import { hostNodeStats } from '../adapters/host/node-stats.js';
import { createEventLog } from '../adapters/log/event-log.js';
import { createGcEventLog } from '../adapters/log/gc-event-log.js';
import type { Logger } from '../adapters/log/logger.js';
import type { Settings } from '../config/settings.js';
import type { EvictionEvent } from '../eviction/event.js';
import { thresholdText } from '../eviction/explain.js';
import type { GcEvent } from '../gc/gc-event.js';
import { watchOutOfDisk } from '../manager/out-of-disk.js';
import { PortError } from '../ports/port-error.js';
import { RuntimeError, type RuntimeErrorKind } from '../ports/runtime.js';
import { buildParts, type Parts, type Replacements } from './build.js';
import { awaitEndpoint } from './endpoint.js';
import { thisInstance } from './instance.js';
import { watchKubelet } from './kubelet-watch.js';
import { checkAtStart } from './self-check.js';
import { productVersion } from './version.js';

/** What a daemon run needs beside its settings. */
export interface RunOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  /** Ends the run. */
  readonly abort: AbortSignal;
  readonly pathExists: (path: string) => boolean;
  readonly replacements?: Replacements;
  /** Hears every event, for a demonstration that tells the story in its own words. */
  readonly onEvent?: (event: EvictionEvent) => void;
  /** The same for what goes on without pressure. */
  readonly onGcEvent?: (event: GcEvent) => void;
}

/** Runs the daemon until `abort`. Throws a `PortError` when another one works on the runtime, or who answers is none. */
export async function runDaemon(options: RunOptions): Promise<void> {
  const { logger } = options;
  const endpoint = await awaitEndpoint(
    {
      ...options,
      clock: options.replacements?.clock ?? systemClock(),
      tell: (sockets) => {
        logger.warn(
          { event: 'runtime-awaited', sockets },
          `waiting for a container runtime at ${sockets.join(' or ')}`,
        );
      },
    },
    options.abort,
  );
  if (endpoint !== null) {
    await using _lock = await holdRuntime(endpoint);
    await runParts(options, endpoint);
  }
  logger.info({ event: 'stopped' }, 'stopped');
}

/**
 * Sees to it that one daemon works on a runtime. Throws a `PortError` that names the one that does. Disposing lets the next
 * one in.
 */
export async function holdRuntime(endpoint: string): Promise<AsyncDisposable> {
  const lock = await acquireInstanceLock(parseEndpoint(endpoint).path, thisInstance());
  if (lock.kind === 'held') {
    const by = lock.by === null ? 'another one' : `process ${lock.by.pid}, since ${lock.by.startedAt}`;
    throw new PortError(`Cannot run as one daemon works on a runtime at a time: ${endpoint} is held by ${by}`);
  }
  return { [Symbol.asyncDispose]: () => lock.release() };
}

async function runParts(options: RunOptions, endpoint: string): Promise<void> {
  const { settings, logger, abort } = options;
  const version = productVersion();
  const { replacements = {} } = options;
  const clock = replacements.clock ?? systemClock();
  const stats = hostNodeStats({ clock });
  const askForKubelet = () => replacements.kubeletRuns?.() ?? stats.kubeletRuns();
  const kubelet = await watchKubelet(askForKubelet, clock, abort);
  await using parts = buildParts(settings, { endpoint, kubeletRuns: () => kubelet.runs() }, replacements);
  const collecting = parts.collecting(kubelet, abort);
  logger.info(
    {
      event: 'started',
      version,
      endpoint,
      profile: settings.profile,
      rootDir: settings.rootDir,
      thresholds: settings.thresholds.map(thresholdText),
      collecting: Object.entries(collecting).flatMap(([what, loops]) => (loops.length > 0 ? [what] : [])),
      pid: process.pid,
    },
    `reclaimd ${version} started: profile ${settings.profile}, runtime ${endpoint}`,
  );
  if (parts.notifiers.length > 0) {
    logger.info(
      { event: 'memory-notification', watches: parts.notifiers, everyMs: settings.sampling.fastest },
      `watching memory between passes for the ${parts.notifiers.join(', the ')}`,
    );
  }
  const log = createEventLog(logger);
  const selfCheck = await checkAtStart(settings, logger, () => parts.manager.state);
  const hear = (event: EvictionEvent) => {
    log(event);
    selfCheck(event);
    options.onEvent?.(event);
  };
  kubelet.onChange(() => {
    if (!kubelet.runs()) return;
    hear({ kind: 'kubelet-beside', at: parts.clock.now(), evicts: settings.evictBesideKubelet });
  });
  const gcLog = createGcEventLog(logger);
  const hearGc = (event: GcEvent) => {
    gcLog(event);
    options.onGcEvent?.(event);
  };
  const { guard, afterCollection } = parts;
  const guarding = guard === null ? [] : [watchOutOfDisk({ guard, clock }, abort)];
  const telling = afterCollection === null ? [] : [afterCollection.run(abort)];
  const events$ = merge(
    parts.manager.events$.pipe(tap(hear)),
    ...[...Object.values(collecting).flat(), ...guarding, ...telling].map((loop) => from(loop).pipe(tap(hearGc))),
  );
  await Promise.race([untilAborted(events$, parts, abort), refusal(parts, logger, abort)]);
}

/** What no waiting mends: the socket belongs to something else, or is not ours to use. A runtime that is down may come up. */
const BEYOND_WAITING: ReadonlySet<RuntimeErrorKind> = new Set(['unimplemented', 'permission-denied']);

/** Says who answers at the socket; rejects when that can never be a runtime for us, and never resolves. */
async function refusal(parts: Parts, logger: Logger, abort: AbortSignal): Promise<never> {
  try {
    const { name, version, apiVersion } = await parts.runtime.identify(abort);
    logger.info({ event: 'runtime', name, version, apiVersion }, `the container runtime is ${name} ${version}`);
  } catch (error) {
    if (error instanceof RuntimeError && BEYOND_WAITING.has(error.kind)) throw error;
  }
  return new Promise<never>(() => {});
}

/** The one subscription of the program. A failure of a stream is a fault of ours and ends the daemon. */
function untilAborted(events$: Observable<unknown>, parts: Parts, abort: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (abort.aborted) {
      resolve();
      return;
    }
    const subscription = events$.subscribe({ error: reject, complete: resolve });
    abort.addEventListener(
      'abort',
      () => {
        parts.manager.stop();
        subscription.unsubscribe();
        resolve();
      },
      { once: true },
    );
  });
}
