import { durationAdvice, durationOrNull } from '../eviction/limit-advice.js';
import { shortDuration } from '../units/duration.js';
import { parseQuantity, QuantityError, valueRoundedUp } from '../units/quantity.js';
import { fallbackOf, type KeyName, keyRow } from './keys.js';
import type { MapEntry } from './layer.js';
import type { Effective } from './merge.js';
import { type Origin, type Problem, type ProblemCode, problemOf } from './problem.js';
import type { Profile } from './settings.js';

/**
 * Takes settings out by type and collects what is wrong with them. After a problem the default is handed on, so that the
 * checks that follow still have something to look at; the settings themselves are thrown away then.
 */
export class SettingReader {
  readonly problems: Problem[] = [];
  readonly #effective: Effective;
  readonly #profile: Profile;

  constructor(effective: Effective, profile: Profile) {
    this.#effective = effective;
    this.#profile = profile;
  }

  originOf(name: KeyName): Origin {
    return this.#effective.get(name)?.origin ?? { kind: 'default' };
  }

  tell(severity: 'error' | 'warning', code: ProblemCode, name: KeyName, rule: string, value: string): void {
    this.problems.push(problemOf({ severity, code, origin: this.originOf(name), path: name, rule, value }));
  }

  isSet(name: KeyName): boolean {
    return this.#effective.get(name)?.kind !== 'unset';
  }

  entries(name: KeyName): ReadonlyMap<string, MapEntry> {
    const given = this.#effective.get(name);
    return given?.kind === 'map' ? given.entries : new Map();
  }

  list(name: KeyName): readonly string[] {
    const value = this.#value(name);
    return Array.isArray(value) ? value.map(String) : [];
  }

  boolean(name: KeyName): boolean {
    return this.#value(name) === true;
  }

  /** A whole number; the types of files and flags have seen to it that it is one. */
  integer(name: KeyName): number {
    return Number(this.#value(name));
  }

  /** Null when it is not set or empty. */
  text(name: KeyName): string | null {
    const value = this.#value(name);
    return typeof value === 'string' && value !== '' ? value : null;
  }

  /** An absolute path; null when it is not set. */
  path(name: KeyName): string | null {
    const value = this.text(name);
    if (value !== null && !value.startsWith('/'))
      this.tell('error', 'BAD_VALUE', name, 'a path must be absolute', value);
    if (value?.includes('\0') === true) this.tell('error', 'BAD_VALUE', name, 'a path must have no NUL in it', value);
    return value;
  }

  choice<Choice extends string>(name: KeyName, choices: readonly Choice[], fallback: Choice): Choice {
    const value = this.text(name) ?? fallback;
    const known = choices.find((choice) => choice === value);
    if (known === undefined) this.tell('error', 'BAD_VALUE', name, `it must be one of ${choices.join(', ')}`, value);
    return known ?? fallback;
  }

  percent(name: KeyName): number {
    const value = this.integer(name);
    if (value < 0 || value > 100)
      this.tell('error', 'OUT_OF_RANGE', name, 'a percentage must lie from 0 to 100', `${value}`);
    return value;
  }

  /** Nanoseconds, never below `least`. */
  duration(name: KeyName, least = 0n): bigint {
    const text = this.text(name) ?? '';
    const fallback = this.#fallbackDuration(name);
    const value = durationOrNull(text);
    if (value === null) {
      this.tell('error', 'BAD_DURATION', name, durationAdvice(text), text);
      return fallback;
    }
    if (value < 0n && least === 0n) {
      // The kubelet does not look at the sign of this one, and a period below zero holds a condition as long as none: not at all.
      if (this.#profile === 'kubelet' && name === 'evictionPressureTransitionPeriod') return 0n;
      this.tell('error', 'NEGATIVE_DURATION', name, 'the duration must not be negative', text);
      return fallback;
    }
    const isDefault = value === 0n && keyRow(name)?.zeroMeansDefault === true && this.originOf(name).kind === 'file';
    if (!isDefault && value < least) {
      this.tell('error', 'BAD_VALUE', name, `it must be at least ${shortDuration(least)}`, text);
      return fallback;
    }
    if (!isDefault) return value;
    if (this.#profile === 'reclaimd') {
      const rule = `zero in a file is read as the default, ${shortDuration(fallback)}`;
      this.tell('warning', 'ZERO_MEANS_DEFAULT', name, rule, text);
    }
    return fallback;
  }

  /** A positive whole number of bytes. */
  amount(name: KeyName): number {
    const text = this.text(name) ?? '';
    try {
      const value = valueRoundedUp(parseQuantity(text));
      if (value > 0n && value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
      this.tell('error', 'BAD_VALUE', name, 'the amount must be positive and below 2^53', text);
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
      this.tell('error', 'BAD_QUANTITY', name, 'it must be a quantity such as 200M', text);
    }
    return 1;
  }

  #value(name: KeyName): unknown {
    const given = this.#effective.get(name);
    return given?.kind === 'value' ? given.value : null;
  }

  #fallbackDuration(name: KeyName): bigint {
    const row = keyRow(name);
    const fallback = row === null ? null : fallbackOf(row, this.#profile);
    return (typeof fallback === 'string' ? durationOrNull(fallback) : null) ?? 0n;
  }
}
