import { type StoredValue, saved } from '../eviction/stored-value.js';
import { type TimeFrame, toWall } from '../eviction/wall-time.js';
import type { CollectionRecords, EarlierImage, KeysInUse } from '../gc/image-collection.js';
import type { Clock } from '../ports/clock.js';
import type { StoreChange } from '../ports/store.js';
import { elapsed, type Instant, milliseconds } from '../units/units.js';
import type { Past, Recorder } from './recorder.js';

const DAY_MS = 86_400_000;
/** What is no longer listed may come back, with its last use known, for so long. */
const GONE_KEPT_FOR = milliseconds(30 * DAY_MS);
/** A builder of images leaves hundreds a day behind: of those that are gone the newest are kept. */
const GONE_KEPT = 5_000;
/** An image that comes back minutes after its removal is one that somebody needs. */
const REMOVAL_KEPT_FOR = milliseconds(3_600_000);
const REMOVALS_KEPT = 1_000;
const FORGET_EVERY = milliseconds(3_600_000);

/** An image that is in use is saved as this and not as a time, which would change with each look. */
const IN_USE = 'in use';

/** How much of what was saved is known again. */
export interface Restored {
  readonly images: number;
  readonly notUnderstood: number;
}

interface Row {
  readonly firstSeen: Instant;
  readonly lastUsed: Instant | null;
  readonly isInUse: boolean;
  /** Since when it is not listed; null = it is. */
  readonly goneSince: Instant | null;
}

/**
 * What is known of images beyond the life of the process: first seen, last used, lately removed. Follows what each detection
 * records and saves what is new in it; an image that stays as it was costs nothing. Keys are those of `ImageCollector`.
 */
export class RememberedImages {
  readonly #recorder: Recorder;
  readonly #clock: Clock;
  #rows = new Map<string, Row>();
  readonly #removed = new Map<string, Instant>();
  /** How many rows are of images that were listed last. */
  #listed = 0;
  #forgotAt: Instant;
  #restored: Restored | null = null;
  #isNews = false;
  #frame: TimeFrame | null = null;

  constructor(recorder: Recorder, clock: Clock) {
    this.#recorder = recorder;
    this.#clock = clock;
    this.#forgotAt = clock.now();
  }

  /** Images that we removed within the last hour, with the time. */
  get recentlyRemoved(): ReadonlyMap<string, Instant> {
    return this.#removed;
  }

  /** Takes over what an earlier life has saved, once; null = nothing of it can be known. Says how much was understood. */
  restore(past: Past | null): Restored {
    if (this.#restored !== null) return this.#restored;
    this.#isNews = true;
    let notUnderstood = 0;
    for (const [key, value] of past?.stored.images ?? []) {
      // What we have removed meanwhile is gone, whatever was saved before.
      const row = past === null || this.#removed.has(key) ? null : understood(() => rowOf(value, past));
      if (row === null) notUnderstood += this.#removed.has(key) ? 0 : 1;
      else this.#rows.set(key, row);
    }
    this.#restored = { images: this.#rows.size, notUnderstood };
    this.#listed = [...this.#rows.values()].filter((each) => each.goneSince === null).length;
    for (const [key, value] of past?.stored['removed-images'] ?? []) {
      const at = understood(() => past?.fromWall(saved.number(value)) ?? null);
      if (at === null) notUnderstood += 1;
      else if (!this.#removed.has(key)) this.#removed.set(key, at);
    }
    const dropped = [...(past?.stored.images.keys() ?? [])].filter((key) => !this.#rows.has(key));
    this.#save([
      ...dropped.map((key) => ({ shelf: 'images' as const, key, value: undefined })),
      ...this.#forgetOldRemovals(),
    ]);
    return this.#restored;
  }

  /** Whether an earlier life has become known since last asked. */
  takeRestored(): boolean {
    const isNew = this.#isNews;
    this.#isNews = false;
    return isNew;
  }

  /** What was known of an image before this life of the process, or before it was away. */
  earlier(key: string): EarlierImage | undefined {
    const row = this.#rows.get(key);
    if (row === undefined) return undefined;
    return { firstDetected: row.goneSince === null ? row.firstSeen : null, lastUsed: row.lastUsed };
  }

  /** Follows a detection. */
  saw(records: CollectionRecords, inUse: KeysInUse): void {
    if (this.#restored === null) return;
    const frame = this.#recorder.frame();
    const isNewFrame = frame !== this.#frame;
    this.#frame = frame;
    const changed: string[] = [];
    for (const [key, { firstDetected, lastUsed }] of records) {
      const row = this.#rows.get(key);
      const isInUse = inUse.has(key);
      const isSame =
        row?.goneSince === null &&
        row.firstSeen === firstDetected &&
        row.isInUse === isInUse &&
        (isInUse || row.lastUsed === lastUsed);
      if (isSame && !isNewFrame) continue;
      changed.push(key);
      if (row === undefined || row.goneSince !== null) this.#listed += 1;
      this.#rows.set(key, { firstSeen: firstDetected, lastUsed, isInUse, goneSince: null });
    }
    const isAnyGone = this.#listed > records.size;
    const isDue = isAnyGone || isNewFrame || elapsed(this.#forgotAt, this.#clock.now()) >= FORGET_EVERY;
    const gone = isDue ? this.#leave(records, isNewFrame) : [];
    const wallOf = (at: Instant) => toWall(at, frame);
    this.#save([
      ...[...changed, ...gone].map((key) => this.#change(key, wallOf)),
      ...(isNewFrame ? [...this.#removed] : []).map(([key, at]) => ({
        shelf: 'removed-images' as const,
        key,
        value: wallOf(at),
      })),
    ]);
  }

  /** Follows a removal that has succeeded. */
  removed(key: string): void {
    if (this.#rows.get(key)?.goneSince === null) this.#listed -= 1;
    this.#rows.delete(key);
    // Anew, so that the newest stand last.
    this.#removed.delete(key);
    const now = this.#clock.now();
    this.#removed.set(key, now);
    const value = toWall(now, this.#recorder.frame());
    this.#save([
      { shelf: 'images', key, value: undefined },
      { shelf: 'removed-images', key, value },
      ...this.#forgetOldRemovals(),
    ]);
  }

  /** Marks those that are no longer listed, and forgets those that have not been for long; their keys, as far as they changed. */
  #leave(records: CollectionRecords, isNewFrame: boolean): readonly string[] {
    const now = this.#clock.now();
    this.#forgotAt = now;
    this.#listed = records.size;
    const away = [...this.#rows].filter(([key]) => !records.has(key));
    const marked = away.map(([key, row]) => ({
      key,
      isNew: row.goneSince === null,
      // An image in use that vanished was used until now, as far as anybody knows.
      row: { ...row, isInUse: false, lastUsed: row.isInUse ? now : row.lastUsed, goneSince: row.goneSince ?? now },
    }));
    const kept = marked
      .filter(({ row }) => elapsed(row.goneSince, now) < GONE_KEPT_FOR)
      .toSorted((a, b) => b.row.goneSince - a.row.goneSince)
      .slice(0, GONE_KEPT);
    for (const { key } of marked) this.#rows.delete(key);
    for (const { key, row } of kept) this.#rows.set(key, row);
    return marked.filter(({ key, isNew }) => isNew || isNewFrame || !this.#rows.has(key)).map(({ key }) => key);
  }

  #forgetOldRemovals(): readonly StoreChange[] {
    const now = this.#clock.now();
    const surplus = this.#removed.size - REMOVALS_KEPT;
    const old = [...this.#removed].filter(([, at], place) => place < surplus || elapsed(at, now) >= REMOVAL_KEPT_FOR);
    for (const [key] of old) this.#removed.delete(key);
    return old.map(([key]) => ({ shelf: 'removed-images', key, value: undefined }));
  }

  #change(key: string, wallOf: (at: Instant) => number): StoreChange {
    const row = this.#rows.get(key);
    return { shelf: 'images', key, value: row === undefined ? undefined : rowValue(row, wallOf) };
  }

  #save(changes: readonly StoreChange[]): void {
    if (this.#restored !== null) this.#recorder.save(changes, this.#recorder.frame(), 'soon');
  }
}

/** An image as it is saved. `seen` and `used`: wall times; `gone`: since when it is not listed. */
function rowValue({ firstSeen, lastUsed, isInUse, goneSince }: Row, wallOf: (at: Instant) => number): StoredValue {
  return {
    seen: wallOf(firstSeen),
    used: isInUse ? IN_USE : lastUsed === null ? null : wallOf(lastUsed),
    ...(goneSince === null ? {} : { gone: wallOf(goneSince) }),
  };
}

function rowOf(value: StoredValue, { fromWall, now }: Past): Row {
  const { seen, used, gone } = saved.fields(value);
  return {
    firstSeen: fromWall(saved.number(seen)),
    // In use when it was saved, and nobody looked since: as far as anybody knows it is used until now.
    lastUsed: used === IN_USE ? now : saved.orNull((at) => fromWall(saved.number(at)), used),
    isInUse: used === IN_USE,
    goneSince: gone === undefined ? null : fromWall(saved.number(gone)),
  };
}

function understood<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return null;
  }
}
