import test from 'ava';
import type { EvictionEvent } from '../../src/eviction/event.js';
import {
  explain,
  lineText,
  secondsText,
  standingText,
  subjectText,
  thresholdText,
} from '../../src/eviction/explain.js';
import { limitText } from '../../src/eviction/limit-text.js';
import { POLICIES } from '../../src/eviction/policy.js';
import { rankPods } from '../../src/eviction/rank.js';
import { NOTHING_REMEMBERED } from '../../src/eviction/remembered.js';
import { milliseconds } from '../../src/units/units.js';
import { at, candidate, limit, threshold } from '../fakes/builders.js';
import { eventOf, eventOfEveryKind, subject } from '../fakes/events.js';

const GI = 2 ** 30;
const NOTHING = { availableBefore: {}, availableAfter: {} } as const;
const POD = { uid: 'uid-a', label: 'default/web' };

function rankedAlone(changes: Parameters<typeof candidate>[1]) {
  const [standing] = rankPods([candidate('web', { usage: 3 * GI, ...changes })], 'nodefs.available', POLICIES.reclaimd);
  if (standing === undefined) throw new Error('Cannot rank one pod as one must come out: none');
  return standing;
}

const says = test.macro((t, event: EvictionEvent, expected: string) => {
  t.is(explain(event), expected);
});

for (const event of eventOfEveryKind()) {
  test(`${event.kind}: one line, with every value filled in`, (t) => {
    const text = explain(event);
    t.notRegex(text, /undefined|NaN|Infinity|null|\[object|\n|\s\s|\s[.,;:]/);
    t.regex(text, /^\S.*\S$/);
  });
}

test('a look', says, eventOf('observed'), 'looked at the node');
test(
  'the first layout',
  says,
  eventOf('layout-changed', { from: null, to: 'one-disk' }),
  'filesystem layout: one-disk',
);
test('another layout', says, eventOf('layout-changed'), 'the filesystem layout changed from one-disk to image-disk');
test(
  'a layout that cannot be told, with one to go on with',
  says,
  eventOf('layout-unknown'),
  'the filesystem layout cannot be told (imagefs: EIO); going on with one-disk',
);
test(
  'a layout that cannot be told at first',
  says,
  eventOf('layout-unknown', { kept: null }),
  'the filesystem layout cannot be told (imagefs: EIO); none was known before',
);
test(
  'a path that does not exist',
  says,
  eventOf('image-path-fallback'),
  '/var/lib/images/new, where the runtime keeps images, does not exist; watching /var/lib instead',
);
test(
  'a layout that the kubelet refuses',
  says,
  eventOf('layout-refused'),
  'the filesystem layout split-disks is not supported while KubeletSeparateDiskGC is off',
);
test('a look that is none', says, eventOf('look-failed'), 'cannot look at the node: /var/lib: EIO');
test('limits of pods', says, eventOf('storage-limits-checked'), 'held 3 pods against storage limits of their own');
test(
  'limits that could not be looked at',
  says,
  eventOf('storage-limits-checked', { pods: null }),
  'could not hold pods against storage limits of their own',
);
test('watches of the kernel', says, eventOf('notifiers-updated'), 'told the kernel at which use of memory to wake us');
test(
  'a watch that the kernel refuses',
  says,
  eventOf('notifier-failed'),
  'cannot have the kernel watch memory for the hard memory threshold: EIO',
);
test(
  'a threshold that is served',
  says,
  eventOf('threshold-served'),
  'serving nodefs.available < 10%: the node is low on ephemeral-storage',
);
test(
  'a volume over its size',
  says,
  eventOf('storage-limit-exceeded'),
  'pod default/web is over a limit of its own: volume cache: 3221225472 B (3.0 GiB) used, more than its limit of 2Gi',
);
test(
  'the end of a pod that was over its limit',
  says,
  eventOf('storage-limit-served', {
    violation: { kind: 'podLimit', subject: null, used: 3 * GI, limit: 2 * GI },
  }),
  'pod default/web, which was over a limit of its own, is gone: ephemeral storage of all containers: 3221225472 B (3.0 GiB) used, more than its limit of 2Gi',
);
test(
  'the end of a pod whose container was over its limit, and that cannot be ended',
  says,
  eventOf('storage-limit-served', {
    violation: { kind: 'containerLimit', subject: 'app', used: 3 * GI, limit: 2 * GI },
    outcome: { kind: 'failed', message: 'EIO' },
  }),
  'pod default/web, which was over a limit of its own, could not be ended: ephemeral storage of container app: 3221225472 B (3.0 GiB) used, more than its limit of 2Gi',
);
test(
  'a signal that cannot be seen',
  says,
  eventOf('signal-unknown'),
  'imagefs.available is unknown: /var/lib does not answer',
);
test(
  'a signal that cannot be measured',
  says,
  eventOf('signal-unknown', { reason: 'not-measurable', detail: 'the filesystem counts no inodes' }),
  'imagefs.available cannot be measured here: the filesystem counts no inodes',
);
test(
  'a signal unknown for long',
  says,
  eventOf('signal-unknown-for-long'),
  'imagefs.available has been unknown for 60 s: /var/lib does not answer',
);
test('a signal that is back', says, eventOf('signal-known'), 'imagefs.available can be seen again after 61.5 s');
test(
  'a number that cannot be true',
  says,
  eventOf('available-above-capacity'),
  'nodefs.available reports 2147483648 available, more than its capacity of 1073741824; taken as that',
);
test(
  'a line above the capacity',
  says,
  eventOf('line-above-capacity'),
  'the threshold nodefs.available < 20Gi, a line at 21474836480, lies above the capacity of 10737418240 and could never clear; it is set aside',
);
test(
  'pressure',
  says,
  eventOf('threshold-met'),
  'pressure: nodefs.available 8.0 GiB of 100.0 GiB is below 10.0 GiB (nodefs.available < 10%)',
);
test(
  'relief',
  says,
  eventOf('threshold-cleared'),
  'relieved: nodefs.available 8.0 GiB of 100.0 GiB has reached 15.0 GiB',
);
test('a condition on', says, eventOf('condition-on'), 'DiskPressure is on');
test('a condition off', says, eventOf('condition-off'), 'DiskPressure is off');
test(
  'a collection begins',
  says,
  eventOf('reclaim-started'),
  'reclaiming containers, then images: nodefs.available is 8.0 GiB and must reach 15.0 GiB',
);
test(
  'a collection that nothing can serve, of what cannot be seen',
  says,
  eventOf('reclaim-started', { steps: [], available: {} }),
  'reclaiming nothing, as no collector helps: nodefs.available is unknown and must reach 15.0 GiB',
);
test(
  'a removal',
  says,
  eventOf('removed'),
  'removed image docker.io/library/nginx:1.27 (last used 90 s ago, 512.0 MiB claimed): 8.0 GiB available before, 16.0 GiB after',
);
test(
  'a removal that could not be measured',
  says,
  eventOf('removed', NOTHING),
  'removed image docker.io/library/nginx:1.27 (last used 90 s ago, 512.0 MiB claimed)',
);
test(
  'a removal seen only before',
  says,
  eventOf('removed', { availableBefore: {} }),
  'removed image docker.io/library/nginx:1.27 (last used 90 s ago, 512.0 MiB claimed)',
);
test(
  'a removal that failed',
  says,
  eventOf('removal-failed'),
  'could not remove image docker.io/library/nginx:1.27 (last used 90 s ago, 512.0 MiB claimed): it is in use',
);
test(
  'a removal that was left out',
  says,
  eventOf('removal-skipped'),
  'left image docker.io/library/nginx:1.27 (last used 90 s ago, 512.0 MiB claimed) alone: used by container c',
);
test('a batch', says, eventOf('batch-measured'), 'measured after 4 removals: +8.0 GiB, waited 13 ms');
test(
  'a batch of one that could not be measured',
  says,
  eventOf('batch-measured', { removals: 1, ...NOTHING }),
  'measured after 1 removal, waited 13 ms',
);
test(
  'a batch after which less was free',
  says,
  eventOf('batch-measured', { availableAfter: { 'nodefs.available': 7 * GI } }),
  'measured after 4 removals: -1.0 GiB, waited 13 ms',
);
test(
  'an image that is not listed',
  says,
  eventOf('image-reference-unresolved'),
  'container 0123456789abc names an image that is not listed: gone:1',
);
test(
  'a rule that keeps nothing',
  says,
  eventOf('protect-pattern-unused'),
  'a rule that protects images fits none: keep/*',
);
test(
  'images that are kept while space is short',
  says,
  eventOf('protected-images-hold-space'),
  'not enough could be freed, and 2 unused images are kept by rules that protect images (3.0 GiB claimed)',
);
test('a list that failed', says, eventOf('list-failed'), 'cannot list images and their users: deadline');
test(
  'a collection that was enough',
  says,
  eventOf('reclaim-finished'),
  'reclaimed 2 containers, 1 image: +8.0 GiB measured, 9.0 GiB claimed, in 2.5 s; that was enough',
);
test(
  'a collection that could not be measured',
  says,
  eventOf('reclaim-finished', { outcome: 'exhausted', removed: {}, ...NOTHING }),
  'reclaimed nothing: 9.0 GiB claimed, in 2.5 s; that was all there is',
);
test(
  'a collection of everything, each in its own plural',
  says,
  eventOf('reclaim-finished', {
    removed: { container: 1, sandbox: 2, image: 2, 'pod-logs': 2, 'pod-volumes': 1 },
    outcome: 'no-effect',
  }),
  'reclaimed 1 container, 2 sandboxes, 2 images, logs of 2 pods, volumes of 1 pod: +8.0 GiB measured, ' +
    '9.0 GiB claimed, in 2.5 s; the last removals changed nothing, so the others were left alone',
);
test(
  'a collection of everything, each in the other number',
  says,
  eventOf('reclaim-finished', {
    removed: { container: 2, sandbox: 1, image: 1, 'pod-logs': 1, 'pod-volumes': 2 },
    outcome: 'aborted',
    ...NOTHING,
  }),
  'reclaimed 2 containers, 1 sandbox, 1 image, logs of 1 pod, volumes of 2 pods: ' +
    '9.0 GiB claimed, in 2.5 s; the daemon ends',
);
test('something that would go', says, eventOf('would-remove'), `would remove ${subjectText(subject())}`);
test(
  'something that would go if needed',
  says,
  eventOf('would-remove', { onlyIfNeeded: true }),
  `if that is not enough, would remove ${subjectText(subject())}`,
);
test(
  'a pod that would go if needed',
  says,
  eventOf('would-evict'),
  'if all that is not enough, would evict pod default/web (uses 3.0 GiB)',
);
test(
  'a pod that would go',
  says,
  eventOf('would-evict', { onlyIfNeeded: false }),
  'would evict pod default/web (uses 3.0 GiB)',
);
test(
  'a pod that would go with its sources',
  says,
  eventOf('would-evict', {
    standing: rankedAlone({
      parts: [{ source: 'emptyDirs', amount: 3 * GI, by: 'walk', age: milliseconds(0), isComplete: true }],
      isFilling: true,
    }),
  }),
  'if all that is not enough, would evict pod default/web (uses 3.0 GiB: emptyDirs 3.0 GiB; fills the disk now)',
);
test(
  'a use that cannot be true',
  says,
  eventOf('usage-impossible'),
  'pod default/web is said to use 9.0 GiB of nodefs.available, of which all together use 2.0 GiB: its use counts as unknown',
);
test(
  'an eviction',
  says,
  eventOf('eviction-decided'),
  'evicting pod default/web: The node is low on ephemeral-storage',
);
test('a pod that is gone', says, eventOf('pod-killed'), 'pod default/web is gone: +3.0 GiB in 1.2 s');
test(
  'a pod of which something remains',
  says,
  eventOf('pod-killed', { outcome: { kind: 'remains', message: 'EBUSY' } }),
  'pod default/web has ended, but not all of it could be removed: EBUSY',
);
test(
  'a pod that still runs',
  says,
  eventOf('pod-killed', { outcome: { kind: 'still-running', message: 'deadline' } }),
  'pod default/web was told to end and still counts as running; it may be dead and its end not recorded: deadline',
);
test(
  'a pod that could not be ended',
  says,
  eventOf('pod-killed', { outcome: { kind: 'failed', message: 'refused' } }),
  'pod default/web could not be ended: refused',
);
test(
  'a pod of which nobody knows whether it has ended',
  says,
  eventOf('pod-killed', { outcome: { kind: 'unverified', message: 'no runtime' } }),
  'whether pod default/web has ended cannot be told: no runtime',
);
test('what an eviction brought', says, eventOf('eviction-measured'), 'the end of pod default/web brought +3.0 GiB');
test(
  'an eviction that brought next to nothing',
  says,
  eventOf('eviction-measured', { availableAfter: 8 * GI, endsSeries: true }),
  'the end of pod default/web brought +0 B; that is next to nothing, so no other pod goes for now',
);
test(
  'an eviction for inodes',
  says,
  eventOf('eviction-measured', { pod: POD, signal: 'nodefs.inodesFree', availableBefore: 50, availableAfter: 20 }),
  'the end of pod default/web brought -30',
);
test(
  'nothing helps',
  says,
  eventOf('helpless'),
  'nothing here can relieve nodefs.available (8.0 GiB available): all 2 pods are protected (static pod)',
);
test(
  'a kubelet that evicts itself',
  says,
  eventOf('kubelet-beside'),
  'a kubelet runs on this node and evicts pods itself: containers and images are reclaimed, pods are not evicted',
);
test(
  'evicting beside a kubelet',
  says,
  eventOf('kubelet-beside', { evicts: true }),
  'a kubelet runs on this node; evicting beside it, as asked for',
);
test('a runtime lost', says, eventOf('runtime-lost'), 'the container runtime is lost: connection refused');
test(
  'what was remembered',
  says,
  eventOf('restored', {
    images: 1,
    remembered: {
      ...NOTHING_REMEMBERED,
      conditions: ['DiskPressure'],
      firstMet: new Map([['nodefs.available/soft/0', at(1)]]),
      toldToEnd: ['uid-a', 'uid-b'],
    },
  }),
  'going on from the saved state: DiskPressure is on; thresholds met: nodefs.available/soft/0; ' +
    '2 pods were told to end and are not chosen again; 1 image known',
);
test(
  'a full store',
  says,
  eventOf('store-trouble'),
  'the state cannot be saved for want of space; the newest is kept in memory and saved when there is room: database or disk is full',
);
test(
  'a store that is back',
  says,
  eventOf('store-mended'),
  'the state file is written again, and what had waited has been saved',
);
test('a runtime back', says, eventOf('runtime-back'), 'the container runtime is back (containerd 2.1.0) after 3 s');
test('a pass that failed', says, eventOf('pass-failed'), 'a pass failed: a bug');

for (const outcome of ['reached', 'exhausted', 'no-effect', 'runtime-failed', 'runtime-lost', 'aborted'] as const) {
  test(`the outcome ${outcome} is said in words`, (t) => {
    t.notRegex(explain(eventOf('reclaim-finished', { outcome })), /undefined|; $/);
  });
}

test('thresholds are written as configured', (t) => {
  t.is(thresholdText(threshold('nodefs.available', '10%')), 'nodefs.available < 10%');
  t.is(thresholdText(threshold('memory.available', '100Mi')), 'memory.available < 100Mi');
  t.is(
    thresholdText(threshold('nodefs.available', '12.5%', { graceSeconds: 90 })),
    'nodefs.available < 12.5%, soft, grace 90 s',
  );
  t.is(limitText(limit('15%')), '15%');
});

for (const [milliseconds, expected] of [
  [0, '0 s'],
  [40, '0 s'],
  [1_250, '1.3 s'],
  [99_949, '99.9 s'],
  [100_000, '100 s'],
  [123_456, '123 s'],
] as const) {
  test(`${milliseconds} ms are written ${expected}`, (t) => {
    t.is(secondsText(milliseconds), expected);
  });
}

test('a pod’s place says what it uses and why it stays', (t) => {
  const of = (changes: Parameters<typeof candidate>[1]) => {
    const [standing] = rankPods([candidate('web', changes)], 'nodefs.available', POLICIES.reclaimd);
    return standing === undefined ? '' : standingText(standing, 'nodefs.available');
  };
  t.is(of({ usage: null }), 'default/web (usage unknown)');
  t.is(
    of({ usage: 2_048, protectedBy: 'static pod (from file)' }),
    'default/web (uses 2.0 KiB; stays: static pod (from file))',
  );
});

test('a subject says what it is and why it goes', (t) => {
  t.is(
    subjectText(subject({ what: 'container', label: 'default/web/main', reason: 'its pod is gone', claimed: null })),
    'container default/web/main (its pod is gone)',
  );
});

test('a line says its target where that is another', (t) => {
  t.is(lineText(threshold('nodefs.available', '10%', { minReclaim: '5%' }), 1_000), '100 B, cleared at 150 B');
  t.is(lineText(threshold('nodefs.available', '10%'), 1_000), '100 B');
  t.is(lineText(threshold('nodefs.inodesFree', '5%'), 1_000), '50');
});

test('amounts that were seen before and not after are left out', (t) => {
  const event = eventOf('batch-measured', {
    availableBefore: { 'imagefs.available': 5 },
    availableAfter: { 'nodefs.available': 5, 'imagefs.available': 9 },
  });
  t.is(explain(event), 'measured after 4 removals: +4 B, waited 13 ms');
});
