import type { GcEvent } from '../gc/gc-event.js';
import type { PlannedImage } from '../gc/inventory.js';
import type { ImagePlanInput } from '../gc/plan-images.js';
import { compileRules, type ImageProtection, needsConfigs, type ProtectionRules } from '../gc/protection-rules.js';
import type { ImageConfig, ImageConfigsPort } from '../ports/image-configs.js';
import type { ImageRecord } from '../ports/runtime.js';
import { type Bytes, bytes, elapsed, type Instant, milliseconds } from '../units/units.js';
import { forEachBounded } from './image-volumes.js';
import { toError } from './removal.js';

/** Questions under way at a time. */
const CONCURRENCY = 8;
/** Periodic runs come every five minutes, passes under pressure within ten seconds: a pause this long was an end. */
const HELD_LASTS = milliseconds(10 * 60_000);

/** Images that are kept by rules, and what the runtime lists for them. */
interface Held {
  readonly images: number;
  readonly claimed: Bytes;
}

/**
 * Holds the operator's rules against the images that are listed. What an image says of itself never changes, so each is asked
 * once in its life, and none where no rule needs it.
 */
export class ImageProtector {
  readonly #compiled: ReturnType<typeof compileRules>;
  readonly #asks: ImageConfigsPort | null;
  /** Null = asked, and the runtime tells none. */
  readonly #configs = new Map<string, ImageConfig | null>();
  /** Rules that fit no image and were told so; one that fits again is news when it does not. */
  #told: ReadonlySet<string> = new Set();
  #heldAt: Instant | null = null;

  constructor(rules: ProtectionRules, configs: ImageConfigsPort | null = null) {
    this.#compiled = compileRules(rules);
    this.#asks = needsConfigs(rules) ? configs : null;
  }

  /** What the rules say of these images. `firstSeen` is what is remembered of when each came. */
  async over(
    images: readonly ImageRecord[],
    firstSeen: (id: string) => Instant | null,
    signal: AbortSignal,
  ): Promise<ImageProtection> {
    if (this.#asks !== null) await this.#learn(images, this.#asks, signal);
    return this.#compiled(images, {
      firstSeen,
      labels: (id) => this.#configs.get(id)?.labels ?? null,
      builtAt: (id) => this.#configs.get(id)?.builtAt ?? null,
    });
  }

  /** The rules that fit no image, as written, which were not told before. */
  newlyUnused(protection: ImageProtection): readonly string[] {
    const unused = protection.unused();
    const news = unused.filter((each) => !this.#told.has(each));
    this.#told = new Set(unused);
    return news;
  }

  /**
   * The images that rules alone keep while a target is missed, counted; null where that is no news: it is told when it begins,
   * and again when the last collection that missed its target was long before.
   */
  newlyHeld(held: readonly Pick<PlannedImage, 'size'>[], isMissed: boolean, now: Instant): Held | null {
    const before = this.#heldAt;
    this.#heldAt = isMissed && held.length > 0 ? now : null;
    if (this.#heldAt === null || (before !== null && elapsed(before, now) < HELD_LASTS)) return null;
    return { images: held.length, claimed: bytes(held.reduce((sum, each) => sum + each.size, 0)) };
  }

  /** An image that cannot be asked stays unknown, and is asked again the next time: the rules keep it meanwhile. */
  async #learn(images: readonly ImageRecord[], configs: ImageConfigsPort, signal: AbortSignal): Promise<void> {
    const listed = new Set(images.map((each) => each.id));
    for (const id of this.#configs.keys()) if (!listed.has(id)) this.#configs.delete(id);
    const unasked = [...listed].filter((id) => !this.#configs.has(id));
    await forEachBounded(unasked, CONCURRENCY, async (id) => {
      const config = await configs.imageConfig(id, signal).catch(toError);
      if (!(config instanceof Error)) this.#configs.set(id, config);
    });
  }
}

/** The ids that the rules keep, for a periodic run, which also tells the rules that fit nothing. No protector = no rules. */
export async function* keptByRules(
  protector: ImageProtector | undefined,
  images: readonly ImageRecord[],
  firstSeen: (id: string) => Instant | null,
  at: Instant,
  signal: AbortSignal,
): AsyncGenerator<GcEvent, ReadonlySet<string>> {
  if (protector === undefined) return new Set();
  const protection = await protector.over(images, firstSeen, signal);
  for (const pattern of protector.newlyUnused(protection)) yield { kind: 'protect-pattern-unused', at, pattern };
  return new Set(images.filter((each) => protection.by(each) !== null).map((each) => each.id));
}

/** When images came, by what is remembered of them. */
export function firstSeenIn(history: ImagePlanInput['history']): (id: string) => Instant | null {
  return (id) => history.get(id)?.firstDetected ?? null;
}

/** Rules on names alone. */
export function namesOnly(patterns: readonly string[]): ProtectionRules {
  return { patterns, expressions: [], labels: [], newestPerRepository: 0 };
}
