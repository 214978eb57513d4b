import { findEndpoint, parseEndpoint } from '../adapters/cri/endpoint.js';
import { systemClock } from '../adapters/host/clock.js';
import { acquireInstanceLock } from '../adapters/host/instance-lock.js';
import { hostNodeStats } from '../adapters/host/node-stats.js';
import { createEventLog } from '../adapters/log/event-log.js';
import type { Logger } from '../adapters/log/logger.js';
import type { Settings } from '../config/settings.js';
import type { EvictionEvent } from '../eviction/event.js';
import { thresholdText } from '../eviction/explain.js';
import { PortError } from '../ports/port-error.js';
import { RuntimeError, type RuntimeErrorKind } from '../ports/runtime.js';
import { milliseconds } from '../units/units.js';
import { buildParts, type Parts, type Replacements } from './build.js';
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
}

/**
 * Finds the runtime's socket: as configured, else the first of the usual ones that exists. Throws a `PortError` that names
 * what was tried.
 */
export function endpointOf(settings: Settings, pathExists: (path: string) => boolean): string {
  const endpoint =
    settings.runtimeEndpoint === null ? findEndpoint(pathExists) : parseEndpoint(settings.runtimeEndpoint);
  return endpoint.url;
}

/** Runs the daemon until `abort`. Throws a `PortError` when another one works on the runtime, or there is none. */
export async function runDaemon(options: RunOptions): Promise<void> {
  const endpoint = endpointOf(options.settings, options.pathExists);
  await using _lock = await holdRuntime(endpoint);
  await runParts(options, endpoint);
  options.logger.info({ event: 'stopped' }, 'stopped');
}

/**
 * Sees to it that one daemon works on a runtime. Throws a `PortError` that names the one that does. Disposing lets the next
 * one in.
 */
export async function holdRuntime(endpoint: string): Promise<AsyncDisposable> {
  const lock = await acquireInstanceLock(parseEndpoint(endpoint).path, {
    pid: process.pid,
    startedAt: new Date(Date.now()).toISOString(),
    version: productVersion(),
  });
  if (lock.kind === 'held') {
    const by = lock.by === null ? 'another one' : `process ${lock.by.pid}, since ${lock.by.startedAt}`;
    throw new PortError(`Cannot run as one daemon works on a runtime at a time: ${endpoint} is held by ${by}`);
  }
  return { [Symbol.asyncDispose]: () => lock.release() };
}

async function runParts(options: RunOptions, endpoint: string): Promise<void> {
  const { settings, logger, abort } = options;
  const version = productVersion();
  const kubelet = await watchKubelet(abort);
  await using parts = buildParts(settings, { endpoint, kubeletRuns: () => kubelet.runs() }, options.replacements);
  logger.info(
    {
      event: 'started',
      version,
      endpoint,
      profile: settings.profile,
      rootDir: settings.rootDir,
      thresholds: settings.thresholds.map(thresholdText),
      pid: process.pid,
    },
    `reclaimd ${version} started: profile ${settings.profile}, runtime ${endpoint}`,
  );
  const log = createEventLog(logger);
  const hear = (event: EvictionEvent) => {
    log(event);
    options.onEvent?.(event);
  };
  kubelet.onChange(() => {
    if (!kubelet.runs()) return;
    hear({ kind: 'kubelet-beside', at: parts.clock.now(), evicts: settings.evictBesideKubelet });
  });
  await Promise.race([untilAborted(parts, hear, abort), refusal(parts, logger, abort)]);
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

/** A kubelet that starts later is noticed within this time. */
const LOOK_FOR_KUBELET_EVERY = milliseconds(60_000);

interface KubeletWatch {
  runs(): boolean;
  /** Calls back at once, and whenever the answer changes. */
  onChange(listener: () => void): void;
}

/** Who evicts must be known before the first pass, so the first look is waited for; later ones go on beside. */
async function watchKubelet(abort: AbortSignal): Promise<KubeletWatch> {
  const clock = systemClock();
  const stats = hostNodeStats({ clock });
  let runs = await stats.kubeletRuns();
  let listener = () => {};
  void (async () => {
    while (!abort.aborted) {
      await clock.sleep(LOOK_FOR_KUBELET_EVERY, abort);
      const before = runs;
      runs = await stats.kubeletRuns();
      if (runs !== before) listener();
    }
  })();
  return {
    runs: () => runs,
    onChange(call) {
      listener = call;
      call();
    },
  };
}

/** The one subscription of the program. A failure of the stream is a fault of ours and ends the daemon. */
function untilAborted(parts: Parts, hear: (event: EvictionEvent) => void, abort: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (abort.aborted) {
      resolve();
      return;
    }
    const subscription = parts.manager.events$.subscribe({ next: hear, error: reject, complete: resolve });
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
