import { millisecondsOf } from '../units/duration.js';
import { durationAdvice, durationOrNull } from './limit-advice.js';
import {
  type Finding,
  type LimitCode,
  type LimitPurpose,
  type LimitReading,
  readKubeletLimit,
  readStrictLimit,
} from './limit-text.js';
import { nearestName } from './nearest-name.js';
import { ALL_SIGNALS, isSignal, type Signal } from './signal.js';
import type { Limit, Threshold, ThresholdId, Urgency } from './threshold.js';

/** The four settings maps that thresholds are made of, by their names in a KubeletConfiguration. */
export type EvictionMapName = 'evictionHard' | 'evictionSoft' | 'evictionSoftGracePeriod' | 'evictionMinimumReclaim';

/** The settings as text, signal by signal, in the order they were written. A missing map is an empty one. */
export interface EvictionTexts extends Partial<Readonly<Record<EvictionMapName, ReadonlyMap<string, string>>>> {
  /** `pods` among them asks for the copies on `allocatableMemory.available`. */
  readonly enforceNodeAllocatable?: readonly string[];
}

/**
 * How strictly texts are read. `kubelet`: what v1.36.2 accepts is accepted, and the first error ends it. `reclaimd`: nonsense is
 * refused, what is doubtful is said, and all problems come at once.
 */
export type Strictness = 'kubelet' | 'reclaimd';

/** What can be wrong or doubtful about the four maps. */
export type ThresholdCode =
  | LimitCode
  | 'BAD_DURATION'
  | 'CONTAINERFS_DERIVED'
  | 'GRACE_WITHOUT_THRESHOLD'
  | 'NEGATIVE_DURATION'
  | 'RECLAIM_WITHOUT_THRESHOLD'
  | 'SOFT_WITHOUT_GRACE'
  | 'SOFT_WITH_ZERO_GRACE'
  | 'UNKNOWN_SIGNAL';

/** A finding and the entry it is about. `signal` is the text as written, which need not name one. */
export interface ThresholdProblem extends Finding<ThresholdCode> {
  readonly map: EvictionMapName;
  readonly signal: string;
  readonly value: string;
}

/** The thresholds, where each came from, and what is wrong. With an error among the problems there are no thresholds. */
export interface ThresholdReading {
  readonly thresholds: readonly Threshold[];
  /** The map entry each threshold was read from; copies name the entry they were copied from. */
  readonly sources: ReadonlyMap<
    ThresholdId,
    { readonly map: 'evictionHard' | 'evictionSoft'; readonly signal: Signal }
  >;
  readonly problems: readonly ThresholdProblem[];
}

/**
 * Turns the settings maps into thresholds: hard ones, then soft ones, each in the order written, then the allocatable
 * copies. Entries on `containerfs.*` are kept: the core replaces them when it knows the layout. Mirrors `ParseThresholdConfig`.
 */
export function parseThresholds(texts: EvictionTexts, strictness: Strictness): ThresholdReading {
  const hard = readLimits(texts, 'evictionHard', strictness);
  const soft = readLimits(texts, 'evictionSoft', strictness);
  const graces = readGraces(texts);
  const reclaims = readLimits(texts, 'evictionMinimumReclaim', strictness);
  const problems = [
    ...hard.problems,
    ...soft.problems,
    ...graces.problems,
    ...reclaims.problems,
    ...softWithoutGrace(texts, soft.values),
    ...(strictness === 'reclaimd' ? doubts(texts, hard, soft, graces) : []),
  ];
  const firstError = problems.find((problem) => problem.severity === 'error');
  if (firstError !== undefined) {
    const told = strictness === 'kubelet' ? [firstError] : problems;
    return { thresholds: [], sources: new Map(), problems: told };
  }
  return { ...assemble(texts, hard.values, soft.values, graces.values, reclaims.values), problems };
}

/**
 * Appends the copies on `allocatableMemory.available`, one for each hard threshold on `memory.available`, after all
 * originals. Mirrors `addAllocatableThresholds`.
 */
export function withAllocatableCopies(thresholds: readonly Threshold[]): readonly Threshold[] {
  const copies = thresholds
    .filter(({ signal, urgency }) => signal === 'memory.available' && urgency.kind === 'hard')
    .map((threshold) => ({
      ...threshold,
      id: threshold.id.replace(threshold.signal, 'allocatableMemory.available/of'),
      signal: 'allocatableMemory.available' as const,
    }));
  return [...thresholds, ...copies];
}

interface Read<Value> {
  readonly values: ReadonlyMap<Signal, Value>;
  /** Signals that have an entry, whether it could be read or was switched off. */
  readonly refused: ReadonlySet<string>;
  readonly problems: readonly ThresholdProblem[];
}

function readLimits(
  texts: EvictionTexts,
  map: Exclude<EvictionMapName, 'evictionSoftGracePeriod'>,
  strictness: Strictness,
): Read<Limit> {
  const purpose: LimitPurpose = map === 'evictionMinimumReclaim' ? 'reclaim' : 'threshold';
  return readEntries<Limit>(texts, map, (signal, text) => {
    const reading: LimitReading =
      strictness === 'kubelet' ? readKubeletLimit(text, purpose) : readStrictLimit(text, purpose, signal);
    switch (reading.kind) {
      case 'limit':
        return { value: reading.limit, findings: reading.findings };
      case 'off':
        return { value: null, findings: [] };
      case 'refused':
        return { value: null, findings: reading.findings };
    }
  });
}

/** Grace periods in nanoseconds. */
function readGraces(texts: EvictionTexts): Read<bigint> {
  return readEntries<bigint>(texts, 'evictionSoftGracePeriod', (_, text) => {
    const grace = durationOrNull(text);
    if (grace === null) {
      return refusal('BAD_DURATION', durationAdvice(text));
    }
    return grace < 0n
      ? refusal('NEGATIVE_DURATION', 'a grace period must not be negative')
      : { value: grace, findings: [] };
  });
}

function readEntries<Value>(
  texts: EvictionTexts,
  map: EvictionMapName,
  read: (signal: Signal, text: string) => { value: Value | null; findings: readonly Finding<ThresholdCode>[] },
): Read<Value> {
  const values = new Map<Signal, Value>();
  const refused = new Set<string>();
  const problems: ThresholdProblem[] = [];
  for (const [signal, text] of texts[map] ?? []) {
    const { value, findings } = isSignal(signal) ? read(signal, text) : unknownSignal(signal);
    if (isSignal(signal) && value !== null) values.set(signal, value);
    if (findings.some(({ severity }) => severity === 'error')) refused.add(signal);
    problems.push(...findings.map((finding) => ({ ...finding, map, signal, value: text })));
  }
  return { values, refused, problems };
}

function unknownSignal(text: string): { value: null; findings: readonly Finding<ThresholdCode>[] } {
  const bare = text.replace(/["'\s]/g, '');
  const near = nearestName(bare, ALL_SIGNALS);
  const quoted = /["']/.test(text) ? '; quotes belong to the shell, not into the value' : '';
  const hint = near === null ? `the signals are ${ALL_SIGNALS.join(', ')}` : `${near} is the nearest`;
  return refusal('UNKNOWN_SIGNAL', `no signal has this name; ${hint}${quoted}`);
}

function softWithoutGrace(texts: EvictionTexts, soft: ReadonlyMap<Signal, Limit>): ThresholdProblem[] {
  return [...soft.keys()]
    .filter((signal) => texts.evictionSoftGracePeriod?.has(signal) !== true)
    .map((signal) => ({
      severity: 'error',
      code: 'SOFT_WITHOUT_GRACE',
      rule: `a soft threshold must have an entry in evictionSoftGracePeriod, such as ${signal}: 1m30s`,
      map: 'evictionSoft',
      signal,
      value: texts.evictionSoft?.get(signal) ?? '',
    }));
}

function doubts(texts: EvictionTexts, hard: Read<Limit>, soft: Read<Limit>, graces: Read<bigint>): ThresholdProblem[] {
  const about = (
    map: EvictionMapName,
    code: ThresholdCode,
    rule: (signal: string) => string,
    is: (signal: string) => boolean,
  ) =>
    [...(texts[map] ?? [])]
      .filter(([signal]) => isSignal(signal) && is(signal))
      .map(
        ([signal, value]): ThresholdProblem => ({ severity: 'warning', code, rule: rule(signal), map, signal, value }),
      );
  const has = (read: Read<Limit>, signal: string) =>
    read.refused.has(signal) || (isSignal(signal) && read.values.has(signal));
  const derived = (map: EvictionMapName) => about(map, 'CONTAINERFS_DERIVED', sourceOfContainerfs, isContainerfs);
  return [
    ...derived('evictionHard'),
    ...derived('evictionSoft'),
    ...derived('evictionSoftGracePeriod'),
    ...derived('evictionMinimumReclaim'),
    ...about(
      'evictionSoftGracePeriod',
      'SOFT_WITH_ZERO_GRACE',
      () => 'a grace of zero makes the soft threshold a hard one',
      (signal) => isSignal(signal) && graces.values.get(signal) === 0n && has(soft, signal),
    ),
    ...about(
      'evictionSoftGracePeriod',
      'GRACE_WITHOUT_THRESHOLD',
      () => 'the signal has no soft threshold, so nothing waits for it',
      (signal) => !isContainerfs(signal) && !has(soft, signal),
    ),
    ...about(
      'evictionMinimumReclaim',
      'RECLAIM_WITHOUT_THRESHOLD',
      () => 'the signal has no threshold, so nothing is reclaimed for it',
      (signal) => !isContainerfs(signal) && !has(hard, signal) && !has(soft, signal),
    ),
  ];
}

function assemble(
  texts: EvictionTexts,
  hard: ReadonlyMap<Signal, Limit>,
  soft: ReadonlyMap<Signal, Limit>,
  graces: ReadonlyMap<Signal, bigint>,
  reclaims: ReadonlyMap<Signal, Limit>,
): Omit<ThresholdReading, 'problems'> {
  const sources = new Map<ThresholdId, { map: 'evictionHard' | 'evictionSoft'; signal: Signal }>();
  const originals = [
    ...[...hard].map(([signal, limit]) => ({ map: 'evictionHard' as const, signal, limit, urgency: HARD })),
    ...[...soft].map(([signal, limit]) => {
      const grace = graces.get(signal) ?? 0n;
      const urgency: Urgency = grace === 0n ? HARD : { kind: 'soft', grace: millisecondsOf(grace) };
      return { map: 'evictionSoft' as const, signal, limit, urgency };
    }),
  ].map(({ map, signal, limit, urgency }): Threshold => {
    // A soft threshold without grace is a hard one, so there may be a second one of the same signal.
    const first = `${signal}/${urgency.kind}/1`;
    const id = sources.has(first) ? `${signal}/${urgency.kind}/2` : first;
    sources.set(id, { map, signal });
    return { id, signal, limit, urgency, minReclaim: reclaims.get(signal) ?? null };
  });
  if (texts.enforceNodeAllocatable?.includes('pods') !== true) return { thresholds: originals, sources };
  const thresholds = withAllocatableCopies(originals);
  thresholds.slice(originals.length).forEach(({ id }) => {
    sources.set(id, { map: 'evictionHard', signal: 'memory.available' });
  });
  return { thresholds, sources };
}

const HARD: Urgency = { kind: 'hard' };

function isContainerfs(signal: string): boolean {
  return signal.startsWith('containerfs.');
}

function sourceOfContainerfs(signal: string): string {
  const name = signal.slice('containerfs.'.length);
  return `containerfs follows another filesystem: imagefs.${name} counts where images have a disk of their own, else nodefs.${name}`;
}

function refusal(code: ThresholdCode, rule: string): { value: null; findings: readonly Finding<ThresholdCode>[] } {
  return { value: null, findings: [{ severity: 'error', code, rule }] };
}
