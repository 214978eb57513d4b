import fc from 'fast-check';
import type { FsLayout } from '../../src/eviction/layout.js';
import type { ContainerState } from '../../src/ports/runtime.js';
import type { Call, Fault } from '../fakes/fake-runtime.js';

/** What kind of pod it is; only a plain one may be evicted. */
export type PodKind = 'plain' | 'critical' | 'static' | 'mirror' | 'protected-namespace';

/** A node to be built: plain numbers, so that a counterexample reads at a glance. Sizes are in MiB. */
export interface NodePlan {
  readonly layout: FsLayout;
  readonly short: 'bytes' | 'inodes';
  readonly images: readonly {
    readonly own: number;
    readonly shared: readonly number[];
    readonly guard: 'none' | 'pinned' | 'protected' | 'sandbox';
  }[];
  readonly pods: readonly { readonly kind: PodKind; readonly volume: number; readonly sandbox: 'ready' | 'notready' }[];
  readonly containers: readonly {
    readonly owner: number | 'gone' | 'nobody';
    readonly state: ContainerState;
    readonly image: number | null;
    readonly volumeImage: number | null;
    readonly size: number;
    readonly log: number;
    readonly told: 'usage' | 'no-numbers' | 'nothing';
  }[];
  readonly faults: readonly { readonly call: Call; readonly fault: Fault; readonly target: number }[];
  /** A container of an image is made just before the n-th call to the runtime. */
  readonly births: readonly { readonly call: number; readonly image: number }[];
  /** A container that was created and not started is started just before the n-th call to the runtime. */
  readonly starts: readonly { readonly call: number; readonly container: number }[];
  readonly lateBy: number;
  readonly removalTakes: number;
  /** How much is missing to the target, as a share of all that the node holds; above 1 no removal can suffice. */
  readonly missing: number;
  readonly hard: boolean;
  readonly minAge: number;
}

/** Sizes of the layers that images may share. */
export const SHARED_LAYERS = [3, 20, 60] as const;

const mib = fc.nat({ max: 100 });
const index = fc.nat({ max: 9 });

export const nodePlan: fc.Arbitrary<NodePlan> = fc.record({
  layout: fc.constantFrom('one-disk', 'image-disk', 'split-disks'),
  short: fc.constantFrom('bytes', 'bytes', 'bytes', 'inodes'),
  images: fc.array(
    fc.record({
      own: mib,
      shared: fc.subarray([0, 1, 2]),
      guard: fc.constantFrom('none', 'none', 'none', 'none', 'pinned', 'protected', 'sandbox'),
    }),
    { maxLength: 8 },
  ),
  pods: fc.array(
    fc.record({
      kind: fc.constantFrom('plain', 'plain', 'plain', 'critical', 'static', 'mirror', 'protected-namespace'),
      volume: mib,
      sandbox: fc.constantFrom('ready', 'ready', 'notready'),
    }),
    { maxLength: 4 },
  ),
  containers: fc.array(
    fc.record({
      owner: fc.oneof(index, index, index, fc.constantFrom('gone', 'nobody')),
      state: fc.constantFrom('running', 'exited', 'exited', 'exited', 'created', 'created', 'unknown'),
      image: fc.option(index),
      volumeImage: fc.option(index, { freq: 2 }),
      size: fc.oneof(mib, fc.nat({ max: 1 })),
      log: fc.nat({ max: 5 }),
      told: fc.constantFrom('usage', 'usage', 'usage', 'no-numbers', 'nothing'),
    }),
    { maxLength: 10 },
  ),
  faults: fc.array(
    fc.record({
      call: fc.constantFrom('removeContainer', 'removeImage', 'stopContainer', 'removeSandbox', 'containerStatus'),
      fault: fc.constantFrom('failed', 'no-space', 'still-running', 'busy', 'stuck'),
      target: index,
    }),
    { maxLength: 2 },
  ),
  births: fc.array(fc.record({ call: fc.nat({ max: 60 }), image: index }), { maxLength: 2 }),
  starts: fc.array(fc.record({ call: fc.nat({ max: 60 }), container: index }), { maxLength: 2 }),
  lateBy: fc.constantFrom(0, 50, 600, 1_500),
  removalTakes: fc.constantFrom(0, 0, 8),
  missing: fc.double({ min: 0.01, max: 1.3, noNaN: true }),
  hard: fc.constantFrom(true, true, false),
  minAge: fc.constantFrom(0, 120_000),
});
