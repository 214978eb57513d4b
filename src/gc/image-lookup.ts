import { getOrMake } from '../units/get-or-make.js';
import { groupBy } from '../units/group-by.js';
import { bareId, fullReference, looksLikeId } from './image-reference.js';
import type { PlannedImage } from './inventory.js';

/** Which images some references mean. */
export interface Meanings {
  /** Image id → the largest number among the references that mean it. */
  readonly images: ReadonlyMap<string, number>;
  /** The references that mean no image. */
  readonly unknown: ReadonlySet<string>;
}

/**
 * Finds the images that references mean, each of which comes with a number: by id, beginning of an id, tag or digest. What a
 * reference may mean, it means: several images may share the digest of one multi-platform index, and removing one too few is
 * the safe mistake.
 *
 * The references are the index and the images walk past it, since containers name far fewer images than a node lists.
 */
export function imagesMeantBy(references: ReadonlyMap<string, number>, images: readonly PlannedImage[]): Meanings {
  const index = new ReferenceIndex(references);
  for (const image of images) index.meet(image);
  index.meetAgain(images);
  return index;
}

/** What an image can have: a name in full form, an id or a digest. */
class Trait {
  /** Of the references that mean whatever has it. */
  number = -1;
  isListed = false;
}

interface Reference {
  readonly text: string;
  readonly number: number;
  /** Whatever has one of these two is meant. */
  readonly id: Trait | null;
  readonly name: Trait | null;
}

class ReferenceIndex implements Meanings {
  readonly images = new Map<string, number>();
  readonly unknown = new Set<string>();
  readonly #references: Reference[] = [];
  readonly #traits = new Map<string, Trait>();

  constructor(references: ReadonlyMap<string, number>) {
    references.forEach((number, text) => {
      const digest = digestOf(text);
      // A bare digest names the image as well: runtimes report `sha256:…` where the reference was `name@sha256:…`.
      const id = digest ?? text;
      const isName = digest === null && !isWholeId(text);
      const hasId = !isName || !text.includes('/');
      this.#references.push({
        text,
        number,
        id: hasId ? this.#trait(idTrait(id), number) : null,
        name: isName ? this.#trait(fullReference(text), number) : null,
      });
    });
  }

  #trait(text: string, number: number): Trait {
    const trait = getOrMake(this.#traits, text, newTrait);
    trait.number = Math.max(trait.number, number);
    return trait;
  }

  /** Holds an image against whole ids, digests and names. */
  meet({ id, tags, digests }: PlannedImage): void {
    this.#meetTrait(idTrait(id), id);
    for (const tag of tags) this.#meetName(tag, id);
    for (const digest of digests) this.#meetName(digest, id);
  }

  #meetName(name: string, image: string): void {
    const digest = digestOf(name);
    this.#meetTrait(digest === null ? fullReference(name) : idTrait(digest), image);
  }

  #meetTrait(trait: string, image: string): void {
    const known = this.#traits.get(trait);
    if (known === undefined) return;
    known.isListed = true;
    this.#mean(image, known.number);
  }

  #mean(image: string, number: number): void {
    if ((this.images.get(image) ?? -1) < number) this.images.set(image, number);
  }

  /** Holds the images against what has met none of them and may yet be the beginning of an id, or mean a tag. */
  meetAgain(images: readonly PlannedImage[]): void {
    const unmet = this.#references.filter(({ id, name }) => id?.isListed !== true && name?.isListed !== true);
    for (const { text } of unmet) this.unknown.add(text);
    this.#meetBeginnings(
      this.#references.filter(({ text, id }) => id?.isListed === false && isBeginning(text)),
      images,
    );
    this.#meetTags(
      unmet.filter(({ text }) => digestOf(text) !== null),
      images,
    );
  }

  #meetBeginnings(short: readonly Reference[], images: readonly PlannedImage[]): void {
    if (short.length === 0) return;
    const byBeginning = groupBy(short, ({ text }) => bareId(text).slice(0, SHORTEST_BEGINNING));
    const meet = (id: string, image: string) => {
      const start = id.startsWith(ALGORITHM) ? ALGORITHM.length : 0;
      const alike = byBeginning.get(id.slice(start, start + SHORTEST_BEGINNING));
      if (alike === undefined) return;
      for (const { text, number } of alike) {
        if (!id.startsWith(bareId(text), start)) continue;
        this.#mean(image, number);
        this.unknown.delete(text);
      }
    };
    const meetDigest = (name: string, image: string) => {
      const digest = digestOf(name);
      if (digest !== null) meet(digest, image);
    };
    for (const { id, tags, digests } of images) {
      meet(id, id);
      for (const tag of tags) meetDigest(tag, id);
      for (const digest of digests) meetDigest(digest, id);
    }
  }

  /** `name:tag@digest` of an image that is listed by its tag alone. */
  #meetTags(withDigest: readonly Reference[], images: readonly PlannedImage[]): void {
    if (withDigest.length === 0) return;
    const byTag = groupBy(withDigest, ({ text }) => fullReference(text.slice(0, text.indexOf('@'))));
    for (const { id, tags } of images) {
      for (const tag of tags) {
        for (const { text, number } of byTag.get(fullReference(tag)) ?? []) {
          this.#mean(id, number);
          this.unknown.delete(text);
        }
      }
    }
  }
}

/** Ids come with it and without. */
const ALGORITHM = 'sha256:';
/** Fewer digits are no beginning of an id: see `looksLikeId`. */
const SHORTEST_BEGINNING = 12;
/** So many digits are a whole id, and can be no name. */
const WHOLE_ID = 64;

/** The form in which ids and digests are compared; an id that looks like a name is one. */
function idTrait(id: string): string {
  if (id.startsWith(ALGORITHM)) return id;
  return id.includes('/') ? fullReference(id) : `${ALGORITHM}${id}`;
}

function newTrait(): Trait {
  return new Trait();
}

/** Whether a text may be the beginning of an id. A whole id is no beginning of another. */
function isBeginning(text: string): boolean {
  return looksLikeId(text) && !isWholeId(text);
}

function isWholeId(reference: string): boolean {
  return looksLikeId(reference) && bareId(reference).length === WHOLE_ID;
}

/** What follows the first `@`; null when there is none. */
function digestOf(name: string): string | null {
  const at = name.indexOf('@');
  return at === -1 ? null : name.slice(at + 1);
}
