/** What a key holds. A `map` is one from signal to text; `choice` and `list` hold words. */
export type KeyType = 'text' | 'boolean' | 'integer' | 'percent' | 'duration' | 'quantity' | 'list' | 'map' | 'choice';

/** A value as it stands in YAML, after its type was checked. Map entries keep their order. */
export type RawValue = string | number | boolean | null | readonly string[] | ReadonlyMap<string, string>;

/** One setting: where it may stand, what it holds, what it is when nobody says, and why. */
export interface KeyRow {
  /** Name in a file; a dot means that it stands in a map of that name. */
  readonly name: string;
  readonly type: KeyType;
  /** `kubelet`: a key of a KubeletConfiguration too. `own`: known to our own file and flags only. */
  readonly home: 'kubelet' | 'own';
  /** The flag that sets it, without dashes. */
  readonly flag: string;
  /** Stands for the value in help texts; empty for a switch. */
  readonly valueHint: string;
  readonly unit: string;
  /** What holds when nobody says; null = nothing is set. */
  readonly fallback: RawValue;
  /** The same under the kubelet's profile, where it differs. */
  readonly kubeletFallback?: RawValue;
  readonly choices?: readonly string[];
  /** `0s` in a file means the default, as the kubelet reads it. */
  readonly zeroMeansDefault?: true;
  /** A list whose flag is one item, commas included. */
  readonly isWholeFlag?: true;
  readonly help: string;
}
