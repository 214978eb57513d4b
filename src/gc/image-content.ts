import { type Bytes, bytes } from '../units/units.js';

/**
 * What images keep on the disk, part by part: layers, or blobs and snapshots. Who tells it may not know the sizes; then they are
 * null, never 0.
 */
export interface ImageContent {
  /** Image id → its parts. An image that is not in here is unknown. */
  readonly parts: ReadonlyMap<string, readonly string[]>;
  /** Part → what it takes on the disk; null = nobody says. */
  readonly bytes: ReadonlyMap<string, Bytes | null>;
  /** Parts that something else keeps as well: a container, a lease, images of another namespace. */
  readonly keptElsewhere: ReadonlySet<string>;
}

/** What the removal of one image frees. */
export interface ImageShare {
  /** Bytes of parts that nothing else keeps; null = unknown. */
  readonly unique: Bytes | null;
  /** Parts that nothing else keeps, and parts that something else keeps. */
  readonly own: number;
  readonly shared: number;
}

/** What each image would free if it alone were removed. */
export function sharesOf(content: ImageContent): ReadonlyMap<string, ImageShare> {
  const users = usersOfParts(content);
  return new Map([...content.parts].map(([id, parts]) => [id, shareOf(parts, content, users)]));
}

/**
 * What each image frees when they are removed in this order, one after the other: a layer that two of them share comes back with
 * the second. Null = unknown.
 */
export function freedInOrder(ids: readonly string[], content: ImageContent): readonly (Bytes | null)[] {
  const users = usersOfParts(content);
  return ids.map((id) => {
    const parts = content.parts.get(id);
    if (parts === undefined) return null;
    const { unique } = shareOf(parts, content, users);
    for (const part of new Set(parts)) users.set(part, (users.get(part) ?? 0) - 1);
    return unique;
  });
}

/** The parts of images of which only the layers are known, without their sizes: equal beginnings are shared. */
export function contentOfLayers(layers: ReadonlyMap<string, readonly string[]>): ImageContent {
  // A layer is the same one only on the same layers below: the snapshots of two images part for good where they first differ.
  const names = new Map<string, string>();
  const parts = new Map<string, readonly string[]>();
  for (const [id, each] of layers) {
    let below = '';
    parts.set(
      id,
      each.map((layer) => {
        const key = `${below} ${layer}`;
        below = names.get(key) ?? `${names.size}`;
        names.set(key, below);
        return below;
      }),
    );
  }
  return { parts, bytes: new Map(), keptElsewhere: new Set() };
}

function usersOfParts({ parts }: ImageContent): Map<string, number> {
  const users = new Map<string, number>();
  for (const each of parts.values()) for (const part of new Set(each)) users.set(part, (users.get(part) ?? 0) + 1);
  return users;
}

function shareOf(
  parts: readonly string[],
  { bytes: sizes, keptElsewhere }: ImageContent,
  users: ReadonlyMap<string, number>,
): ImageShare {
  const all = new Set(parts);
  const own = [...all].filter((part) => users.get(part) === 1 && !keptElsewhere.has(part));
  const known = own.map((part) => sizes.get(part) ?? null);
  const sum = known.reduce((total: number | null, each) => (total === null || each === null ? null : total + each), 0);
  return { unique: sum === null ? null : bytes(sum), own: own.length, shared: all.size - own.length };
}
