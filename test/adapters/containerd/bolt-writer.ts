/** A bucket as plain data: texts and buffers are values, objects are buckets. */
export interface Tree {
  readonly [key: string]: string | Buffer | Tree;
}

const HEADER = 16;
const BRANCH = 0x01;
const LEAF = 0x02;
const META = 0x04;

/** How a file is written: small pages make trees of many. */
export interface BoltLayout {
  readonly pageSize?: number;
  /** Elements in a page; more make a branch. */
  readonly perPage?: number;
  /** Whether small buckets lie where they are named. */
  readonly inline?: boolean;
  readonly transaction?: bigint;
}

/** Writes a bbolt file (`docs` of etcd-io/bbolt: pages, elements, buckets): what the reader under test must understand. */
export function boltFile(tree: Tree, layout: BoltLayout = {}): Buffer {
  const { pageSize = 4_096, transaction = 7n } = layout;
  const pages: Buffer[] = [];
  // Two beginnings, the list of free pages and an empty page come first.
  const writer = new Writer(pages, 4, pageSize, layout);
  const root = writer.bucket(tree);
  const head = [metaPage(pageSize, root, transaction - 1n), metaPage(pageSize, root, transaction)];
  return Buffer.concat([...head, Buffer.alloc(2 * pageSize), ...pages]);
}

/** The same file with another beginning written over, as a change leaves it. */
export function withTransaction(file: Buffer, pageSize: number, which: 0 | 1, transaction: bigint): Buffer {
  const copy = Buffer.from(file);
  const root = copy.readBigUInt64LE(HEADER + 16);
  metaPage(pageSize, root, transaction).copy(copy, which * pageSize);
  return copy;
}

class Writer {
  constructor(
    readonly pages: Buffer[],
    readonly first: number,
    readonly pageSize: number,
    readonly layout: BoltLayout,
  ) {}

  /** Answers with the page of its root. */
  bucket(tree: Tree): bigint {
    const elements = this.#elements(tree);
    const { perPage = 1_000 } = this.layout;
    const leaves: { readonly key: string; readonly page: bigint }[] = [];
    for (let at = 0; at < Math.max(1, elements.length); at += perPage) {
      const some = elements.slice(at, at + perPage);
      leaves.push({ key: some[0]?.key ?? '', page: this.#put(leafPage(some)) });
    }
    const [only] = leaves;
    return leaves.length === 1 && only !== undefined ? only.page : this.#put(branchPage(leaves));
  }

  #elements(tree: Tree): readonly Element[] {
    return Object.entries(tree)
      .map(([key, value]): Element => {
        if (typeof value === 'string') return { key, value: Buffer.from(value), isBucket: false };
        if (Buffer.isBuffer(value)) return { key, value, isBucket: false };
        return { key, value: this.#nested(value), isBucket: true };
      })
      .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  #nested(tree: Tree): Buffer {
    const head = Buffer.alloc(HEADER);
    const isSmall = Object.values(tree).every((each) => typeof each === 'string' || Buffer.isBuffer(each));
    if (isSmall && this.layout.inline !== false) return Buffer.concat([head, leafPage(this.#elements(tree))]);
    head.writeBigUInt64LE(this.bucket(tree), 0);
    return head;
  }

  #put(page: Buffer): bigint {
    const many = Math.ceil(page.length / this.pageSize);
    const id = BigInt(this.first + this.pages.reduce((sum, each) => sum + each.length / this.pageSize, 0));
    page.writeBigUInt64LE(id, 0);
    page.writeUInt32LE(many - 1, 12);
    this.pages.push(Buffer.concat([page, Buffer.alloc(many * this.pageSize - page.length)]));
    return id;
  }
}

interface Element {
  readonly key: string;
  readonly value: Buffer;
  readonly isBucket: boolean;
}

function leafPage(elements: readonly Element[]): Buffer {
  const heads = Buffer.alloc(HEADER + elements.length * 16);
  heads.writeUInt16LE(LEAF, 8);
  heads.writeUInt16LE(elements.length, 10);
  let data = heads.length;
  elements.forEach(({ key, value, isBucket }, index) => {
    const at = HEADER + index * 16;
    const size = Buffer.byteLength(key);
    heads.writeUInt32LE(isBucket ? 1 : 0, at);
    heads.writeUInt32LE(data - at, at + 4);
    heads.writeUInt32LE(size, at + 8);
    heads.writeUInt32LE(value.length, at + 12);
    data += size + value.length;
  });
  return Buffer.concat([heads, ...elements.flatMap(({ key, value }) => [Buffer.from(key), value])]);
}

function branchPage(children: readonly { readonly key: string; readonly page: bigint }[]): Buffer {
  const heads = Buffer.alloc(HEADER + children.length * 16);
  heads.writeUInt16LE(BRANCH, 8);
  heads.writeUInt16LE(children.length, 10);
  let data = heads.length;
  children.forEach(({ key, page }, index) => {
    const at = HEADER + index * 16;
    heads.writeUInt32LE(data - at, at);
    heads.writeUInt32LE(Buffer.byteLength(key), at + 4);
    heads.writeBigUInt64LE(page, at + 8);
    data += Buffer.byteLength(key);
  });
  return Buffer.concat([heads, ...children.map(({ key }) => Buffer.from(key))]);
}

function metaPage(pageSize: number, root: bigint, transaction: bigint): Buffer {
  const page = Buffer.alloc(pageSize);
  page.writeUInt16LE(META, 8);
  const meta = page.subarray(HEADER);
  meta.writeUInt32LE(0xed0cdaed, 0);
  meta.writeUInt32LE(2, 4);
  meta.writeUInt32LE(pageSize, 8);
  meta.writeBigUInt64LE(root, 16);
  meta.writeBigUInt64LE(2n, 32);
  meta.writeBigUInt64LE(transaction, 48);
  let hash = 0xcbf29ce484222325n;
  for (const byte of meta.subarray(0, 56)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  meta.writeBigUInt64LE(hash, 56);
  return page;
}
