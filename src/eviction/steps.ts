import type { FsLayout } from './layout.js';
import type { Policy } from './policy.js';
import { type FilesystemName, SIGNALS, type Signal } from './signal.js';

/** A collector that gives space back without touching a pod. */
export type ReclaimStep = 'containers' | 'images';

const KUBELET_STEPS = {
  'one-disk': {
    nodefs: ['containers', 'images'],
    imagefs: ['containers', 'images'],
    containerfs: ['containers', 'images'],
  },
  'image-disk': { nodefs: [], imagefs: ['containers', 'images'], containerfs: ['containers', 'images'] },
  'split-disks': { nodefs: ['containers'], imagefs: ['images'], containerfs: ['containers'] },
} as const satisfies Record<FsLayout, Record<FilesystemName, readonly ReclaimStep[]>>;

/**
 * Which collectors help against a signal, in order. Memory and processes have none. The table is the kubelet's
 * (`buildSignalToNodeReclaimFuncs`); where it collects nothing for nodefs on a node with an image disk, the reclaimd profile
 * removes dead containers, whose logs lie there.
 */
export function reclaimSteps(signal: Signal, layout: FsLayout, policy: Policy): readonly ReclaimStep[] {
  const { filesystem } = SIGNALS[signal];
  if (filesystem === null) return [];
  if (layout === 'image-disk' && filesystem === 'nodefs' && policy.gc.nodefsOnImageDisk === 'containers') {
    return ['containers'];
  }
  return KUBELET_STEPS[layout][filesystem];
}
