import { SIGNALS } from '../eviction/signal.js';
import type { Threshold } from '../eviction/threshold.js';
import { type EvictionMapName, parseThresholds, type ThresholdProblem } from '../eviction/threshold-text.js';
import { millisecondsOf, shortDuration } from '../units/duration.js';
import { bytes, type Milliseconds, milliseconds } from '../units/units.js';
import { collectingOf } from './collecting.js';
import { imageGcMarksFault } from './image-gc-rules.js';
import { KEYS } from './key-table.js';
import type { KeyName } from './keys.js';
import type { Effective } from './merge.js';
import { outOfDiskOf } from './out-of-disk.js';
import { podsFromOf, staticPodPathOf } from './pod-sources.js';
import { podsCgroupOf } from './pods-cgroup.js';
import { type Origin, type Problem, problemOf } from './problem.js';
import { protectionOf } from './protection.js';
import { runtimeEndpointOf } from './runtime-endpoint.js';
import { SettingReader } from './setting-reader.js';
import type { Profile, Settings } from './settings.js';

/** The settings, where each value came from, and all that is wrong; with an error the settings must not be used. */
export interface Built {
  readonly settings: Settings;
  /** By path (`evictionHard`, `evictionHard[nodefs.available]`) and, for thresholds, by their id. */
  readonly origins: ReadonlyMap<string, Origin>;
  readonly problems: readonly Problem[];
}

const MAPS = ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim'] as const;

/** Makes settings of the merged values and checks them, each by itself and against each other. */
export function buildSettings(effective: Effective, profile: Profile): Built {
  const read = new SettingReader(effective, profile);
  const marks = imageMarks(read);
  const ages = imageAges(read);
  const reading = thresholdsOf(read, profile);
  const sampling = samplingOf(read);
  const settings: Settings = {
    profile: read.choice('profile', ['reclaimd', 'kubelet'], profile),
    runtimeEndpoint: runtimeEndpointOf(read),
    runtimeRequestTimeout: positiveDuration(read, 'runtimeRequestTimeout'),
    rootDir: read.path('rootDir') ?? '/var/lib/kubelet',
    podLogsDir: read.path('podLogsDir') ?? '/var/log/pods',
    staticPodPath: staticPodPathOf(read),
    podsFrom: podsFromOf(read),
    podsFromAnywhere: read.boolean('podsFromAnywhere'),
    thresholds: reading.thresholds,
    enforceNodeAllocatable: read.list('enforceNodeAllocatable'),
    podsCgroup: podsCgroupOf(read),
    outOfDisk: outOfDiskOf(read),
    kernelMemcgNotification: read.boolean('kernelMemcgNotification'),
    mergeDefaultEvictionSettings: read.boolean('mergeDefaultEvictionSettings'),
    pressureTransitionPeriod: millisecondsOf(read.duration('evictionPressureTransitionPeriod')),
    ...graceOf(read, profile, reading.thresholds),
    localStorageCapacityIsolation: read.boolean('localStorageCapacityIsolation'),
    ...ages,
    ...marks,
    containerGC: {
      minAge: millisecondsOf(read.duration('containerGC.minAge')),
      maxPerPodContainer: limitOrNull(read.integer('containerGC.maxPerPodContainer')),
      maxContainers: limitOrNull(read.integer('containerGC.maxContainers')),
      rules: read.choice('containerGC.rules', ['current', 'docker-era'], 'current'),
    },
    ...collectingOf(read),
    sandboxImage: read.text('sandboxImage'),
    maxRemovalsPerPass: maxRemovalsOf(read),
    ...protectionOf(read),
    ballast: ballastOf(read),
    stateFile: stateFileOf(read, profile),
    evictBesideKubelet: read.boolean('evictBesideKubelet'),
    sampling,
    collectWhenFullWithin:
      read.duration('collectWhenFullWithin') === 0n ? null : millisecondsOf(read.duration('collectWhenFullWithin')),
    log: {
      level: read.choice('log.level', ['debug', 'info', 'warn', 'error'], 'info'),
      format: read.choice('log.format', ['auto', 'pretty', 'json'], 'auto'),
      file: read.path('log.file'),
    },
  };
  return { settings, origins: originsOf(effective, reading.sources), problems: read.problems };
}

function thresholdsOf(read: SettingReader, profile: Profile): ReturnType<typeof parseThresholds> {
  const texts = Object.fromEntries(
    MAPS.map((map) => [map, new Map([...read.entries(map)].map(([signal, { text }]) => [signal, text ?? '']))]),
  );
  const reading = parseThresholds({ ...texts, enforceNodeAllocatable: read.list('enforceNodeAllocatable') }, profile);
  read.problems.push(...reading.problems.map((problem) => placed(read, problem)));
  const isRefused = reading.problems.some(({ severity }) => severity === 'error');
  if (profile === 'reclaimd' && !isRefused && !reading.thresholds.some(watchesDisk)) {
    const rule = 'neither a hard nor a soft threshold watches a disk, so a full one is left to itself';
    read.tell('warning', 'NO_DISK_THRESHOLD', 'evictionHard', rule, 'no nodefs or imagefs signal');
  }
  return reading;
}

function placed(read: SettingReader, problem: ThresholdProblem): Problem {
  const { severity, code, map, signal, rule, value } = problem;
  const origin = read.entries(map).get(signal)?.origin ?? read.originOf(map);
  return problemOf({ severity, code, origin, path: `${map}[${signal}]`, rule, value });
}

/** A containerfs threshold does not count: it follows one of the others. A line at zero is never met. */
function watchesDisk({ signal, limit }: Threshold): boolean {
  const { filesystem } = SIGNALS[signal];
  return (filesystem === 'nodefs' || filesystem === 'imagefs') && !(limit.kind === 'fraction' && limit.fraction === 0);
}

function graceOf(
  read: SettingReader,
  profile: Profile,
  thresholds: readonly Threshold[],
): Pick<Settings, 'maxPodGracePeriod' | 'configuredMaxPodGraceSeconds'> {
  const seconds = read.isSet('evictionMaxPodGracePeriod') ? read.integer('evictionMaxPodGracePeriod') : null;
  const cap = seconds === null || seconds < 0 ? null : milliseconds(seconds * 1000);
  if (profile === 'kubelet') {
    return { maxPodGracePeriod: cap ?? milliseconds(0), configuredMaxPodGraceSeconds: seconds };
  }
  if (seconds !== null && seconds < 0) {
    const rule = 'a cap below zero is none, so pods get their own grace';
    read.tell('warning', 'NEGATIVE_GRACE', 'evictionMaxPodGracePeriod', rule, `${seconds}`);
  }
  if (seconds === 0 && thresholds.some(({ urgency }) => urgency.kind === 'soft')) {
    const rule = 'a cap of zero makes soft evictions kill at once';
    read.tell('warning', 'SOFT_EVICTION_KILLS', 'evictionMaxPodGracePeriod', rule, '0');
  }
  return { maxPodGracePeriod: cap, configuredMaxPodGraceSeconds: seconds };
}

function imageMarks(read: SettingReader): Pick<Settings, 'imageGCHighThresholdPercent' | 'imageGCLowThresholdPercent'> {
  const high = read.percent('imageGCHighThresholdPercent');
  const low = read.percent('imageGCLowThresholdPercent');
  const fault = imageGcMarksFault(high, low);
  if (fault === 'low-above-high' || fault === 'low-equals-high') {
    const marks = [
      `low mark ${low}${orDefault(read, 'imageGCLowThresholdPercent')}`,
      `high mark ${high}${orDefault(read, 'imageGCHighThresholdPercent')}`,
    ].join(', ');
    // The place of a default is nowhere: point at the mark that somebody wrote.
    const at =
      read.originOf('imageGCLowThresholdPercent').kind === 'default'
        ? 'imageGCHighThresholdPercent'
        : 'imageGCLowThresholdPercent';
    read.problems.push(
      problemOf({
        severity: 'error',
        code: 'GC_LOW_NOT_BELOW_HIGH',
        origin: read.originOf(at),
        path: 'imageGCLowThresholdPercent',
        rule: 'the low mark must lie below the high mark',
        value: marks,
      }),
    );
  }
  return { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low };
}

function imageAges(read: SettingReader): Pick<Settings, 'imageMinimumGCAge' | 'imageMaximumGCAge'> {
  const minimum = read.duration('imageMinimumGCAge');
  const maximum = read.duration('imageMaximumGCAge');
  if (maximum !== 0n && maximum <= minimum) {
    const rule = `it must be longer than imageMinimumGCAge, ${shortDuration(minimum)}${orDefault(read, 'imageMinimumGCAge')}`;
    read.tell('error', 'MAX_AGE_NOT_ABOVE_MIN_AGE', 'imageMaximumGCAge', rule, shortDuration(maximum));
  }
  return {
    imageMinimumGCAge: millisecondsOf(minimum),
    imageMaximumGCAge: maximum === 0n ? null : millisecondsOf(maximum),
  };
}

function samplingOf(read: SettingReader): Settings['sampling'] {
  const slowest = positiveDuration(read, 'sampling.slowest');
  const fastest = positiveDuration(read, 'sampling.fastest');
  if (fastest > slowest) {
    const rule = `it must not be longer than sampling.slowest, ${slowest} ms`;
    read.tell('error', 'BAD_VALUE', 'sampling.fastest', rule, `${fastest} ms`);
  }
  return { slowest, fastest, assumedFillRate: bytes(read.amount('sampling.assumedFillRate')) };
}

/** Off unless it is set; a zero switches off what a file has set. */
function maxRemovalsOf(read: SettingReader): number | null {
  if (!read.isSet('maxRemovalsPerPass')) return null;
  const value = read.integer('maxRemovalsPerPass');
  if (value < 1)
    read.tell('error', 'BAD_VALUE', 'maxRemovalsPerPass', 'at least one image must be allowed to go', `${value}`);
  return value;
}

function ballastOf(read: SettingReader): Settings['ballast'] {
  const text = read.text('ballast');
  return text === null || text === '0' ? null : bytes(read.amount('ballast'));
}

/** The kubelet remembers nothing, whatever is set. */
function stateFileOf(read: SettingReader, profile: Profile): string | null {
  if (read.text('stateFile') === 'none') return null;
  const path = read.path('stateFile');
  return profile === 'kubelet' ? null : path;
}

function positiveDuration(read: SettingReader, name: KeyName): Milliseconds {
  const value = read.duration(name);
  if (value === 0n) read.tell('error', 'BAD_VALUE', name, 'the duration must be longer than zero', '0s');
  return millisecondsOf(value);
}

function limitOrNull(value: number): number | null {
  return value < 0 ? null : value;
}

function orDefault(read: SettingReader, name: KeyName): string {
  return read.originOf(name).kind === 'default' ? ' (default)' : '';
}

function originsOf(
  effective: Effective,
  sources: ReadonlyMap<string, { readonly map: EvictionMapName; readonly signal: string }>,
): ReadonlyMap<string, Origin> {
  const origins = new Map<string, Origin>();
  for (const { name } of KEYS) {
    const given = effective.get(name);
    if (given === undefined) continue;
    origins.set(name, given.origin);
    if (given.kind === 'map') given.entries.forEach(({ origin }, signal) => origins.set(`${name}[${signal}]`, origin));
  }
  for (const [id, { map, signal }] of sources) {
    const origin = origins.get(`${map}[${signal}]`);
    if (origin !== undefined) origins.set(id, origin);
  }
  return origins;
}
