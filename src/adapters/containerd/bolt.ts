/**
 * Reads a bbolt file, the store in which containerd keeps what it knows. Only what is needed to read: no lock is taken, nothing is
 * written, and a file that changed while it was read is recognised by its transaction id.
 */

/** What is wrong with a file. */
export class BoltError extends Error {
  override readonly name = 'BoltError';
}

/** One value, or a bucket with more. Keys are texts here: containerd has no others where we look. */
export interface BoltBucket {
  /** Null when there is none of that name, or a bucket has it. */
  value(key: string): Buffer | null;
  /** Null when there is none of that name, or a value has it. */
  bucket(key: string): BoltBucket | null;
  /** The buckets in it, in the order of their keys. */
  buckets(): Iterable<readonly [string, BoltBucket]>;
  /** The values in it, in the order of their keys. */
  values(): Iterable<readonly [string, Buffer]>;
}

const PAGE_HEADER = 16;
const META_SIZE = 64;
const MAGIC = 0xed0cdaed;
const VERSION = 2;
/** Kinds of pages and elements, as flags. */
const BRANCH = 0x01;
const LEAF = 0x02;
const IS_BUCKET = 0x01;
/** Bytes of an element's head in a page, of either kind; and of a bucket's head in a value. */
const ELEMENT = 16;
const BUCKET_HEAD = 16;
/** Deeper than any tree of 2^63 bytes: a page that leads back to itself would be walked for ever. */
const DEEPEST = 64;
const SMALLEST_PAGE = 512;
const LARGEST_PAGE = 65_536;

/** The two beginnings of a file: one of them is always whole. */
export interface BoltMeta {
  readonly pageSize: number;
  readonly root: bigint;
  /** Rises with each change. */
  readonly transaction: bigint;
}

/** How much of a file holds both beginnings, for any size of a page. */
export const META_BYTES = LARGEST_PAGE + PAGE_HEADER + META_SIZE;

/** The latest whole beginning; throws a `BoltError` when there is none. */
export function readMeta(head: Buffer): BoltMeta {
  const first = metaAt(head, 0);
  // The second one lies a page further on, and if the first is broken nobody says how long a page is.
  const sizes = first === null ? pageSizes() : [first.pageSize];
  const second = sizes.map((size) => metaAt(head, size)).find((meta) => meta !== null) ?? null;
  if (first === null && second === null) throw new BoltError('Cannot read a bolt file as it must begin like one');
  if (first === null || second === null) return (first ?? second) as BoltMeta; // one of them is there, as was just asked
  return second.transaction > first.transaction ? second : first;
}

/** The topmost bucket of a file as of one beginning; throws a `BoltError` where the file is broken. */
export function readRoot(file: Buffer, meta: BoltMeta): BoltBucket {
  return new TreeBucket(file, meta.pageSize, meta.root);
}

function* pageSizesFrom(size: number): Generator<number> {
  for (let each = size; each <= LARGEST_PAGE; each *= 2) yield each;
}

function pageSizes(): readonly number[] {
  return [...pageSizesFrom(SMALLEST_PAGE)];
}

function metaAt(head: Buffer, page: number): BoltMeta | null {
  const at = page + PAGE_HEADER;
  if (head.length < at + META_SIZE) return null;
  if (head.readUInt32LE(at) !== MAGIC || head.readUInt32LE(at + 4) !== VERSION) return null;
  if (fnv64a(head.subarray(at, at + META_SIZE - 8)) !== head.readBigUInt64LE(at + META_SIZE - 8)) return null;
  return {
    pageSize: head.readUInt32LE(at + 8),
    root: head.readBigUInt64LE(at + 16),
    transaction: head.readBigUInt64LE(at + 48),
  };
}

/** The checksum of a beginning. */
function fnv64a(data: Buffer): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of data) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}

interface Element {
  readonly key: string;
  readonly value: Buffer;
  readonly isBucket: boolean;
}

class TreeBucket implements BoltBucket {
  readonly #file: Buffer;
  readonly #pageSize: number;
  /** A page of the file; null = the bucket is small and lies where it is named. */
  readonly #root: bigint | null;
  readonly #inline: Buffer | null;

  constructor(file: Buffer, pageSize: number, root: bigint | null, inline: Buffer | null = null) {
    this.#file = file;
    this.#pageSize = pageSize;
    this.#root = root;
    this.#inline = inline;
  }

  value(key: string): Buffer | null {
    for (const [each, value] of this.values()) if (each === key) return value;
    return null;
  }

  bucket(key: string): BoltBucket | null {
    for (const element of this.#elements()) if (element.isBucket && element.key === key) return this.#bucketOf(element);
    return null;
  }

  *buckets(): Iterable<readonly [string, BoltBucket]> {
    for (const element of this.#elements()) if (element.isBucket) yield [element.key, this.#bucketOf(element)];
  }

  *values(): Iterable<readonly [string, Buffer]> {
    for (const { key, value, isBucket } of this.#elements()) if (!isBucket) yield [key, value];
  }

  #bucketOf({ value }: Element): TreeBucket {
    const root = value.readBigUInt64LE(0);
    return root === 0n
      ? new TreeBucket(this.#file, this.#pageSize, null, value.subarray(BUCKET_HEAD))
      : new TreeBucket(this.#file, this.#pageSize, root);
  }

  *#elements(): Generator<Element> {
    try {
      if (this.#inline !== null) yield* this.#ofPage(this.#inline, 0);
      else if (this.#root !== null) yield* this.#ofPage(this.#pageAt(this.#root), 0);
    } catch (error) {
      if (error instanceof RangeError) throw new BoltError('Cannot read a bolt file as its pages must lie in it');
      throw error;
    }
  }

  *#ofPage(page: Buffer, depth: number): Generator<Element> {
    if (depth > DEEPEST) throw new BoltError('Cannot read a bolt file as no page may lead back to itself');
    const flags = page.readUInt16LE(8);
    const many = page.readUInt16LE(10);
    for (let index = 0; index < many; index += 1) {
      const at = PAGE_HEADER + index * ELEMENT;
      if ((flags & LEAF) !== 0) yield leafElement(page, at);
      else if ((flags & BRANCH) !== 0) yield* this.#ofPage(this.#pageAt(page.readBigUInt64LE(at + 8)), depth + 1);
      else throw new BoltError('Cannot read a bolt file as a tree must be of branches and leaves');
    }
  }

  /** From its beginning to the end of the file: how far it reaches its elements say. */
  #pageAt(page: bigint): Buffer {
    const at = Number(page) * this.#pageSize;
    if (at + PAGE_HEADER > this.#file.length) throw new RangeError('beyond the end');
    return this.#file.subarray(at);
  }
}

function leafElement(page: Buffer, at: number): Element {
  const flags = page.readUInt32LE(at);
  const keyAt = at + page.readUInt32LE(at + 4);
  const keySize = page.readUInt32LE(at + 8);
  const valueSize = page.readUInt32LE(at + 12);
  const end = keyAt + keySize + valueSize;
  if (end > page.length) throw new RangeError('beyond the end');
  return {
    key: page.toString('utf8', keyAt, keyAt + keySize),
    value: page.subarray(keyAt + keySize, end),
    isBucket: (flags & IS_BUCKET) !== 0,
  };
}
