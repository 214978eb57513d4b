import { buildSettings } from './build.js';
import { decodeFile, type FileHome } from './decode.js';
import { decodeFlags, type FlagValue } from './flags.js';
import type { KeyName } from './keys.js';
import { kubeletFaults } from './kubelet-validation.js';
import type { DecodedLayer } from './layer.js';
import { mergeLayers } from './merge.js';
import type { Origin, Problem, ProblemCode } from './problem.js';
import type { Profile, Settings } from './settings.js';
import { valueAt } from './type-tree.js';
import { readYaml, type SourceText, type YamlSource } from './yaml-source.js';

/** Where settings come from, in rising order of weight. Files come as text: reading them is the caller's work. */
export interface LoadSources {
  /** The kubelet's KubeletConfiguration. */
  readonly kubeletConfig?: SourceText;
  /** The kubelet's drop-in files (`--config-dir`), in lexical order of their names. */
  readonly kubeletDropIns?: readonly SourceText[];
  /** Our own file. */
  readonly file?: SourceText;
  /** In the order given on the command line. */
  readonly flags?: readonly FlagValue[];
}

/**
 * What loading gave. `origins` tells where each value came from, by path (`evictionHard`, `evictionHard[nodefs.available]`,
 * `containerGC.minAge`) and, for thresholds, by id. The problems of a loaded configuration are warnings.
 */
export type LoadResult =
  | {
      readonly kind: 'loaded';
      readonly settings: Settings;
      readonly origins: ReadonlyMap<string, Origin>;
      readonly problems: readonly Problem[];
    }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] };

/**
 * Loads the configuration: reads, checks and merges all sources. Pure; it never throws on bad input. Under `reclaimd` all problems
 * come at once; under `kubelet` the first error ends it, and what the kubelet only logs is a warning.
 */
export function loadSettings(sources: LoadSources): LoadResult {
  const flags = sources.flags ?? [];
  const own = sources.file === undefined ? null : readYaml(sources.file);
  const profile = profileOf(flags, own);
  const files = [
    ...(sources.kubeletConfig === undefined ? [] : [sourceOf('kubelet', readYaml(sources.kubeletConfig))]),
    ...(sources.kubeletDropIns ?? []).map((dropIn) => sourceOf('drop-in', readYaml(dropIn))),
    ...(own === null ? [] : [sourceOf('own', own)]),
  ].map(({ home, yaml }) => ({ home, yaml, decoded: decodeFile(yaml, home, profile) }));
  const fromFlags = decodeFlags(flags, profile);
  const layerOf = (home: FileHome) => files.find((file) => file.home === home)?.decoded.layer ?? new Map();
  const merged = mergeLayers(
    {
      kubelet: layerOf('kubelet'),
      dropIns: files.filter(({ home }) => home === 'drop-in').map(({ decoded }) => decoded.layer),
      own: layerOf('own'),
      flags: fromFlags.layer,
    },
    profile,
  );
  const built = buildSettings(merged.effective, profile);
  const faulted = new Set(files.flatMap(({ decoded }) => [...decoded.faulted]));
  const problems = [
    ...fromFlags.problems,
    ...files.flatMap(({ decoded }) => decoded.problems),
    ...(profile === 'kubelet' ? files.flatMap(({ yaml }) => kubeletFaults(yaml)) : []),
    ...[...merged.problems, ...built.problems].filter((problem) => !followsFrom(faulted, problem)),
  ];
  const firstError = problems.find(({ severity }) => severity === 'error');
  if (firstError === undefined) {
    return {
      kind: 'loaded',
      settings: deepFrozen(built.settings),
      origins: built.origins,
      problems: inPlaceOrder(problems),
    };
  }
  const isUnread = [...files.map(({ decoded }) => decoded), fromFlags].some(hasSyntaxError);
  if (profile === 'kubelet') return { kind: 'refused', problems: [firstError] };
  // Of a file that is not YAML nothing is known; what follows from its silence is noise.
  const told = isUnread
    ? problems.filter(({ severity, code }) => severity === 'error' && code !== 'SOFT_WITHOUT_GRACE')
    : problems;
  return { kind: 'refused', problems: inPlaceOrder(told) };
}

/** Source by source, and in each file from top to bottom, as somebody who mends it reads it. */
function inPlaceOrder(problems: readonly Problem[]): readonly Problem[] {
  const sources = [...new Set(problems.map(({ source }) => source))];
  const rank = ({ source }: Problem) => sources.indexOf(source);
  const place = ({ line, column }: Problem) => (line ?? 0) * 1e6 + (column ?? 0);
  return problems.toSorted((a, b) => rank(a) - rank(b) || place(a) - place(b));
}

function sourceOf(home: FileHome, yaml: YamlSource): { home: FileHome; yaml: YamlSource } {
  return { home, yaml };
}

function hasSyntaxError({ problems }: DecodedLayer): boolean {
  return problems.some(({ code }) => code === 'YAML_SYNTAX');
}

/** The profile decides how everything else is read, so it is looked for first. A wrong name is reported with the rest. */
function profileOf(flags: readonly FlagValue[], own: YamlSource | null): Profile {
  const flag = flags.findLast(({ name }) => name.replace(/^-+/, '') === 'profile');
  const named = flag?.value ?? (own === null || own.problems.length > 0 ? null : valueAt(own.value, ['profile']));
  return named === 'kubelet' ? 'kubelet' : 'reclaimd';
}

/** Problems that are only the echo of a map that had the wrong type and was left out. */
const ECHOES: Partial<Readonly<Record<ProblemCode, readonly KeyName[]>>> = {
  NO_DISK_THRESHOLD: ['evictionHard', 'evictionSoft'],
  RECLAIM_WITHOUT_THRESHOLD: ['evictionHard', 'evictionSoft'],
  GRACE_WITHOUT_THRESHOLD: ['evictionSoft'],
  DEFAULTS_DROPPED: ['evictionHard'],
};

function followsFrom(faulted: ReadonlySet<string>, { code, path }: Problem): boolean {
  if (faulted.has('')) return true;
  if (code === 'SOFT_WITHOUT_GRACE') {
    const grace = 'evictionSoftGracePeriod';
    return faulted.has(grace) || faulted.has(path.replace('evictionSoft', grace));
  }
  const maps = ECHOES[code] ?? [];
  return maps.some((map) => [...faulted].some((other) => other === map || other.startsWith(`${map}[`)));
}

function deepFrozen<Value>(value: Value): Value {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFrozen);
  }
  return value;
}
