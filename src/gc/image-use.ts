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
  readonly #ids = new Map<string, Set<string>>();
  readonly #names = new Map<string, Set<string>>();
  /** The ids sorted; made when first asked for. */
  #inOrder: readonly (readonly [string, ReadonlySet<string>])[] | null = null;

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
    // Containers of images that are gone ask by the hundred: in order, ids of one beginning stand together.
    this.#inOrder ??= [...this.#ids].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const found: string[] = [];
    for (let at = firstFrom(this.#inOrder, start); at < this.#inOrder.length; at += 1) {
      const entry = this.#inOrder[at];
      if (entry?.[0].startsWith(start) !== true) break;
      found.push(...entry[1]);
    }
    return found;
  }
}

/** The place of the first id that does not sort before `start`. */
function firstFrom(inOrder: readonly (readonly [string, unknown])[], start: string): number {
  let low = 0;
  let high = inOrder.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((inOrder[middle]?.[0] ?? '') < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

function add(index: Map<string, Set<string>>, key: string, image: string): void {
  const known = index.get(key);
  if (known === undefined) index.set(key, new Set([image]));
  else known.add(image);
}
