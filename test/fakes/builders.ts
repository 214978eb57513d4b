import type { EvictionSettings } from '../../src/eviction/assess.js';
import { LineBook } from '../../src/eviction/evaluate.js';
import type { Observation, Observations, Readings, Sight } from '../../src/eviction/observe.js';
import type { FilesystemReading } from '../../src/eviction/path-look.js';
import { POLICIES, type ProfileName } from '../../src/eviction/policy.js';
import type { Candidate } from '../../src/eviction/rank.js';
import type { Signal } from '../../src/eviction/signal.js';
import { type EvictionState, INITIAL_STATE } from '../../src/eviction/state.js';
import type { Limit, Threshold } from '../../src/eviction/threshold.js';
import type { ImageUser, PlannedContainer, PlannedImage, PlannedSandbox, PodAnswers } from '../../src/gc/inventory.js';
import { parseQuantity } from '../../src/units/quantity.js';
import { bytes, count, type Instant, instant, milliseconds } from '../../src/units/units.js';

/** A limit as people write it: `10%` or `1Gi`. Percentages become 32-bit fractions, as in the kubelet. */
export function limit(text: string): Limit {
  return text.endsWith('%')
    ? { kind: 'fraction', fraction: Math.fround(Math.fround(Number(text.slice(0, -1))) / 100) }
    : { kind: 'amount', quantity: parseQuantity(text) };
}

/** A threshold: `threshold('nodefs.available', '10%', { graceSeconds: 60, minReclaim: '1Gi' })`. No grace means hard. */
export function threshold(
  signal: Signal,
  line: string,
  more: { readonly graceSeconds?: number; readonly minReclaim?: string; readonly id?: string } = {},
): Threshold {
  const urgency =
    more.graceSeconds === undefined
      ? ({ kind: 'hard' } as const)
      : ({ kind: 'soft', grace: milliseconds(more.graceSeconds * 1_000) } as const);
  return {
    id: more.id ?? `${signal}/${urgency.kind}/0`,
    signal,
    limit: limit(line),
    urgency,
    minReclaim: more.minReclaim === undefined ? null : limit(more.minReclaim),
  };
}

/** An instant, given in seconds on the imaginary clock of a test. */
export function at(seconds: number): Instant {
  return instant(seconds * 1_000);
}

/** An observation; `atSeconds` null means that its source carries no time. */
export function observation(
  signal: Signal,
  available: number,
  capacity = 1_000,
  atSeconds: number | null = 0,
): Observation {
  return { signal, available, capacity, at: atSeconds === null ? null : at(atSeconds) };
}

/** Observations by signal. */
export function seen(...all: readonly Observation[]): Observations {
  return new Map(all.map((each) => [each.signal, each]));
}

/** A look that saw these observations and nothing else. */
export function sightOf(...all: readonly Observation[]): Sight {
  return { observations: seen(...all), unknown: [], clamped: [] };
}

/** The settings of one profile: a transition period of 300 s unless said otherwise. */
export function settingsOf(
  thresholds: readonly Threshold[],
  profile: ProfileName = 'reclaimd',
  transitionSeconds = 300,
): EvictionSettings {
  return {
    thresholds,
    transitionPeriod: milliseconds(transitionSeconds * 1_000),
    policy: POLICIES[profile],
    lines: new LineBook(),
  };
}

/** The initial state with some of it replaced. */
export function stateWith(changes: Partial<EvictionState>): EvictionState {
  return { ...INITIAL_STATE, ...changes };
}

/** What statfs says of a healthy filesystem of 1000 bytes and 100 inodes, with some of it replaced. */
export function reading(changes: Partial<Omit<FilesystemReading, 'kind'>> = {}): FilesystemReading {
  return {
    kind: 'reading',
    device: '8:1',
    available: bytes(400),
    capacity: bytes(1_000),
    inodes: { free: count(40), total: count(100) },
    readOnly: false,
    at: at(0),
    ...changes,
  };
}

/** The readings of a healthy node with one disk, with some of them replaced. */
export function readings(changes: Partial<Readings> = {}): Readings {
  const disk = reading();
  const pair = { available: 50, capacity: 100, at: at(0) };
  return {
    filesystems: { nodefs: disk, imagefs: disk, containerfs: disk },
    memory: pair,
    allocatableMemory: pair,
    pids: pair,
    ...changes,
  };
}

/** A pod that may be evicted, with some of it replaced. */
export function candidate(uid: string, changes: Partial<Candidate> = {}): Candidate {
  return { uid, label: `default/${uid}`, priority: 0, usage: 0, request: 0, protectedBy: null, ...changes };
}

/** A dead container of pod `pod-a`, made at second 0, with some of it replaced. */
export function container(id: string, changes: Partial<PlannedContainer> = {}): PlannedContainer {
  return {
    id,
    sandboxId: 'sandbox-a',
    name: 'main',
    state: 'exited',
    createdAt: at(0),
    pod: identity('pod-a'),
    ...changes,
  };
}

/** The identity of a pod whose name is its uid. */
export function identity(uid: string): { readonly uid: string; readonly namespace: string; readonly name: string } {
  return { uid, namespace: 'default', name: uid };
}

/** A sandbox that is not ready, of pod `pod-a`, with some of it replaced. */
export function sandbox(id: string, changes: Partial<PlannedSandbox> = {}): PlannedSandbox {
  return { id, pod: identity('pod-a'), state: 'notready', createdAt: at(0), ...changes };
}

/** An image without tags, with some of it replaced. */
export function image(id: string, changes: Partial<PlannedImage> = {}): PlannedImage {
  return { id, tags: [], digests: [], size: bytes(1_000), pinned: false, ...changes };
}

/** A container as a user of an image: it names none unless told to. */
export function user(id: string, changes: Partial<ImageUser> = {}): ImageUser {
  return { id, imageId: '', imageRef: '', image: '', runtimeHandler: '', ...changes };
}

/** Answers about pods: by uid, which are gone and which have finished. Every source has delivered unless told otherwise. */
export function answers(
  facts: {
    readonly gone?: readonly string[];
    readonly finished?: readonly string[];
    readonly allSourcesReady?: boolean;
  } = {},
): PodAnswers {
  return {
    allSourcesReady: facts.allSourcesReady ?? true,
    contentMayBeRemoved: (uid) => facts.gone?.includes(uid) ?? false,
    runtimeMayBeRemoved: (uid) => facts.finished?.includes(uid) ?? false,
  };
}
