import type { EvictionEvent, RemovalSubject } from '../../src/eviction/event.js';
import { statusForOwnLimit } from '../../src/eviction/pod-status.js';
import { POLICIES } from '../../src/eviction/policy.js';
import { rankPods } from '../../src/eviction/rank.js';
import { NOTHING_REMEMBERED } from '../../src/eviction/remembered.js';
import { bytes, milliseconds } from '../../src/units/units.js';
import { at, candidate, observation, sightOf, threshold } from './builders.js';

const GI = 2 ** 30;
const HARD = threshold('nodefs.available', '10%', { minReclaim: '5%' });
const LOOK = observation('nodefs.available', 8 * GI, 100 * GI);
const FACTS = { threshold: HARD, observation: LOOK, line: 10 * GI, target: 15 * GI };
const GOALS = [{ signal: 'nodefs.available', line: 10 * GI, target: 15 * GI }] as const;
const BEFORE = { 'nodefs.available': 8 * GI, 'nodefs.inodesFree': 1_000 };
const AFTER = { 'nodefs.available': 16 * GI, 'nodefs.inodesFree': 2_000 };
const VIOLATION = { kind: 'emptyDirLimit', subject: 'cache', used: 3 * GI, limit: 2 * GI } as const;
const FORECAST = { rate: 4 * 1024 * 1024, timeToFull: milliseconds(2_000_000), watched: milliseconds(600_000) };
const POD = { uid: 'uid-a', label: 'default/web' };

/** An image that goes, with some of it replaced. */
export function subject(changes: Partial<RemovalSubject> = {}): RemovalSubject {
  return {
    what: 'image',
    id: 'sha256:1',
    label: 'docker.io/library/nginx:1.27',
    reason: 'last used 90 s ago',
    claimed: bytes(GI / 2),
    ...changes,
  };
}

/** The fields of one kind of event; two kinds may share their fields. */
type FactsOf<Kind, Each = EvictionEvent> = Each extends { readonly kind: infer Kinds }
  ? Kind extends Kinds
    ? Omit<Each, 'kind' | 'at'>
    : never
  : never;

/** One event of each kind, plausible in every field; a kind that is missing here does not compile. */
const SAMPLES: { readonly [Kind in EvictionEvent['kind']]: FactsOf<Kind> } = {
  observed: { sight: sightOf(LOOK), layout: 'one-disk' },
  'layout-changed': { from: 'one-disk', to: 'image-disk' },
  'layout-unknown': { message: 'imagefs: EIO', kept: 'one-disk' },
  'will-be-full': { signal: 'nodefs.available', observation: LOOK, forecast: FORECAST },
  'fills-no-more': { signal: 'nodefs.available' },
  'collecting-ahead': { signal: 'nodefs.available', forecast: FORECAST, within: milliseconds(600_000) },
  'layout-refused': { layout: 'split-disks' },
  'look-failed': { message: '/var/lib: EIO' },
  'notifiers-updated': {},
  'storage-limits-checked': { pods: 3 },
  'notifier-failed': { notifier: 'hard memory threshold', message: 'EIO' },
  'threshold-served': { threshold: HARD, resource: 'ephemeral-storage' },
  'storage-limit-exceeded': { pod: POD, violation: VIOLATION },
  'storage-limit-served': {
    pod: POD,
    violation: VIOLATION,
    graceSeconds: 1,
    status: statusForOwnLimit('too much'),
    outcome: { kind: 'gone' },
    took: milliseconds(900),
  },
  'image-path-fallback': { path: '/var/lib/images/new', used: '/var/lib' },
  'signal-unknown': { signal: 'imagefs.available', reason: 'hung', detail: '/var/lib does not answer' },
  'signal-unknown-for-long': {
    signal: 'imagefs.available',
    reason: 'hung',
    detail: '/var/lib does not answer',
    since: at(-60),
  },
  'signal-known': { signal: 'imagefs.available', unknownFor: milliseconds(61_500) },
  'available-above-capacity': { clamped: { signal: 'nodefs.available', available: 2 * GI, capacity: GI } },
  'line-above-capacity': { threshold: threshold('nodefs.available', '20Gi'), line: 20 * GI, capacity: 10 * GI },
  'threshold-met': FACTS,
  'threshold-cleared': FACTS,
  'condition-on': { condition: 'DiskPressure' },
  'condition-off': { condition: 'DiskPressure' },
  'reclaim-planned': { what: 'image', subjects: [subject()] },
  'reclaim-started': {
    threshold: HARD,
    resource: 'ephemeral-storage',
    goals: GOALS,
    available: BEFORE,
    steps: ['containers', 'images'],
  },
  removed: { subject: subject(), availableBefore: BEFORE, availableAfter: AFTER, took: milliseconds(40) },
  'removal-failed': { subject: subject(), message: 'it is in use', took: milliseconds(40) },
  'removal-skipped': { subject: subject(), why: 'used by container c' },
  'batch-measured': {
    removals: 4,
    claimed: bytes(GI),
    availableBefore: BEFORE,
    availableAfter: AFTER,
    waited: milliseconds(12.5),
  },
  'image-reference-unresolved': { reference: 'gone:1', container: '0123456789abcdef' },
  'protect-pattern-unused': { pattern: 'keep/*' },
  'image-came-back': { image: 'app:1', id: 'sha256:1', why: 'having come back 40 s after its removal' },
  'protected-images-hold-space': { images: 2, claimed: bytes(3 * GI) },
  'space-not-freed': { message: 'no space left on device' },
  'list-failed': { what: 'images and their users', message: 'deadline' },
  'reclaim-finished': {
    threshold: HARD,
    outcome: 'reached',
    goals: GOALS,
    availableBefore: BEFORE,
    availableAfter: AFTER,
    claimed: bytes(9 * GI),
    removed: { container: 2, image: 1 },
    took: milliseconds(2_500),
  },
  'would-remove': { subject: subject(), onlyIfNeeded: false },
  'would-evict': {
    standing: standingOf({ usage: 3 * GI }),
    threshold: HARD,
    onlyIfNeeded: true,
  },
  'eviction-decided': {
    ...FACTS,
    pod: POD,
    ranking: [standingOf({ usage: 3 * GI })],
    grace: milliseconds(1_000),
    message: 'The node is low on ephemeral-storage',
  },
  'eviction-hastened': { pod: { uid: 'u', label: 'default/web' }, threshold: HARD },
  'pod-lingers': { pod: POD, outcome: { kind: 'unrecorded', message: 'context deadline exceeded' } },
  'stop-hangs': { pod: POD, filesystem: 'nodefs', available: 0, freed: 'nothing' },
  'kill-outstanding': { pod: POD, signal: 'nodefs.available', expected: GI, availableBefore: 0, waitUntil: at(60) },
  'pod-killed': {
    pod: POD,
    signal: 'nodefs.available',
    expected: 3 * GI,
    availableBefore: 8 * GI,
    availableAfter: 11 * GI,
    waitUntil: at(31),
    outcome: { kind: 'gone' },
    took: milliseconds(1_200),
  },
  'eviction-measured': {
    pod: POD,
    signal: 'nodefs.available',
    expected: 3 * GI,
    availableBefore: 8 * GI,
    availableAfter: 11 * GI,
    missing: 4 * GI,
    endsSeries: false,
    took: milliseconds(1_200),
  },
  helpless: { reason: 'all 2 pods are protected (static pod)', threshold: HARD, observation: LOOK },
  'writer-goes-first': { pod: POD, signal: 'nodefs.available', garbage: GI, fillRate: GI / 4 },
  'usage-impossible': { code: 'IMPOSSIBLE_USAGE', pod: POD, signal: 'nodefs.available', usage: 9 * GI, inUse: 2 * GI },
  'ballast-laid': {
    filesystem: 'nodefs',
    directory: '/var/lib/kubelet',
    held: bytes(GI / 16),
    adopted: false,
    took: milliseconds(300),
  },
  'ballast-released': {
    filesystem: 'nodefs',
    directory: '/var/lib/kubelet',
    reason: 'disk-full',
    held: bytes(GI / 16),
    availableBefore: 0,
    availableAfter: GI / 16,
    took: milliseconds(3),
  },
  'ballast-failed': {
    filesystem: 'nodefs',
    directory: '/var/lib/kubelet',
    doing: 'lay',
    message: 'Cannot lay ballast: EIO',
  },
  restored: { remembered: { ...NOTHING_REMEMBERED, conditions: ['DiskPressure'] }, images: 12 },
  'store-trouble': { trouble: 'full', message: 'database or disk is full' },
  'store-mended': {},
  'kubelet-beside': { evicts: false },
  'runtime-lost': { message: 'connection refused' },
  'runtime-back': { name: 'containerd', version: '2.1.0', downFor: milliseconds(3_000) },
  'usage-checked': {},
  warning: { warning: { code: 'REMOVALS_DO_NOT_HELP', removals: 5 } },
  'pass-failed': { message: 'a bug' },
};

/** The event of one kind with some of it replaced. */
export function eventOf<Kind extends EvictionEvent['kind']>(
  kind: Kind,
  changes: Partial<FactsOf<Kind>> = {},
): EvictionEvent {
  // The table ties the fields to the kind; the compiler cannot follow that through a type parameter.
  return { kind, at: at(0), ...SAMPLES[kind], ...changes } as unknown as EvictionEvent;
}

/** One event of every kind. */
export function eventOfEveryKind(): readonly EvictionEvent[] {
  // `Object.keys` forgets what it was asked about.
  return (Object.keys(SAMPLES) as EvictionEvent['kind'][]).map((kind) => eventOf(kind));
}

function standingOf(changes: Parameters<typeof candidate>[1]) {
  const [standing] = rankPods([candidate('web', changes)], 'nodefs.available', POLICIES.reclaimd);
  if (standing === undefined) throw new Error('Cannot rank one pod as one must come out: none');
  return standing;
}
