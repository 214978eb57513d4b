import type { RawValue } from './key-row.js';
import { DEFAULT_EVICTION_HARD, KEYS } from './key-table.js';
import { fallbackOf, type KeyName } from './keys.js';
import type { Given, Layer, MapEntry } from './layer.js';
import { type Origin, type Problem, problemOf } from './problem.js';
import type { Profile } from './settings.js';

/** All sources, in rising order of weight. */
export interface Layers {
  readonly kubelet: Layer;
  /** The kubelet's drop-in files, in the order in which they are applied. */
  readonly dropIns: readonly Layer[];
  readonly own: Layer;
  readonly flags: Layer;
}

/** A setting that has a value, be it the default. */
export type EffectiveValue = Exclude<Given, { kind: 'nothing' }> | { readonly kind: 'unset'; readonly origin: Origin };

/** Every setting once, with its origin. */
export type Effective = ReadonlyMap<KeyName, EffectiveValue>;

const DEFAULT: Origin = { kind: 'default' };

/**
 * Lays the sources over each other: defaults, the kubelet's file and its drop-ins, our file, flags. A map replaces the whole map
 * below it, but for drop-ins, which are merge patches: they change or (null) remove single entries. What a map hides
 * is said under `reclaimd`.
 */
export function mergeLayers(layers: Layers, profile: Profile): { effective: Effective; problems: readonly Problem[] } {
  const effective = new Map<KeyName, EffectiveValue>();
  for (const row of KEYS) {
    const given =
      row.name === 'evictionHard'
        ? evictionHard(layers)
        : (said(layers.flags, row.name) ??
          said(layers.own, row.name) ??
          patched(said(layers.kubelet, row.name), layers, row.name));
    effective.set(row.name, given ?? defaultValue(fallbackOf(row, profile)));
  }
  const problems = profile === 'kubelet' ? [] : [...hiddenEntries(layers), ...droppedDefaults(layers, effective)];
  return { effective, problems };
}

type Said = Exclude<Given, { kind: 'nothing' }>;
type SaidMap = Extract<Given, { kind: 'map' }>;

/** What a layer says of a setting; a null in it says nothing. */
function said(layer: Layer, name: KeyName): Said | null {
  const given = layer.get(name);
  return given === undefined || given.kind === 'nothing' ? null : given;
}

function patched(base: Said | null, layers: Layers, name: KeyName): Said | null {
  return layers.dropIns.reduce<Said | null>((value, dropIn) => {
    const patch = dropIn.get(name);
    if (patch === undefined) return value;
    if (patch.kind === 'nothing') return null;
    return patch.kind === 'map' ? patchedMap(value, patch) : patch;
  }, base);
}

function patchedMap(base: Said | null, patch: SaidMap): SaidMap {
  const entries = new Map<string, MapEntry>(base?.kind === 'map' ? base.entries : []);
  for (const [signal, entry] of patch.entries) {
    if (entry.text === null) entries.delete(signal);
    else entries.set(signal, entry);
  }
  return { kind: 'map', entries, origin: patch.origin };
}

/**
 * The one map with defaults. They are filled in when no file gives it, and signal by signal when merging is on; drop-ins come
 * after that, so that a null in one leaves nothing. The map of a flag is filled only when a flag asks for it: the kubelet
 * applies its flags after merging.
 */
function evictionHard(layers: Layers): SaidMap {
  const merges = (layer: Layer) => isTrue(said(layer, 'mergeDefaultEvictionSettings'));
  const own = mapOf(said(layers.own, 'evictionHard'));
  const below = mapOf(said(layers.kubelet, 'evictionHard'));
  const fileMerges =
    said(layers.own, 'mergeDefaultEvictionSettings') !== null ? merges(layers.own) : merges(layers.kubelet);
  const flagMerges = merges(layers.flags);
  const flag = mapOf(said(layers.flags, 'evictionHard'));
  if (flag !== null) return flagMerges ? filled(flag) : flag;
  const fills = said(layers.flags, 'mergeDefaultEvictionSettings') !== null ? flagMerges : fileMerges;
  if (own !== null) return fills ? filled(own) : own;
  const base = below === null ? filled({ kind: 'map', entries: new Map(), origin: DEFAULT }) : below;
  const nothing: SaidMap = { kind: 'map', entries: new Map(), origin: DEFAULT };
  return mapOf(patched(fills ? filled(base) : base, layers, 'evictionHard')) ?? nothing;
}

/** The given entries first, then the defaults that they lack. */
function filled(map: SaidMap): SaidMap {
  const lacking = [...DEFAULT_EVICTION_HARD]
    .filter(([signal]) => !map.entries.has(signal))
    .map(([signal, text]): [string, MapEntry] => [signal, { text, origin: DEFAULT }]);
  return { ...map, entries: new Map([...map.entries, ...lacking]) };
}

function hiddenEntries(layers: Layers): Problem[] {
  return KEYS.filter((row) => row.type === 'map').flatMap(({ name }) => {
    const flag = mapOf(said(layers.flags, name));
    const own = mapOf(said(layers.own, name));
    const below = mapOf(patched(said(layers.kubelet, name), layers, name));
    return [
      ...(flag === null
        ? []
        : hidden(name, flag, own ?? below, 'FLAG_OVERRIDES_FILE', 'the flag replaces the whole map of the file')),
      ...(own === null
        ? []
        : hidden(name, own, below, 'FILE_OVERRIDES_FILE', 'this file replaces the whole map of the kubelet file')),
    ];
  });
}

function hidden(
  path: KeyName,
  over: SaidMap,
  under: SaidMap | null,
  code: 'FLAG_OVERRIDES_FILE' | 'FILE_OVERRIDES_FILE',
  rule: string,
): Problem[] {
  const told = [...(under?.entries ?? [])].flatMap(([signal, { text }]) => {
    const now = over.entries.get(signal)?.text;
    if (now === text) return [];
    return [now === undefined ? `${signal} ${text ?? ''} is lost` : `${signal} ${text ?? ''} becomes ${now ?? ''}`];
  });
  if (told.length === 0) return [];
  return [problemOf({ severity: 'warning', code, origin: over.origin, path, rule, value: told.join(', ') })];
}

function droppedDefaults(layers: Layers, effective: Effective): Problem[] {
  const map = effective.get('evictionHard');
  const isGiven = [layers.flags, layers.own, layers.kubelet].some((layer) => said(layer, 'evictionHard') !== null);
  if (map?.kind !== 'map' || map.entries.size === 0 || !isGiven) return [];
  const dropped = [...DEFAULT_EVICTION_HARD.keys()].filter((signal) => !map.entries.has(signal));
  if (dropped.length === 0) return [];
  return [
    problemOf({
      severity: 'warning',
      code: 'DEFAULTS_DROPPED',
      origin: map.origin,
      path: 'evictionHard',
      rule: 'signals that are not given lose their defaults unless mergeDefaultEvictionSettings is true; 0% switches one off on purpose',
      value: dropped.join(', '),
    }),
  ];
}

function defaultValue(value: RawValue): EffectiveValue {
  if (value === null) return { kind: 'unset', origin: DEFAULT };
  if (value instanceof Map) {
    const texts: ReadonlyMap<string, string> = value;
    const entries = [...texts].map(([signal, text]): [string, MapEntry] => [signal, { text, origin: DEFAULT }]);
    return { kind: 'map', entries: new Map(entries), origin: DEFAULT };
  }
  // A RawValue that is neither null nor a map; `instanceof` does not take ReadonlyMap out of the union.
  return { kind: 'value', value: value as Exclude<RawValue, null | ReadonlyMap<string, string>>, origin: DEFAULT };
}

function mapOf(given: Said | null): SaidMap | null {
  return given?.kind === 'map' ? given : null;
}

function isTrue(given: Said | null): boolean {
  return given?.kind === 'value' && given.value === true;
}
