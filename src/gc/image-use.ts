import { groupBy } from '../units/group-by.js';
import { bareId, fullReference, looksLikeId } from './image-reference.js';
import type { ImageUser, PlannedImage } from './inventory.js';

/** A container whose image nobody lists: it protects nothing, and that is said. */
export interface UnresolvedReference {
  readonly reference: string;
  readonly container: string;
}

/** Which images are in use, and by what. */
export interface ImageUse {
  /** Image id → why it is in use, for people. */
  readonly users: ReadonlyMap<string, string>;
  readonly unresolved: readonly UnresolvedReference[];
}

/** What protects images beside containers. */
export interface ImageWants {
  /** The image that sandboxes run on; without it no pod starts again. */
  readonly sandboxImage: string | null;
  /** Ids or references of images mounted as volumes, with the container's id. */
  readonly volumes: readonly { readonly container: string; readonly reference: string }[];
}

/**
 * Which images are in use: by any container, running or dead, as an image volume, or as the sandbox image. An image answers
 * to its id, its tags and its digests. The question is ours alone: a runtime removes an image under a running container
 * without an error.
 */
export function imagesInUse(
  images: readonly PlannedImage[],
  containers: readonly ImageUser[],
  wants: ImageWants,
): ImageUse {
  const lookup = new ImageLookup(images);
  const users = new Map<string, string>();
  const unresolved: UnresolvedReference[] = [];
  for (const container of containers) {
    // The user's reference counts too: a tag that moved on still names what the next start will run.
    const references = [container.imageId, container.imageRef, container.image].filter((each) => each !== '');
    const found = references.flatMap((reference) => lookup.find(reference));
    for (const id of found) users.set(id, `used by container ${container.id.slice(0, 13)}`);
    const [reference] = references;
    if (found.length === 0 && reference !== undefined) unresolved.push({ reference, container: container.id });
  }
  for (const { container, reference } of wants.volumes) {
    for (const id of lookup.find(reference)) users.set(id, `mounted by container ${container.slice(0, 13)}`);
  }
  if (wants.sandboxImage !== null) {
    for (const id of lookup.find(wants.sandboxImage)) users.set(id, 'the sandbox image');
  }
  return { users, unresolved };
}

/**
 * Finds images by id, beginning of an id, tag or digest. What a reference may mean, it means: several images may share the
 * digest of one multi-platform index, and removing one too few is the safe mistake.
 */
class ImageLookup {
  readonly #ids = new Map<string, string[]>();
  readonly #names = new Map<string, string[]>();
  /** What was asked for: containers by the hundred name the same image. */
  readonly #found = new Map<string, readonly string[]>();
  /** The ids by their first digits; made when first asked for. */
  #byBeginning: ReadonlyMap<string, readonly (readonly [string, readonly string[]])[]> | null = null;

  constructor(images: readonly PlannedImage[]) {
    for (const image of images) {
      add(this.#ids, bareId(image.id), image.id);
      for (const name of [...image.tags, ...image.digests]) {
        add(this.#names, fullReference(name), image.id);
        // A bare digest names the image as well: runtimes report `sha256:…` where the reference was `name@sha256:…`.
        const digest = name.split('@')[1];
        if (digest !== undefined) add(this.#ids, bareId(digest), image.id);
      }
    }
  }

  find(reference: string): readonly string[] {
    const known = this.#found.get(reference);
    if (known !== undefined) return known;
    const found = this.#search(reference);
    this.#found.set(reference, found);
    return found;
  }

  #search(reference: string): readonly string[] {
    const [name = '', digest] = reference.split('@');
    const exact = [
      ...(this.#ids.get(bareId(digest ?? reference)) ?? []),
      ...(this.#names.get(fullReference(reference)) ?? []),
      ...(digest === undefined ? this.#beginningWith(reference) : []),
    ];
    // `name:tag@digest` of an image that is listed by its tag alone.
    return exact.length === 0 && digest !== undefined ? [...(this.#names.get(fullReference(name)) ?? [])] : exact;
  }

  #beginningWith(reference: string): readonly string[] {
    if (!looksLikeId(reference)) return [];
    const start = bareId(reference);
    if (this.#ids.has(start)) return [];
    // Containers of images that are gone ask by the hundred: to search all ids for each takes seconds on a large node.
    this.#byBeginning ??= groupBy(this.#ids, ([id]) => id.slice(0, SHORTEST_BEGINNING));
    const alike = this.#byBeginning.get(start.slice(0, SHORTEST_BEGINNING)) ?? [];
    return alike.flatMap(([id, images]) => (id.startsWith(start) ? images : []));
  }
}

/** Fewer digits are no beginning of an id: see `looksLikeId`. */
const SHORTEST_BEGINNING = 12;

/** The same image twice in a row is one; further apart, by a second entry of its id, it does no harm. */
function add(index: Map<string, string[]>, key: string, image: string): void {
  const known = index.get(key);
  if (known === undefined) index.set(key, [image]);
  else if (known.at(-1) !== image) known.push(image);
}
