import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
} from 'yaml';
import { type Origin, type Problem, problemOf } from './problem.js';
import type { Path } from './type-tree.js';

/** A file as text, with the name to use for it in messages. */
export interface SourceText {
  readonly path: string;
  readonly text: string;
}

/** A YAML file as read: its value as plain data, and where each part of it stands. */
export interface YamlSource {
  readonly file: string;
  /** Null for an empty file. Meaningless when there are problems. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Keys that stand twice in one map; the last one is in `value`. */
  readonly duplicates: readonly { readonly path: Path; readonly origin: Origin }[];
  /** Where the value (or the key) at a path stands; the nearest place above when it has none of its own. */
  originOf(path: Path, part?: 'key' | 'value'): Origin;
}

/** How many times aliases may be followed: a few kilobytes of them can stand for gigabytes. */
const MOST_ALIASES = 100;

/** Reads YAML 1.2. What is wrong comes as problems with line and column; nothing is thrown. */
export function readYaml(source: SourceText): YamlSource {
  const lines = new LineCounter();
  // Keys that stand twice are looked for below: the library would name one of them only.
  const document = parseDocument(source.text, {
    lineCounter: lines,
    uniqueKeys: false,
    merge: true,
    prettyErrors: false,
  });
  const originAt = (offset: number): Origin => {
    const { line, col } = lines.linePos(offset);
    return { kind: 'file', file: source.path, line: Math.max(1, line), column: Math.max(1, col) };
  };
  const syntax = (origin: Origin, rule: string) =>
    problemOf({
      severity: 'error',
      code: 'YAML_SYNTAX',
      origin,
      path: '',
      rule: `the file must be YAML (${rule})`,
      value: lineText(source.text, origin),
    });
  const problems = document.errors.map((error) => syntax(originAt(error.pos[0]), error.message));
  const plain = problems.length === 0 ? plainValue(document) : { value: null, fault: null };
  return {
    file: source.path,
    value: plain.value,
    problems: plain.fault === null ? problems : [syntax(originAt(0), plain.fault)],
    duplicates: problems.length === 0 ? duplicatesIn(document, originAt) : [],
    originOf: (path, part = 'value') => originAt(offsetOf(document, path, part)),
  };
}

function plainValue(document: Document.Parsed): { value: unknown; fault: string | null } {
  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES });
    return { value: value ?? null, fault: null };
  } catch (error) {
    // The library throws when an alias leads nowhere or aliases multiply.
    return { value: null, fault: error instanceof Error ? error.message : String(error) };
  }
}

function duplicatesIn(
  document: Document.Parsed,
  originAt: (offset: number) => Origin,
): { path: Path; origin: Origin }[] {
  const found: { path: Path; origin: Origin }[] = [];
  visit(document, {
    Map: (_, map, ancestors) => {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const name = keyText(key);
        if (name === null || name === '<<') continue;
        if (seen.has(name)) found.push({ path: [...pathOf(ancestors), name], origin: originAt(startOf(key) ?? 0) });
        seen.add(name);
      }
    },
  });
  return found;
}

function pathOf(ancestors: readonly unknown[]): Path {
  return ancestors.flatMap((node, index): Path => {
    if (isPair(node)) return [keyText(node.key) ?? ''];
    const child = ancestors[index + 1];
    return isCollection(node) && !isMap(node) && child !== undefined ? [node.items.indexOf(child)] : [];
  });
}

function offsetOf(document: Document.Parsed, path: Path, part: 'key' | 'value'): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [depth, key] of path.entries()) {
    const inner: unknown = isAlias(node) ? node.resolve(document) : node;
    if (isMap(inner)) {
      const pair = inner.items.findLast((item) => keyText(item.key) === String(key));
      if (pair === undefined) return offset;
      const atKey = part === 'key' && depth === path.length - 1;
      const keyOffset = startOf(pair.key) ?? offset;
      node = pair.value;
      // A key with nothing behind it has an empty value that stands somewhere after it: the key is the better place.
      offset = atKey || isEmpty(node) || isCollection(node) ? keyOffset : (startOf(node) ?? keyOffset);
    } else if (isCollection(inner)) {
      node = inner.items[Number(key)];
      offset = startOf(node) ?? offset;
    } else {
      return offset;
    }
  }
  return offset;
}

function keyText(key: unknown): string | null {
  return isScalar(key) ? String(key.value) : null;
}

function startOf(node: unknown): number | null {
  return isNode(node) ? (node.range?.[0] ?? null) : null;
}

function isEmpty(node: unknown): boolean {
  return isScalar(node) && node.value === null && node.source === '';
}

function lineText(text: string, origin: Origin): string {
  return origin.kind === 'file' ? (text.split('\n')[origin.line - 1] ?? '').trim() : '';
}
