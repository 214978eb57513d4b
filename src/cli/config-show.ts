import { KEYS } from '../config/key-table.js';
import type { LoadResult } from '../config/load.js';
import { type Origin, type Problem, placeText } from '../config/problem.js';
import type { Settings } from '../config/settings.js';
import { limitText } from '../eviction/limit-text.js';
import type { Threshold } from '../eviction/threshold.js';
import { nanosecondsOf, shortDuration } from '../units/duration.js';
import type { Milliseconds } from '../units/units.js';
import { columns } from './render/config-table.js';

/** How `reclaimd config show` prints. */
export interface ConfigShowOptions {
  /** Whether to say where each value came from. */
  readonly origin: boolean;
  readonly output: 'table' | 'json';
}

type Shown = string | number | boolean | null | readonly string[];
type Name = (typeof KEYS)[number]['name'];

/**
 * The effective configuration as text: every setting, the thresholds as a table, then what is wrong or doubtful. Of a refused
 * configuration only the problems are shown, since nothing of it is in effect.
 */
export function renderConfigShow(result: LoadResult, options: ConfigShowOptions): string {
  return options.output === 'json' ? asJson(result, options) : asTable(result, options);
}

function asTable(result: LoadResult, options: ConfigShowOptions): string {
  const problems = result.problems.map(({ severity, code, message }) => `${severity} ${code}: ${message}`);
  if (result.kind === 'refused') return `${problems.join('\n')}\n`;
  const place = (path: string) => (options.origin ? [originText(result.origins.get(path))] : []);
  const settings = settingRows(result.settings).map(([name, value]) => [name, cellText(name, value), ...place(name)]);
  const thresholds = result.settings.thresholds.map((threshold) => [
    ...thresholdCells(threshold),
    ...place(threshold.id),
  ]);
  const from = options.origin ? ['FROM'] : [];
  const blocks = [
    columns(['SETTING', 'VALUE', ...from], settings),
    thresholds.length === 0
      ? 'No threshold is in effect.'
      : columns(['SIGNAL', 'KIND', 'BELOW', 'GRACE', 'MIN RECLAIM', ...from], thresholds),
    ...(problems.length === 0 ? [] : [problems.join('\n')]),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function asJson(result: LoadResult, options: ConfigShowOptions): string {
  const problems = result.problems.map(problemJson);
  if (result.kind === 'refused') return `${JSON.stringify({ verdict: 'refused', problems }, null, 2)}\n`;
  const place = (path: string) => (options.origin ? { from: originText(result.origins.get(path)) } : {});
  const settings = Object.fromEntries(
    settingRows(result.settings).map(([name, value]) => [name, options.origin ? { value, ...place(name) } : value]),
  );
  const thresholds = result.settings.thresholds.map((threshold) => ({
    id: threshold.id,
    signal: threshold.signal,
    kind: threshold.urgency.kind,
    below: limitText(threshold.limit),
    grace: threshold.urgency.kind === 'soft' ? durationText(threshold.urgency.grace) : null,
    minReclaim: threshold.minReclaim === null ? null : limitText(threshold.minReclaim),
    ...place(threshold.id),
  }));
  return `${JSON.stringify({ verdict: 'loaded', settings, thresholds, problems }, null, 2)}\n`;
}

function problemJson({
  severity,
  code,
  source,
  line,
  column,
  path,
  rule,
  value,
  message,
}: Problem): Readonly<Record<string, unknown>> {
  return { severity, code, source, line, column, path, rule, value, message };
}

/** All settings but the maps, which the thresholds stand for, in the order of the table of keys. */
function settingRows(settings: Settings): readonly (readonly [Name, Shown])[] {
  const values = shownValues(settings);
  return KEYS.flatMap(({ name }) => (Object.hasOwn(values, name) ? [[name, values[name] ?? null] as const] : []));
}

function shownValues(settings: Settings): Partial<Readonly<Record<Name, Shown>>> {
  const { containerGC, containerLogs, periodicCollection, sampling, log } = settings;
  return {
    profile: settings.profile,
    containerRuntimeEndpoint: settings.runtimeEndpoint,
    runtimeRequestTimeout: durationText(settings.runtimeRequestTimeout),
    rootDir: settings.rootDir,
    podLogsDir: settings.podLogsDir,
    staticPodPath: settings.staticPodPath,
    podsFrom: settings.podsFrom,
    podsFromAnywhere: settings.podsFromAnywhere,
    mergeDefaultEvictionSettings: settings.mergeDefaultEvictionSettings,
    enforceNodeAllocatable: settings.enforceNodeAllocatable,
    cgroupRoot: settings.podsCgroup.root,
    cgroupDriver: settings.podsCgroup.driver,
    cgroupsPerQOS: settings.podsCgroup.perQos,
    kernelMemcgNotification: settings.kernelMemcgNotification,
    evictionPressureTransitionPeriod: durationText(settings.pressureTransitionPeriod),
    evictionMaxPodGracePeriod: settings.configuredMaxPodGraceSeconds,
    localStorageCapacityIsolation: settings.localStorageCapacityIsolation,
    lowDiskSpaceThresholdMB: settings.outOfDisk.reserve?.rootFreeMegabytes ?? null,
    outOfDiskTransitionFrequency: durationText(settings.outOfDisk.transition),
    imageGCHighThresholdPercent: settings.imageGCHighThresholdPercent,
    imageGCLowThresholdPercent: settings.imageGCLowThresholdPercent,
    imageMinimumGCAge: durationText(settings.imageMinimumGCAge),
    imageMaximumGCAge: settings.imageMaximumGCAge === null ? null : durationText(settings.imageMaximumGCAge),
    maxRemovalsPerPass: settings.maxRemovalsPerPass,
    'containerGC.minAge': durationText(containerGC.minAge),
    'containerGC.maxPerPodContainer': containerGC.maxPerPodContainer,
    'containerGC.maxContainers': containerGC.maxContainers,
    'containerGC.rules': containerGC.rules,
    containerLogLinksDir:
      settings.containerLogLinksDir.kind === 'path'
        ? settings.containerLogLinksDir.path
        : settings.containerLogLinksDir.kind,
    containerLogMaxSize: containerLogs.limits?.maxSizeBytes ?? null,
    containerLogMaxFiles: containerLogs.limits?.maxFiles ?? null,
    containerLogMaxWorkers: containerLogs.workers,
    containerLogMonitorInterval: durationText(containerLogs.monitorInterval),
    'periodicCollection.containers': periodicCollection.containers,
    'periodicCollection.images': periodicCollection.images,
    'periodicCollection.logRotation': periodicCollection.logRotation,
    afterImageCollection: settings.afterImageCollection,
    runtimeHandlerAwareImages: settings.runtimeHandlerAwareImages,
    runtimeEvents: settings.usesRuntimeEvents ? 'auto' : 'never',
    sandboxImage: settings.sandboxImage,
    protectedImages: settings.protectedImages,
    protectedImageExpressions: settings.protectedImageExpressions,
    protectedImageLabels: settings.protectedImageLabels,
    imagesKeptPerRepository: settings.imagesKeptPerRepository,
    protectedNamespaces: settings.protectedNamespaces,
    protectedPriority: settings.protectedPriority,
    protectedAnnotation: settings.protectedAnnotation,
    ownerScope: settings.ownerScope,
    stateFile: settings.stateFile,
    ballast: settings.ballast,
    evictBesideKubelet: settings.evictBesideKubelet,
    'sampling.slowest': durationText(sampling.slowest),
    'sampling.fastest': durationText(sampling.fastest),
    'sampling.assumedFillRate': sampling.assumedFillRate,
    collectWhenFullWithin:
      settings.collectWhenFullWithin === null ? null : durationText(settings.collectWhenFullWithin),
    'log.level': log.level,
    'log.format': log.format,
    'log.file': log.file,
  };
}

/** What stands for null in the table: for most settings nothing is set, for these it has a meaning. */
const UNSET: Partial<Readonly<Record<Name, string>>> = {
  containerRuntimeEndpoint: 'found by itself',
  lowDiskSpaceThresholdMB: 'no guard',
  evictionMaxPodGracePeriod: 'the own grace of each pod',
  imageMaximumGCAge: 'off',
  maxRemovalsPerPass: 'no limit',
  'containerGC.maxPerPodContainer': 'no limit',
  'containerGC.maxContainers': 'no limit',
  containerLogMaxSize: 'never rotated',
  containerLogMaxFiles: 'never rotated',
  protectedPriority: 'critical pods alone',
  protectedAnnotation: 'none',
  collectWhenFullWithin: 'off',
  stateFile: 'none',
  ballast: 'off',
  'log.file': 'standard output',
};

function cellText(name: Name, value: Shown): string {
  if (value === null) return UNSET[name] ?? 'not set';
  return Array.isArray(value) ? (value.length === 0 ? 'none' : value.join(', ')) : String(value);
}

function thresholdCells({ signal, urgency, limit, minReclaim }: Threshold): readonly string[] {
  const grace = urgency.kind === 'soft' ? durationText(urgency.grace) : '-';
  return [signal, urgency.kind, limitText(limit), grace, minReclaim === null ? '-' : limitText(minReclaim)];
}

function originText(origin: Origin | undefined): string {
  return origin === undefined ? 'default' : placeText(origin);
}

function durationText(duration: Milliseconds): string {
  return shortDuration(nanosecondsOf(duration));
}
