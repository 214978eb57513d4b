import { BinaryReader } from '@bufbuild/protobuf/wire';

/**
 * Strings seen before. A list of containers repeats its label keys, images, sandboxes and namespaces thousands of times:
 * keeping one copy of each takes the greater part of the memory of a large list away, and makes decoding quicker, since
 * V8 hashes a property name only once. A fixed number of places, the newest string wins: it never grows.
 */
export class StringTable {
  static readonly #places = 4096;
  /** Longer strings (annotations with JSON in them) are seldom repeated. */
  static readonly #longest = 96;
  readonly #known: string[] = new Array<string>(StringTable.#places).fill('');

  /** The text from `start` to `end`, from the table when it is there. */
  read(buffer: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length === 0) return '';
    if (length > StringTable.#longest) return buffer.toString('utf8', start, end);
    let hash = length;
    for (let at = start; at < end; at += 1) {
      const byte = buffer[at] ?? 0;
      if (byte > 0x7f) return buffer.toString('utf8', start, end);
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    const place = (hash ^ (hash >>> 15)) & (StringTable.#places - 1);
    const known = this.#known[place] ?? '';
    if (known.length === length && isSame(known, buffer, start)) return known;
    const text = buffer.toString('latin1', start, end);
    this.#known[place] = text;
    return text;
  }
}

/** A protobuf reader that takes its strings from a table. */
export class InterningReader extends BinaryReader {
  readonly #bytes: Buffer;
  readonly #table: StringTable;

  constructor(bytes: Buffer, table: StringTable) {
    super(bytes);
    this.#bytes = bytes;
    this.#table = table;
  }

  override string(): string {
    const length = this.uint32();
    const start = this.pos;
    this.pos += length;
    if (this.pos > this.len)
      throw new RangeError(`Cannot decode a message as a string must end inside it: ${this.pos} of ${this.len}`);
    return this.#table.read(this.#bytes, start, this.pos);
  }
}

function isSame(text: string, buffer: Buffer, start: number): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) !== buffer[start + at]) return false;
  return true;
}
