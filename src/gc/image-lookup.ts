import { groupBy } from '../units/group-by.js';
import { bareId, fullReference, looksLikeId } from './image-reference.js';
import type { PlannedImage } from './inventory.js';

/**
 * The ids of the images that each reference means: by id, beginning of an id, tag or digest. What a reference may mean, it
 * means: several images may share the digest of one multi-platform index, and removing one too few is the safe mistake.
 *
 * The references are made into an index and the images walked past it, since what containers name is far less than what a
 * node lists.
 */
export function imagesMeantBy(
  references: Iterable<string>,
  images: readonly PlannedImage[],
): ReadonlyMap<string, readonly string[]> {
  const index = new ReferenceIndex();
  for (const reference of references) index.add(reference);
  for (const image of images) index.meet(image);
  index.meetBeginnings(images);
  return index.meanings();
}

/** One reference, and what it was found to mean. */
class Wanted {
  readonly reference: string;
  /** Images that have it as their id or digest, or one of its forms as a tag. */
  readonly exact: string[] = [];
  /** Images that have its tag, of a reference that names a digest as well: they count where nobody lists the digest. */
  readonly byTagAlone: string[] = [];
  isWholeId = false;

  constructor(reference: string) {
    this.reference = reference;
  }
}

class ReferenceIndex {
  readonly #all: Wanted[] = [];
  readonly #ids = new Map<string, Wanted[]>();
  readonly #tags = new Map<string, Wanted[]>();
  readonly #tagsBesideDigests = new Map<string, Wanted[]>();

  add(reference: string): void {
    const wanted = new Wanted(reference);
    this.#all.push(wanted);
    const [name = '', digest] = reference.split('@');
    // A bare digest names the image as well: runtimes report `sha256:…` where the reference was `name@sha256:…`.
    const id = bareId(digest ?? reference);
    put(this.#ids, id, wanted);
    put(this.#ids, `sha256:${id}`, wanted);
    if (digest === undefined) put(this.#tags, fullReference(reference), wanted);
    else put(this.#tagsBesideDigests, fullReference(name), wanted);
  }

  /** Holds an image against all references but for those that may be the beginning of an id. */
  meet({ id, tags, digests }: PlannedImage): void {
    this.#meetId(id, id);
    for (const tag of tags) this.#meetName(tag, id);
    for (const digest of digests) this.#meetName(digest, id);
  }

  #meetName(name: string, image: string): void {
    const at = name.indexOf('@');
    if (at === -1) {
      const full = fullReference(name);
      for (const wanted of this.#tags.get(full) ?? NOBODY) found(wanted.exact, image);
      for (const wanted of this.#tagsBesideDigests.get(full) ?? NOBODY) found(wanted.byTagAlone, image);
    } else this.#meetId(name.slice(at + 1), image);
  }

  #meetId(id: string, image: string): void {
    for (const wanted of this.#ids.get(id) ?? NOBODY) {
      wanted.isWholeId = true;
      found(wanted.exact, image);
    }
  }

  /** Holds the images against what may be the beginning of an id: what nobody has as the whole of one. */
  meetBeginnings(images: readonly PlannedImage[]): void {
    const short = this.#all.filter(({ reference, isWholeId }) => !isWholeId && isBeginning(reference));
    if (short.length === 0) return;
    const byBeginning = groupBy(short, ({ reference }) => bareId(reference).slice(0, SHORTEST_BEGINNING));
    for (const image of images) {
      for (const id of [image.id, ...digestsOf(image)]) {
        const bare = bareId(id);
        for (const wanted of byBeginning.get(bare.slice(0, SHORTEST_BEGINNING)) ?? NOBODY)
          if (bare.startsWith(bareId(wanted.reference))) found(wanted.exact, image.id);
      }
    }
  }

  meanings(): ReadonlyMap<string, readonly string[]> {
    return new Map(
      this.#all.map(({ reference, exact, byTagAlone }) => [reference, exact.length === 0 ? byTagAlone : exact]),
    );
  }
}

const NOBODY: readonly Wanted[] = [];

/** Fewer digits are no beginning of an id: see `looksLikeId`. */
const SHORTEST_BEGINNING = 12;
/** So many digits are a whole id. */
const WHOLE_ID = 64;

function isBeginning(reference: string): boolean {
  return looksLikeId(reference) && bareId(reference).length < WHOLE_ID;
}

function digestsOf({ tags, digests }: PlannedImage): readonly string[] {
  return [...tags, ...digests].flatMap((name) => name.split('@')[1] ?? []);
}

function put(index: Map<string, Wanted[]>, key: string, wanted: Wanted): void {
  const known = index.get(key);
  if (known === undefined) index.set(key, [wanted]);
  else known.push(wanted);
}

/** The same image twice in a row is one; further apart, by a second entry of its id, it does no harm. */
function found(images: string[], image: string): void {
  if (images.at(-1) !== image) images.push(image);
}
