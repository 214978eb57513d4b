import type { CollectorName, GcEvent } from '../gc/gc-event.js';
import type { ImageFsSpace } from '../gc/image-collection.js';
import { imageRunsAreOff, NOTHING_FAILED, reportRun } from '../gc/periodic-report.js';
import type { Clock } from '../ports/clock.js';
import { type ContainerCollectionDeps, collectContainers } from '../reclaim/container-collection.js';
import type { ImageCollector } from '../reclaim/image-collector.js';
import { messageOf } from '../reclaim/removal.js';
import { type WarningDeps, withGcWarnings } from '../reclaim/told-warnings.js';
import { elapsed, type Milliseconds, milliseconds } from '../units/units.js';

/** The pauses after a run, as the kubelet has them. */
export const CONTAINER_GC_PERIOD: Milliseconds = milliseconds(60_000);
export const IMAGE_GC_PERIOD: Milliseconds = milliseconds(5 * 60_000);

/** One run of a collector: its events, and then what failed it, or null. */
export type CollectorRun = (signal: AbortSignal) => AsyncGenerator<GcEvent, string | null>;

/**
 * Runs a collector at once, and again `period` after each run has ended: never two at once, at no fixed rate. Tells each run by
 * the kubelet's rule, with a node event where that asks for one. Ends when `signal` aborts.
 */
export async function* runPeriodically(
  collector: CollectorName,
  run: CollectorRun,
  period: Milliseconds,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<GcEvent, void> {
  let memory = NOTHING_FAILED;
  while (!signal.aborted) {
    const began = clock.now();
    const message = yield* guarded(run, signal);
    if (signal.aborted) return;
    const report = reportRun(memory, collector, message !== null);
    memory = report.memory;
    const at = clock.now();
    yield { kind: 'gc-run', at, collector, log: report.log, message, took: elapsed(began, at) };
    if (report.event !== null && message !== null) {
      yield { kind: 'node-event', at, reason: report.event, message };
    }
    await clock.sleep(period, signal);
  }
}

/** The loop of containers: dead ones beyond the limits, idle sandboxes, logs of gone pods. */
export function containerGcLoop(run: CollectorRun, clock: Clock, signal: AbortSignal): AsyncGenerator<GcEvent, void> {
  return runPeriodically('container', run, CONTAINER_GC_PERIOD, clock, signal);
}

/** One run of that loop. */
export function containerGcRun(deps: ContainerCollectionDeps): CollectorRun {
  return async function* containers(abort) {
    const events = collectContainers(deps, false, abort);
    const failed = yield* deps.warnings === undefined ? events : withGcWarnings(deps.warnings, events);
    return failed.length === 0 ? null : failed.map(({ step, message }) => `${step}: ${message}`).join('; ');
  };
}

/** What the loop of images needs. */
export interface ImageGcLoopDeps {
  readonly collector: ImageCollector;
  /** Absent = in the kubelet profile. */
  readonly warnings?: WarningDeps;
  readonly clock: Clock;
  readonly highPercent: number;
  readonly maxAge: Milliseconds | null;
  /** How full the image filesystem is. Rejects when it cannot be told. */
  imageFs(signal: AbortSignal): Promise<ImageFsSpace>;
}

/** The loop of images; null when the settings leave it nothing to do. */
export function imageGcLoop(deps: ImageGcLoopDeps, signal: AbortSignal): AsyncGenerator<GcEvent, void> | null {
  const run = imageGcRun(deps);
  return run === null ? null : runPeriodically('image', run, IMAGE_GC_PERIOD, deps.clock, signal);
}

/** One run of that loop; null as there. */
export function imageGcRun(deps: ImageGcLoopDeps): CollectorRun | null {
  if (imageRunsAreOff(deps.highPercent, deps.maxAge)) return null;
  const gcBegan = deps.clock.now();
  return async function* images(abort) {
    const events = deps.collector.collect(gcBegan, (each) => deps.imageFs(each), abort);
    const { error } = yield* deps.warnings === undefined ? events : withGcWarnings(deps.warnings, events);
    return error?.message ?? null;
  };
}

/** A fault of our own ends the run and not the loop. */
async function* guarded(run: CollectorRun, signal: AbortSignal): AsyncGenerator<GcEvent, string | null> {
  try {
    return yield* run(signal);
  } catch (error) {
    return messageOf(error);
  }
}
