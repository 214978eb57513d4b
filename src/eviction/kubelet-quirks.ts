import { type Milliseconds, milliseconds } from '../units/units.js';
import type { FsLayout } from './layout.js';
import type { Threshold } from './threshold.js';

/** What only the kubelet does. Nothing of this holds in the reclaimd profile, which tells the layout from devices. */

/**
 * What else the kubelet makes of a layout:
 * - `underived`: containerfs is split off though images have no disk of their own. Treated like one disk, but no thresholds are
 *   made for containerfs;
 * - `refused`: containerfs is split off and the feature for it is off. The pass that finds it ends in an error. Later ones find
 *   no collectors and no ranking, so that nothing is collected and nobody evicted, for memory and processes too.
 */
export type LayoutQuirk = 'underived' | 'refused';

/** The answers to the kubelet's two questions. That of the second may fail, which is logged and read as no. */
export interface LayoutProbe {
  readonly dedicatedImageFs: boolean;
  readonly splitContainerFs: boolean | 'failed';
}

/** A layout as the kubelet takes it, for the life of its process. */
export interface KubeletLayout {
  readonly layout: FsLayout;
  readonly quirk: LayoutQuirk | null;
}

/** What the kubelet makes of its two questions. `separateDiskGc` is its feature gate KubeletSeparateDiskGC. */
export function layoutOfProbe(
  { dedicatedImageFs, splitContainerFs }: LayoutProbe,
  separateDiskGc: boolean,
): KubeletLayout {
  const isSplit = splitContainerFs === true;
  const quirk = isSplit && !separateDiskGc ? 'refused' : isSplit && !dedicatedImageFs ? 'underived' : null;
  return { layout: dedicatedImageFs ? (isSplit ? 'split-disks' : 'image-disk') : 'one-disk', quirk };
}

/** What the manager gives for a hard threshold and for a limit of the pod's own, in seconds. */
export const HARD_GRACE_SECONDS = 1;

/**
 * The grace that the kubelet's manager hands on, in whole seconds: the cap, or the pod's own where that is less. It may be zero
 * or negative, as configured. Mirrors step 19 of `synchronize`.
 */
export function graceOverrideSeconds(threshold: Threshold, own: Milliseconds | null, capSeconds: number): number {
  if (threshold.urgency.kind === 'hard') return HARD_GRACE_SECONDS;
  return own !== null && own / 1_000 < capSeconds ? own / 1_000 : capSeconds;
}

/** What the pod worker makes of it: never less than a second. */
export function workerGrace(overrideSeconds: number): Milliseconds {
  return milliseconds(Math.max(1, overrideSeconds) * 1_000);
}
