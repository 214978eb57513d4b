import type { Instant } from '../units/units.js';

/** What an image's own configuration says, as far as the runtime tells it. It never changes: the id is its digest. */
export interface ImageConfig {
  readonly labels: Readonly<Record<string, string>>;
  /** When it was built, as it says itself; null = it does not say. */
  readonly builtAt: Instant | null;
  /** Digests of the unpacked layers (`diff_ids`), the lowest first. */
  readonly layers: readonly string[];
}

/** Tells the configuration of images (verbose `ImageStatus`). */
export interface ImageConfigsPort {
  /** Null when the image is gone, or the runtime tells no configuration. Rejects with a `RuntimeError` as all calls do. */
  imageConfig(id: string, signal?: AbortSignal): Promise<ImageConfig | null>;
}
