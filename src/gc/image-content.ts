import type { Bytes, Count, Instant } from '../units/units.js';

/**
 * What images keep on the disk, part by part: layers, or blobs and snapshots. Who tells it may not know the sizes; then they are
 * null, never 0.
 */
export interface ImageContent {
  /** Image id → its parts. An image that is not in here is unknown. */
  readonly parts: ReadonlyMap<string, readonly string[]>;
  /** Part → what it takes on the disk; null = nobody says. */
  readonly bytes: ReadonlyMap<string, Bytes | null>;
  readonly inodes: ReadonlyMap<string, Count | null>;
  /** Which of the parts are layers; the others are what describes them, and their packed form. */
  readonly layers: ReadonlySet<string>;
  /** Parts that something else keeps as well: a container, a lease, images of another namespace. */
  readonly keptElsewhere: ReadonlySet<string>;
  /** When an image came to the node, by its id and the wall clock; one that is missing is unknown. */
  readonly arrivedAt: ReadonlyMap<string, Instant>;
}

/** What of the disk is counted. */
export type Measure = 'bytes' | 'inodes';

/** What the removal of one image frees. */
export interface ImageShare {
  /** What of the disk only this image keeps; null = unknown. */
  readonly unique: number | null;
  /** Layers that nothing else keeps, and layers that something else keeps. */
  readonly own: number;
  readonly shared: number;
}

/** What each image would free if it alone were removed. */
export function sharesOf(content: ImageContent, measure: Measure): ReadonlyMap<string, ImageShare> {
  const users = usersOfParts(content);
  return new Map([...content.parts].map(([id, parts]) => [id, shareOf(parts, content, measure, users)]));
}

/**
 * What each image frees when they are removed in this order, one after the other: a layer that two of them share comes back with
 * the second. Null = unknown.
 */
export function freedInOrder(
  ids: readonly string[],
  content: ImageContent,
  measure: Measure,
): readonly (number | null)[] {
  const users = usersOfParts(content);
  return ids.map((id) => {
    const parts = content.parts.get(id);
    if (parts === undefined) return null;
    const { unique } = shareOf(parts, content, measure, users);
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
  const all = new Set([...parts.values()].flat());
  return { ...NO_CONTENT, parts, layers: all };
}

/** Of a node without images. */
export const NO_CONTENT: ImageContent = {
  parts: new Map(),
  bytes: new Map(),
  inodes: new Map(),
  layers: new Set(),
  keptElsewhere: new Set(),
  arrivedAt: new Map(),
};

function usersOfParts({ parts }: ImageContent): Map<string, number> {
  const users = new Map<string, number>();
  for (const each of parts.values()) for (const part of new Set(each)) users.set(part, (users.get(part) ?? 0) + 1);
  return users;
}

function shareOf(
  parts: readonly string[],
  content: ImageContent,
  measure: Measure,
  users: ReadonlyMap<string, number>,
): ImageShare {
  const { layers, keptElsewhere } = content;
  const sizes = content[measure];
  const all = new Set(parts);
  const own = [...all].filter((part) => users.get(part) === 1 && !keptElsewhere.has(part));
  const known = own.map((part) => sizes.get(part) ?? null);
  const sum = known.reduce((total: number | null, each) => (total === null || each === null ? null : total + each), 0);
  const ownLayers = own.filter((part) => layers.has(part)).length;
  const allLayers = [...all].filter((part) => layers.has(part)).length;
  return { unique: sum, own: ownLayers, shared: allLayers - ownLayers };
}
