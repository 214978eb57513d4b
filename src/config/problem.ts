import type { ThresholdCode } from '../eviction/threshold-text.js';

/** Everything that can be said about a configuration when it is loaded. Each code has one meaning, told in `config/README.md`. */
export type ProblemCode =
  | ThresholdCode
  | 'BAD_EXPRESSION'
  | 'BAD_VALUE'
  | 'DEFAULTS_DROPPED'
  | 'DUPLICATE_KEY'
  | 'DUPLICATE_SIGNAL'
  | 'FILE_OVERRIDES_FILE'
  | 'FLAG_OVERRIDES_FILE'
  | 'GC_LOW_NOT_BELOW_HIGH'
  | 'MALFORMED_PAIR'
  | 'MAX_AGE_NOT_ABOVE_MIN_AGE'
  | 'NEGATIVE_GRACE'
  | 'NO_DISK_THRESHOLD'
  | 'PATTERN_NEVER_FITS'
  | 'SOFT_EVICTION_KILLS'
  | 'UNKNOWN_FIELD'
  | 'UNKNOWN_FLAG'
  | 'WRONG_KIND'
  | 'WRONG_TYPE'
  | 'YAML_SYNTAX'
  | 'ZERO_MEANS_DEFAULT';

/** Where a value came from. Lines and columns count from 1. */
export type Origin =
  | { readonly kind: 'default' }
  | { readonly kind: 'file'; readonly file: string; readonly line: number; readonly column: number }
  | { readonly kind: 'flag'; readonly flag: string };

/** One thing that is wrong (`error`: the start is refused) or doubtful (`warning`). */
export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly code: ProblemCode;
  /** The file as it was named, or the flag; `default` where only a default is involved. */
  readonly source: string;
  /** From 1; null when the source is no file. */
  readonly line: number | null;
  readonly column: number | null;
  /** The key, such as `evictionHard` or `evictionHard[nodefs.available]`; empty for a whole file or flag. */
  readonly path: string;
  /** The rule that is broken, worded to follow "as". */
  readonly rule: string;
  /** The offending value as written. */
  readonly value: string;
  /** The whole sentence: `FILE:LINE:COLUMN: key: Cannot use this value as RULE: VALUE`. */
  readonly message: string;
}

/** What a problem is made from; the rest follows. */
export interface ProblemFacts {
  readonly severity: 'error' | 'warning';
  readonly code: ProblemCode;
  readonly origin: Origin;
  readonly path: string;
  readonly rule: string;
  readonly value: string;
}

/** Completes a problem with its place and its sentence. */
export function problemOf(facts: ProblemFacts): Problem {
  const { severity, code, origin, path, rule, value } = facts;
  const verdict = severity === 'error' ? 'Cannot use this' : 'Doubtful';
  const key = path === '' ? '' : `${path}: `;
  return {
    severity,
    code,
    source: sourceOf(origin),
    line: origin.kind === 'file' ? origin.line : null,
    column: origin.kind === 'file' ? origin.column : null,
    path,
    rule,
    value,
    message: `${placeText(origin)}: ${key}${verdict} as ${rule}: ${shown(value)}`,
  };
}

/** Of a value; the place tells where to find the rest. */
const CHARACTERS_SHOWN = 200;

/** A value on one line of a terminal: what a binary file holds must not reach it as it is. */
function shown(value: string): string {
  const cut = value.length > CHARACTERS_SHOWN ? `${value.slice(0, CHARACTERS_SHOWN)}…` : value;
  return cut.replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1));
}

/** A place as text: `default`, `FILE:LINE:COLUMN` or `--flag`. */
export function placeText(origin: Origin): string {
  return origin.kind === 'file' ? `${origin.file}:${origin.line}:${origin.column}` : sourceOf(origin);
}

function sourceOf(origin: Origin): string {
  switch (origin.kind) {
    case 'default':
      return 'default';
    case 'file':
      return origin.file;
    case 'flag':
      return origin.flag;
  }
}
