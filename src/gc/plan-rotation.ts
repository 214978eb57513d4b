import type { Instant } from '../units/units.js';

const COMPRESSED = '.gz';
const TEMPORARY = '.tmp';

/** What a clean-up before a rotation does. Names are in the directory of the log. */
export interface RotationPlan {
  /** Left behind by a compression that broke off, or compressed already. Go first. */
  readonly unused: readonly string[];
  /** Beyond what is kept, oldest first. */
  readonly excess: readonly string[];
  /** To be compressed, oldest first. */
  readonly toCompress: readonly string[];
  /** What is left of the rotated files, oldest first, by their names before compression. */
  readonly kept: readonly string[];
}

/**
 * Plans the clean-up of a log's rotated files before it is rotated once more. Room is left for the file that is about to be
 * rotated and for the current one, so `maxFiles` - 2 stay. Mirrors `rotateLog` up to the rename.
 */
export function planRotation(siblings: readonly string[], maxFiles: number): RotationPlan {
  const { unused, inUse } = splitUnused(siblings);
  const { excess, kept } = splitExcess(inUse, maxFiles);
  return { unused, excess, kept, toCompress: kept.filter((each) => !isCompressed(each)) };
}

/** The rotated files of a log among the names of its directory; the log itself is none. */
export function rotatedSiblings(log: string, names: readonly string[]): readonly string[] {
  return names.filter((each) => each.startsWith(`${log}.`));
}

/** Tells temporary files, and plain ones whose compressed twin is there, from those that hold lines. Order is kept. */
export function splitUnused(names: readonly string[]): {
  readonly unused: readonly string[];
  readonly inUse: readonly string[];
} {
  const all = new Set(names);
  const isUnused = (name: string) =>
    name.endsWith(TEMPORARY) || (!isCompressed(name) && all.has(`${name}${COMPRESSED}`));
  return { unused: names.filter(isUnused), inUse: names.filter((each) => !isUnused(each)) };
}

/** Splits off the oldest beyond what a rotation leaves. Names carry their time, so their order is their age. */
export function splitExcess(
  names: readonly string[],
  maxFiles: number,
): { readonly excess: readonly string[]; readonly kept: readonly string[] } {
  const oldestFirst = names.toSorted(byText);
  const excess = Math.max(0, oldestFirst.length - Math.max(0, maxFiles - 2));
  return { excess: oldestFirst.slice(0, excess), kept: oldestFirst.slice(excess) };
}

/** All files of a log that hold lines, oldest first, the current one last. */
export function logsInReadingOrder(log: string, names: readonly string[]): readonly string[] {
  return [...splitUnused(rotatedSiblings(log, names)).inUse.toSorted(byText), log];
}

/** Name of the compressed file, and of what it is called until it is whole. */
export function compressedNames(name: string): { readonly compressed: string; readonly temporary: string } {
  return { compressed: `${name}${COMPRESSED}`, temporary: `${name}${TEMPORARY}` };
}

/** Names that other programs made sort behind every time; they are no reason to give up ours. */
const OUR_TIME = /^\.[0-9]{8}-[0-9]{6}(?<counts>(?:_[0-9]{6})*)$/;
const LAST_COUNT = 999_999;

/**
 * The name under which the current log is kept: `log.<yyyyMMdd-HHmmss>`. Where that would not sort behind every rotated file
 * of the log (a second rotation within the second, a clock set back, the hour that summer time repeats) a count is added to
 * the newest name, so that no file takes another's name and the order of the names stays the order of the lines. The kubelet
 * loses a file there.
 */
export function rotatedName(log: string, stamp: string, siblings: readonly string[]): string {
  const wanted = `${log}.${stamp}`;
  const taken = siblings
    .map((each) => withoutEnding(each))
    .filter((each) => OUR_TIME.test(each.slice(log.length)) && isPlausible(each.slice(log.length + 1), stamp));
  const newest = taken.toSorted(byText).at(-1);
  return newest === undefined || newest < wanted ? wanted : withNextCount(newest);
}

/** Local time as the names of rotated logs carry it. */
export function logStamp(at: Instant): string {
  const time = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  const date = `${String(time.getFullYear()).padStart(4, '0')}${two(time.getMonth() + 1)}${two(time.getDate())}`;
  return `${date}-${two(time.getHours())}${two(time.getMinutes())}${two(time.getSeconds())}`;
}

/** A name that says a month 99 is no time: it is left where it is. */
function isPlausible(time: string, stamp: string): boolean {
  return time.slice(0, stamp.length) <= stamp || /^[0-9]{4}(0[1-9]|1[0-2])/.test(time);
}

/** The underscore sorts behind the point of `.gz`, so a counted name comes after the name it counts on, compressed or not. */
function withNextCount(name: string): string {
  const count = /_(?<count>[0-9]{6})$/.exec(name)?.groups?.['count'];
  if (count === undefined || Number(count) === LAST_COUNT) return `${name}_000001`;
  return `${name.slice(0, -count.length)}${String(Number(count) + 1).padStart(count.length, '0')}`;
}

function withoutEnding(name: string): string {
  return name.endsWith(COMPRESSED) || name.endsWith(TEMPORARY) ? name.slice(0, -COMPRESSED.length) : name;
}

function isCompressed(name: string): boolean {
  return name.endsWith(COMPRESSED);
}

/** By code unit: the names are ASCII where it matters, and the order must not depend on a locale. */
function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
