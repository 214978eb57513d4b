/** A seeded source of numbers: the same seed gives the same ids, orders and delays. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** The next number in [0, 1). The generator is mulberry32: 32 bits of state are plenty for shuffles and delays. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  /** A number from a range. */
  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  /** An id as runtimes make them: 64 hexadecimal digits. */
  id(): string {
    return Array.from({ length: 8 }, () =>
      Math.floor(this.next() * 4294967296)
        .toString(16)
        .padStart(8, '0'),
    ).join('');
  }

  /** The items in another order. */
  shuffled<Item>(items: Iterable<Item>): Item[] {
    const order = [...items];
    for (let last = order.length - 1; last > 0; last -= 1) {
      const other = Math.floor(this.next() * (last + 1));
      // Both indices lie within the array.
      const moved = order[last] as Item;
      order[last] = order[other] as Item;
      order[other] = moved;
    }
    return order;
  }
}
