import { imagesMeantBy } from '../gc/image-lookup.js';
import type { ImageUse, UnresolvedReference } from '../gc/image-use.js';
import type { WantedImage } from '../ports/pods.js';
import { type ImageRecord, RuntimeError, type RuntimeErrorKind, type RuntimePort } from '../ports/runtime.js';
import { forEachBounded } from './image-volumes.js';
import { toError } from './removal.js';

/** What telling claims needs from the world. */
export interface ImageClaimsDeps {
  readonly runtime: Pick<RuntimePort, 'imageStatus'>;
  /** The images that pods want which have not finished; absent where nobody knows them. */
  wanted?(signal: AbortSignal): Promise<readonly WantedImage[]>;
}

/** Questions under way at a time. */
const CONCURRENCY = 8;
/** After these nobody knows what the runtime would have said; all others mean that no image answers. */
const NO_ANSWER: ReadonlySet<RuntimeErrorKind> = new Set(['unavailable', 'deadline', 'cancelled', 'too-large']);

/** Who else has a claim on images: pods that want them, and containers whose reference only the runtime can resolve. */
export class ImageClaims {
  readonly #deps: ImageClaimsDeps;
  /** References that no listed image answers to → what the runtime resolved them to; null = nothing. */
  readonly #resolved = new Map<string, string | null>();
  #listed: ReadonlySet<string> = new Set();
  #told: ReadonlySet<string> = new Set();

  constructor(deps: ImageClaimsDeps) {
    this.#deps = deps;
  }

  /**
   * Adds to what containers use. A reference that no listing answers to is asked for once, and again when other images are there:
   * what still resolves to nothing protects nothing. Rejects when the runtime does not answer: then nobody knows what is in use.
   */
  async complete(use: ImageUse, images: readonly ImageRecord[], signal: AbortSignal): Promise<ImageUse> {
    const wanted = (await this.#deps.wanted?.(signal)) ?? [];
    await this.#resolve(use.unresolved, images, signal);
    const byReference = use.unresolved.flatMap(({ reference, container }): [string, string][] => {
      const id = this.#resolved.get(reference) ?? null;
      return id === null ? [] : [[id, `used by container ${container.slice(0, 13)}`]];
    });
    const others = [...wantedBy(wanted, images), ...byReference];
    return {
      users: others.length === 0 ? use.users : new Map([...others, ...use.users]),
      unresolved: use.unresolved.filter(({ reference }) => (this.#resolved.get(reference) ?? null) === null),
    };
  }

  /** The references that resolve to nothing and were not told before; what resolves again is news when it does not. */
  newlyUnresolved({ unresolved }: ImageUse): readonly UnresolvedReference[] {
    const before = this.#told;
    this.#told = new Set(unresolved.map(nameOf));
    return unresolved.filter((each) => !before.has(nameOf(each)));
  }

  async #resolve(
    unresolved: readonly UnresolvedReference[],
    images: readonly ImageRecord[],
    signal: AbortSignal,
  ): Promise<void> {
    const references = new Set(unresolved.map((each) => each.reference));
    for (const reference of this.#resolved.keys()) if (!references.has(reference)) this.#resolved.delete(reference);
    if (references.size === 0) return;
    const areNew = images.some(({ id }) => !this.#listed.has(id));
    if (areNew) this.#resolved.clear();
    if (areNew || images.length !== this.#listed.size) this.#listed = new Set(images.map((each) => each.id));
    const unasked = [...references].filter((each) => !this.#resolved.has(each));
    await forEachBounded(unasked, CONCURRENCY, async (reference) => {
      const found = await this.#deps.runtime.imageStatus(reference, signal).catch(toError);
      if (found instanceof Error && !(found instanceof RuntimeError && !NO_ANSWER.has(found.kind))) throw found;
      this.#resolved.set(reference, found instanceof Error || found === null ? null : found.id);
    });
  }
}

function nameOf({ container, reference }: UnresolvedReference): string {
  return `${container} ${reference}`;
}

function wantedBy(wanted: readonly WantedImage[], images: readonly ImageRecord[]): readonly [string, string][] {
  if (wanted.length === 0) return [];
  const byReference = new Map(wanted.map(({ reference }, index) => [reference, index]));
  return [...imagesMeantBy(byReference, images).images].map(([id, index]) => [
    id,
    `wanted by pod ${wanted[index]?.pod ?? ''}`,
  ]);
}
