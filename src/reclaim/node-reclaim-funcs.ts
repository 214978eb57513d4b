import type { FsLayout } from '../eviction/layout.js';
import type { Policy } from '../eviction/policy.js';
import { ALL_SIGNALS, type Signal } from '../eviction/signal.js';
import { reclaimSteps } from '../eviction/steps.js';
import type { ContainerGC } from './container-gc.js';
import type { ImageGC } from './image-gc.js';
import type { ReclaimRun, ReclaimStepRun } from './run.js';

/** One collector that may end a pressure. */
export type NodeReclaimFunc = (run: ReclaimRun) => ReclaimStepRun;

/**
 * Maps each signal to the collectors that help against it under a layout, in order. Mirrors
 * `buildSignalToNodeReclaimFuncs`.
 */
export function buildSignalToNodeReclaimFuncs(
  imageGC: Pick<ImageGC, 'deleteUnusedImages'>,
  containerGC: Pick<ContainerGC, 'deleteAllUnusedContainers'>,
  layout: FsLayout,
  policy: Policy,
): ReadonlyMap<Signal, readonly NodeReclaimFunc[]> {
  const functions: Record<'containers' | 'images', NodeReclaimFunc> = {
    containers: (run) => containerGC.deleteAllUnusedContainers(run),
    images: (run) => imageGC.deleteUnusedImages(run),
  };
  return new Map(
    ALL_SIGNALS.map((signal) => [signal, reclaimSteps(signal, layout, policy).map((step) => functions[step])]),
  );
}
