import test from 'ava';
import type { FsLayout } from '../../src/eviction/layout.js';
import { POLICIES } from '../../src/eviction/policy.js';
import { ALL_SIGNALS, SIGNALS } from '../../src/eviction/signal.js';
import { type ReclaimStep, reclaimSteps } from '../../src/eviction/steps.js';

const BOTH = ['containers', 'images'] as const;
const KUBELET: Readonly<
  Record<FsLayout, Readonly<Record<'nodefs' | 'imagefs' | 'containerfs', readonly ReclaimStep[]>>>
> = {
  'one-disk': { nodefs: BOTH, imagefs: BOTH, containerfs: BOTH },
  'image-disk': { nodefs: [], imagefs: BOTH, containerfs: BOTH },
  'split-disks': { nodefs: ['containers'], imagefs: ['images'], containerfs: ['containers'] },
};

for (const layout of ['one-disk', 'image-disk', 'split-disks'] as const) {
  for (const signal of ALL_SIGNALS) {
    const { filesystem } = SIGNALS[signal];
    const kubelet = filesystem === null ? [] : KUBELET[layout][filesystem];
    test(`${layout}, ${signal}: the kubelet collects ${kubelet.join(', then ') || 'nothing'}`, (t) => {
      t.deepEqual(reclaimSteps(signal, layout, POLICIES.kubelet), kubelet);
    });
    const isDifferent = layout === 'image-disk' && filesystem === 'nodefs';
    test(`${layout}, ${signal}: reclaimd collects ${isDifferent ? 'containers, whose logs lie there' : 'the same'}`, (t) => {
      t.deepEqual(reclaimSteps(signal, layout, POLICIES.reclaimd), isDifferent ? ['containers'] : kubelet);
    });
  }
}
