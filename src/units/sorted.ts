/** Up to so many are put in order by hand: a call of V8's sort costs about a kilobyte of its own, and lists of a pod are short. */
const FEW = 16;

/** A sorted copy; equal items keep their order. For lists that are mostly short, such as those of one pod; else use `toSorted`. */
export function sorted<Item>(items: readonly Item[], compare: (a: Item, b: Item) => number): readonly Item[] {
  if (items.length < 2) return items;
  if (items.length > FEW) return items.toSorted(compare);
  const copy: Item[] = [];
  for (const item of items) {
    let place = copy.length;
    copy.push(item);
    for (; place > 0; place -= 1) {
      const before = copy[place - 1];
      if (before === undefined || compare(before, item) <= 0) break;
      copy[place] = before;
    }
    copy[place] = item;
  }
  return copy;
}
