import { type Document, isNode, LineCounter, parseAllDocuments } from 'yaml';
import { shown, type ValueMap, type ValuePath, valueOf } from './value-reader.js';

/** A manifest's text as plain data; or the line where it stops being YAML, and why. Lines count from 1. */
export type ManifestText =
  | {
      readonly kind: 'read';
      readonly value: unknown;
      /** The line of the value at a path; that of the nearest one above it when it has none of its own. */
      lineOf(path: ValuePath): number;
    }
  | { readonly kind: 'refused'; readonly line: number; readonly message: string };

/** How often aliases may be followed: a few kilobytes of them can stand for gigabytes. */
const MOST_ALIASES = 100;

/** Reads the first YAML document of a text, as the kubelet does; JSON is YAML. Never throws. */
export function readManifestText(text: string): ManifestText {
  const lines = new LineCounter();
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line);
  try {
    const documents = parseAllDocuments(text, {
      lineCounter: lines,
      uniqueKeys: false,
      merge: true,
      prettyErrors: false,
    });
    const [document] = documents;
    if (document === undefined) return { kind: 'refused', line: 1, message: 'the file must hold a pod' };
    const [error] = document.errors;
    if (error !== undefined) {
      return {
        kind: 'refused',
        line: lineAt(error.pos[0]),
        message: `the file must be YAML or JSON (${shown(error.message)})`,
      };
    }
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES });
    return { kind: 'read', value, lineOf: (path) => lineAt(offsetOf(document, path)) };
  } catch (error) {
    // The library throws when an alias leads nowhere, when aliases multiply, and when the nesting is deeper than the stack.
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'refused', line: 1, message: `the file must be YAML or JSON (${shown(why)})` };
  }
}

/** What a document says it is, such as `v1 Pod`. */
export function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'no map';
  // A map of a document that nothing is known about yet.
  const map = value as ValueMap;
  return `${shown(valueOf(map, 'apiVersion'))} ${shown(valueOf(map, 'kind'))}`;
}

function offsetOf(document: Document, path: ValuePath): number {
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node: unknown = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range !== null && node.range !== undefined) return node.range[0];
  }
  return 0;
}
