import { FLAG_SIGNS, splitFlagMap } from '../eviction/flag-map.js';
import { nearestName } from '../eviction/nearest-name.js';
import type { EvictionMapName } from '../eviction/threshold-text.js';
import type { KeyRow } from './key-row.js';
import { KEYS } from './key-table.js';
import { FLAG_ALIASES, type KeyName } from './keys.js';
import type { DecodedLayer, Given, MapEntry } from './layer.js';
import { type Origin, type Problem, type ProblemCode, problemOf } from './problem.js';

/** A flag to register with the command line parser. Every one may be given more than once. */
export interface FlagSpec {
  /** Without dashes. */
  readonly name: string;
  /** Stands for the value in help texts; empty for a switch, whose value may be left out. */
  readonly valueHint: string;
  readonly help: string;
  /** The setting that it sets. */
  readonly key: KeyName;
  /** Whether values add up; of others the last one counts. */
  readonly adds: boolean;
  /** Another name of the flag before it; not worth a line of help. */
  readonly hidden: boolean;
}

/** A flag as given; a switch may have no value. The name is with or without dashes. */
export interface FlagValue {
  readonly name: string;
  readonly value: string | null;
}

/** All flags, one for each setting, and the other names of some. */
export const FLAGS: readonly FlagSpec[] = KEYS.flatMap((row) => {
  const spec = {
    name: row.flag,
    valueHint: row.valueHint,
    help: row.help,
    key: row.name,
    adds: row.type === 'map' || row.type === 'list',
    hidden: false,
  };
  const aliases = Object.entries(FLAG_ALIASES).filter(([, name]) => name === row.flag);
  return [spec, ...aliases.map(([name]) => ({ ...spec, name, hidden: true }))];
});

/** Splits arguments of the forms `--name=value`, `--name value` and, for switches, `--name`. */
export function splitFlags(args: readonly string[]): readonly FlagValue[] {
  const values: FlagValue[] = [];
  const rest = [...args];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const at = argument.indexOf('=');
    const name = at === -1 ? argument : argument.slice(0, at);
    const spec = specOf(name);
    if (at !== -1) values.push({ name, value: argument.slice(at + 1) });
    else values.push({ name, value: spec === null || spec.valueHint === '' ? null : (rest.shift() ?? null) });
  }
  return values;
}

/**
 * Reads flags in the order given. Maps and lists add up over repeated flags; of a signal named twice the last one wins, said
 * under `reclaimd`.
 */
export function decodeFlags(flags: readonly FlagValue[], profile: 'reclaimd' | 'kubelet'): DecodedLayer {
  const layer = new Map<KeyName, Given>();
  const problems: Problem[] = [];
  for (const { name, value } of flags) {
    const spec = specOf(name);
    const flag = `--${name.replace(/^-+/, '')}`;
    const origin: Origin = { kind: 'flag', flag };
    const tell = (severity: 'error' | 'warning', code: ProblemCode, path: string, rule: string, shown: string) =>
      problems.push(problemOf({ severity, code, origin, path, rule, value: shown }));
    const row = KEYS.find((candidate): boolean => candidate.name === spec?.key);
    if (spec === null || row === undefined) {
      tell('error', 'UNKNOWN_FLAG', '', unknownFlagRule(flag), flag);
      continue;
    }
    const text = value ?? (row.type === 'boolean' ? 'true' : null);
    const given = text === null ? null : flagValue(row, text, origin, layer.get(spec.key), tell, profile);
    if (text === null) tell('error', 'WRONG_TYPE', spec.key, 'the flag must have a value', flag);
    if (given !== null) layer.set(spec.key, given);
  }
  return { layer, problems, faulted: new Set() };
}

type Tell = (severity: 'error' | 'warning', code: ProblemCode, path: string, rule: string, shown: string) => void;

function flagValue(
  row: KeyRow,
  text: string,
  origin: Origin,
  before: Given | undefined,
  tell: Tell,
  profile: 'reclaimd' | 'kubelet',
): Given | null {
  switch (row.type) {
    case 'map':
      return isEvictionMap(row.name) ? mapValue(row.name, text, origin, before, tell, profile) : null;
    case 'list': {
      const earlier = before?.kind === 'value' && Array.isArray(before.value) ? before.value.map(String) : [];
      return {
        kind: 'value',
        value: [
          ...earlier,
          ...(row.isWholeFlag === true ? [text] : text.split(','))
            .map((item) => item.trim())
            .filter((item) => item !== ''),
        ],
        origin,
      };
    }
    case 'boolean':
      if (text === 'true' || text === 'false') return { kind: 'value', value: text === 'true', origin };
      tell('error', 'WRONG_TYPE', row.name, 'true or false belongs here', text);
      return null;
    case 'integer':
    case 'percent': {
      const number = /^[+-]?[0-9]+$/.test(text) ? Number(text) : Number.NaN;
      if (number === (number | 0)) return { kind: 'value', value: number, origin };
      tell('error', 'WRONG_TYPE', row.name, 'a whole number belongs here', text);
      return null;
    }
    case 'text':
    case 'duration':
    case 'quantity':
    case 'choice':
      return { kind: 'value', value: text, origin };
  }
}

function mapValue(
  name: EvictionMapName,
  text: string,
  origin: Origin,
  before: Given | undefined,
  tell: Tell,
  profile: 'reclaimd' | 'kubelet',
): Given {
  const entries = new Map<string, MapEntry>(before?.kind === 'map' ? before.entries : []);
  const sign = FLAG_SIGNS[name];
  for (const part of splitFlagMap(text, sign)) {
    if (part.kind === 'malformed') {
      tell('error', 'MALFORMED_PAIR', name, malformedRule(part.text, name), part.text);
      continue;
    }
    const earlier = entries.get(part.signal)?.text;
    if (typeof earlier === 'string' && profile === 'reclaimd') {
      const rule = `the signal is named twice and the last value wins, ${part.value} over ${earlier}`;
      tell('warning', 'DUPLICATE_SIGNAL', `${name}[${part.signal}]`, rule, part.value);
    }
    entries.set(part.signal, { text: part.value, origin });
  }
  return { kind: 'map', entries, origin };
}

function malformedRule(text: string, name: EvictionMapName): string {
  const sign = FLAG_SIGNS[name];
  const sample = `nodefs.available${sign}${name === 'evictionSoftGracePeriod' ? '1m30s' : '10%'}`;
  const rule = `signal and value must be joined by ${sign}, such as ${sample}`;
  if (/\\u003c|&lt;/i.test(text)) return `${rule}; an escaped < stands here instead`;
  if (/[<>=]/.test(text)) return rule;
  return sign === '<' ? `${rule}; unquoted, a shell takes < for a redirection` : rule;
}

function unknownFlagRule(flag: string): string {
  const near = nearestName(
    flag.slice(2),
    FLAGS.map(({ name }) => name),
  );
  return near === null ? 'no flag has this name' : `no flag has this name; --${near} is the nearest`;
}

function specOf(name: string): FlagSpec | null {
  const bare = name.replace(/^-+/, '');
  return FLAGS.find((spec) => spec.name === bare) ?? null;
}

function isEvictionMap(name: string): name is EvictionMapName {
  return Object.hasOwn(FLAG_SIGNS, name);
}
