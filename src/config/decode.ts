import { durationAdvice } from '../eviction/limit-advice.js';
import { nearestName } from '../eviction/nearest-name.js';
import { ALL_SIGNALS } from '../eviction/signal.js';
import { fileTree } from './file-tree.js';
import { KEYS } from './key-table.js';
import { KEY_ALIASES, type KeyName, keyRow } from './keys.js';
import type { DecodedLayer, Given, MapEntry } from './layer.js';
import { type Problem, type ProblemCode, problemOf } from './problem.js';
import { typeAdvice, valueText } from './type-advice.js';
import { type Path, typeFaults, unknownKeys, valueAt } from './type-tree.js';
import type { YamlSource } from './yaml-source.js';

/** Whose file it is: ours, the kubelet's main one, or one of its drop-ins, in which a null takes away. */
export type FileHome = 'own' | 'kubelet' | 'drop-in';

const KIND = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' } as const;

/**
 * Checks the keys and types of a file and takes its settings out. Under `reclaimd` unknown and repeated keys are errors; the
 * kubelet decodes leniently and only logs them.
 */
export function decodeFile(source: YamlSource, home: FileHome, profile: 'reclaimd' | 'kubelet'): DecodedLayer {
  if (source.problems.length > 0) return { layer: new Map(), problems: source.problems, faulted: new Set() };
  const tree = fileTree(home === 'own' ? 'own' : 'kubelet', profile);
  const lenient = profile === 'kubelet' ? 'warning' : 'error';
  const faults = typeFaults(tree, source.value);
  const tell = (
    severity: 'error' | 'warning',
    code: ProblemCode,
    path: Path,
    rule: string,
    part: 'key' | 'value' = 'value',
  ) =>
    problemOf({
      severity,
      code,
      origin: source.originOf(path, part),
      path: pathText(path),
      rule,
      value: part === 'key' ? String(path.at(-1)) : valueText(valueAt(source.value, path)),
    });
  const problems: Problem[] = [
    ...source.duplicates.map(({ path, origin }) =>
      problemOf({
        severity: lenient,
        code: 'DUPLICATE_KEY',
        origin,
        path: pathText(path),
        rule: 'a key must stand only once in a map',
        value: String(path.at(-1)),
      }),
    ),
    ...unknownKeys(tree, source.value).map(({ path, known }) =>
      tell(lenient, 'UNKNOWN_FIELD', path, unknownKeyRule(path, known, home), 'key'),
    ),
    ...faults.map(({ path, type, value }) => tell('error', 'WRONG_TYPE', path, typeAdvice(path, type, value))),
    ...kindProblems(source, tell),
    ...aliasProblems(source, tell),
  ];
  const faulted = new Set(faults.map(({ path }) => pathText(path)));
  const layer = new Map<KeyName, Given>();
  for (const row of KEYS) {
    const path = pathOfKey(row.name, source.value);
    const value = path === null ? undefined : valueAt(source.value, path);
    if (path === null || value === undefined || faulted.has(pathText(path)) || faulted.has('')) continue;
    if (value === null && row.type === 'duration' && home !== 'drop-in') {
      problems.push(tell('error', 'BAD_DURATION', path, durationAdvice('')));
      continue;
    }
    layer.set(row.name, givenOf(source, path, value, faulted));
  }
  return { layer, problems, faulted };
}

/** A path as it is written in messages: `evictionHard[nodefs.available]`, `containerGC.minAge`, `protectedImages[0]`. */
export function pathText(path: Path): string {
  const [first, ...rest] = path;
  if (first === undefined) return '';
  const isMap = keyRow(String(first))?.type === 'map';
  return rest.reduce<string>(
    (text, key) => (isMap || typeof key === 'number' ? `${text}[${key}]` : `${text}.${key}`),
    String(first),
  );
}

function givenOf(source: YamlSource, path: Path, value: unknown, faulted: ReadonlySet<string>): Given {
  const origin = source.originOf(path);
  if (value === null) return { kind: 'nothing', origin };
  if (Array.isArray(value)) return { kind: 'value', value: value.map(String), origin };
  if (typeof value === 'object') {
    const entries = Object.entries(value)
      .filter(
        ([signal, text]) => !faulted.has(pathText([...path, signal])) && (text === null || typeof text === 'string'),
      )
      .map(([signal, text]): [string, MapEntry] => [
        signal,
        { text: typeof text === 'string' ? text : null, origin: source.originOf([...path, signal]) },
      ]);
    return { kind: 'map', entries: new Map(entries), origin };
  }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return { kind: 'value', value, origin };
  }
  throw new TypeError(`Cannot take a setting as its type was checked before: ${typeof value}`);
}

type Tell = (
  severity: 'error' | 'warning',
  code: ProblemCode,
  path: Path,
  rule: string,
  part?: 'key' | 'value',
) => Problem;

function kindProblems(source: YamlSource, tell: Tell): Problem[] {
  return (['apiVersion', 'kind'] as const)
    .filter((key) => {
      const value = valueAt(source.value, [key]);
      return typeof value === 'string' && value !== KIND[key];
    })
    .map((key) => tell('error', 'WRONG_KIND', [key], `the only ${key} known is ${KIND[key]}`));
}

function aliasProblems(source: YamlSource, tell: Tell): Problem[] {
  return Object.entries(KEY_ALIASES)
    .filter(([alias, name]) => [alias, name].every((key) => valueAt(source.value, [key]) !== undefined))
    .map(([alias, name]) =>
      tell('error', 'DUPLICATE_KEY', [alias], `it is another name of ${name}, and one of them must do`, 'key'),
    );
}

/** Where the value of a setting stands in a file; null when it does not. */
function pathOfKey(name: KeyName, value: unknown): Path | null {
  const aliases = Object.entries(KEY_ALIASES).flatMap(([alias, target]) => (target === name ? [[alias]] : []));
  return [name.split('.'), ...aliases].find((path) => valueAt(value, path) !== undefined) ?? null;
}

function unknownKeyRule(path: Path, known: readonly string[], home: FileHome): string {
  const key = String(path.at(-1));
  const whose =
    home === 'own' ? 'the configuration has no key of this name' : 'a KubeletConfiguration has no key of this name';
  if (path.length === 1 && nearestName(key, ALL_SIGNALS) !== null) {
    return `${whose}; a signal belongs under evictionHard`;
  }
  const near = nearestName(key, known);
  if (near !== null) return `${whose}; ${near} is the nearest`;
  const own = path.length === 1 && home !== 'own' && KEYS.some((row) => row.name.split('.')[0] === key);
  return own ? `${whose}; it belongs in the configuration file of reclaimd` : whose;
}
