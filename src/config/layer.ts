import type { KeyName } from './keys.js';
import type { Origin, Problem } from './problem.js';

/** One entry of a map with its place. A null text is a key with nothing behind it. */
export interface MapEntry {
  readonly text: string | null;
  readonly origin: Origin;
}

/** A setting as one source gives it. `nothing` is a key that says null. */
export type Given =
  | { readonly kind: 'value'; readonly value: string | number | boolean | readonly string[]; readonly origin: Origin }
  | { readonly kind: 'map'; readonly entries: ReadonlyMap<string, MapEntry>; readonly origin: Origin }
  | { readonly kind: 'nothing'; readonly origin: Origin };

/** All that one source says. */
export type Layer = ReadonlyMap<KeyName, Given>;

/** A source after its types were checked. */
export interface DecodedLayer {
  readonly layer: Layer;
  readonly problems: readonly Problem[];
  /** Paths whose value had the wrong type and was left out: what follows from their absence is not worth a word. */
  readonly faulted: ReadonlySet<string>;
}
