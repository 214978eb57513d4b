import { groupBy } from '../units/group-by.js';
import type { Instant } from '../units/units.js';
import { compileGlob, type LabelRule } from './image-pattern.js';
import { compilePattern, namesOf } from './image-protection.js';
import { fullReference } from './image-reference.js';
import type { PlannedImage } from './inventory.js';

/** What an operator says of images that are never removed. */
export interface ProtectionRules {
  /** Globs; see `compileProtection`. */
  readonly patterns: readonly string[];
  /** Regular expressions that passed `expressionFault`; one that fits anywhere in a name protects, unless it is anchored. */
  readonly expressions: readonly string[];
  readonly labels: readonly LabelRule[];
  /** So many of each repository stay, the newest ones, used or not; 0 = none for that. */
  readonly newestPerRepository: number;
}

/** What is known of images beside the listing. */
export interface ImageFacts {
  /** Labels of the image's own configuration; null = they cannot be told. */
  labels(id: string): Readonly<Record<string, string>> | null;
  /** When it came to this node, as far as we watch. */
  firstSeen(id: string): Instant | null;
  /** When it was built, as it says itself. */
  builtAt(id: string): Instant | null;
}

/** The rules held against one listing. */
export interface ImageProtection {
  /** Why an image stays, worded to follow "protected by"; null = no rule keeps it. */
  readonly by: (image: PlannedImage) => string | null;
  /** Rules on names and labels, as written, that fit no image. */
  unused(): readonly string[];
}

/** Whether labels or build times of images have to be asked for. */
export function needsConfigs(rules: ProtectionRules): boolean {
  return rules.labels.length > 0 || rules.newestPerRepository > 0;
}

interface Rule {
  readonly text: string;
  readonly matches: (image: PlannedImage, names: readonly string[], facts: ImageFacts) => boolean;
}

/** Compiles the rules once; what comes back holds them against a listing. */
export function compileRules(
  rules: ProtectionRules,
): (images: readonly PlannedImage[], facts: ImageFacts) => ImageProtection {
  const compiled: readonly Rule[] = [
    ...rules.patterns.map((text) => ({ text, matches: compilePattern(text) })),
    ...rules.expressions.map((text) => expressionRule(text)),
    ...rules.labels.map((rule) => labelRule(rule)),
  ];
  return (images, facts) => {
    const newest = newestOfEach(images, rules.newestPerRepository, facts);
    const whyKept = (image: PlannedImage): string | null => {
      if (compiled.length === 0) return null;
      const names = namesOf(image);
      const rule = compiled.find((each) => each.matches(image, names, facts));
      if (rule !== undefined) return rule.text;
      if (rules.labels.length > 0 && facts.labels(image.id) === null) return UNKNOWN_LABELS;
      return null;
    };
    return {
      by: (image) => whyKept(image) ?? newest.get(image.id) ?? null,
      unused: () => rulesWithout(images, compiled, facts),
    };
  };
}

/** Where labels protect and nobody tells them, the careful answer is that it has one. */
const UNKNOWN_LABELS = 'a rule on labels, as its own cannot be told';

function rulesWithout(
  images: readonly PlannedImage[],
  compiled: readonly Rule[],
  facts: ImageFacts,
): readonly string[] {
  let left = compiled;
  for (const image of images) {
    if (left.length === 0) break;
    const names = namesOf(image);
    left = left.filter((rule) => !rule.matches(image, names, facts));
  }
  return left.map((rule) => rule.text);
}

function expressionRule(text: string): Rule {
  const expression = new RegExp(text, 'u');
  return {
    text: `/${text}/`,
    matches: (_image, names) => names.some((name) => expression.test(name)),
  };
}

function labelRule({ text, key, value }: LabelRule): Rule {
  const fits = value === null ? null : compileGlob(value);
  return {
    text: `label ${text}`,
    matches: (image, _names, facts) => {
      const labels = facts.labels(image.id);
      if (labels === null || !Object.hasOwn(labels, key)) return false;
      return fits === null || fits(labels[key] ?? '');
    },
  };
}

/** Newest is what came last to this node; of what came together, or before we watched, what was built last. */
function newestOfEach(images: readonly PlannedImage[], many: number, facts: ImageFacts): ReadonlyMap<string, string> {
  if (many === 0) return new Map();
  const named = images.flatMap((image) => [...repositoriesOf(image)].map((repository) => ({ image, repository })));
  const newestFirst = (a: { image: PlannedImage }, b: { image: PlannedImage }) =>
    descending(facts.firstSeen(a.image.id), facts.firstSeen(b.image.id), Number.POSITIVE_INFINITY) ||
    descending(facts.builtAt(a.image.id), facts.builtAt(b.image.id), Number.NEGATIVE_INFINITY) ||
    (a.image.id < b.image.id ? -1 : 1);
  return new Map(
    [...groupBy(named, ({ repository }) => repository)].flatMap(([repository, group]) =>
      group
        .toSorted(newestFirst)
        .slice(0, many)
        .map(({ image }): [string, string] => [image.id, `the rule that the newest ${many} of ${repository} stay`]),
    ),
  );
}

/** What nobody recorded was seen just now; what says nothing of its making is old. */
function descending(a: Instant | null, b: Instant | null, unknown: number): number {
  // Two that are unknown are equal: the difference of two infinities is no number.
  return a === b ? 0 : (b ?? unknown) - (a ?? unknown);
}

function repositoriesOf({ tags, digests }: PlannedImage): ReadonlySet<string> {
  return new Set([...tags, ...digests].map((each) => repositoryOf(fullReference(each))));
}

/** A reference in full form without its tag and its digest. */
function repositoryOf(reference: string): string {
  const [name = ''] = reference.split('@');
  const colon = name.indexOf(':', name.lastIndexOf('/') + 1);
  return colon === -1 ? name : name.slice(0, colon);
}
