/** One entry of a tar archive. Owner is root, the time is zero: equal entries give equal bytes. */
export type TarEntry =
  | { readonly kind: 'file'; readonly name: string; readonly data: Uint8Array; readonly mode?: number }
  | { readonly kind: 'directory'; readonly name: string; readonly mode?: number }
  | { readonly kind: 'symlink'; readonly name: string; readonly target: string };

const BLOCK = 512;

/** POSIX ustar archive of the entries, with the two empty blocks that end it. Throws for a name above 100 bytes. */
export function tar(entries: Iterable<TarEntry>): Buffer {
  const parts: Uint8Array[] = [];
  for (const entry of entries) {
    parts.push(header(entry));
    if (entry.kind !== 'file') continue;
    const padding = (BLOCK - (entry.data.length % BLOCK)) % BLOCK;
    parts.push(entry.data, Buffer.alloc(padding));
  }
  parts.push(Buffer.alloc(2 * BLOCK));
  return Buffer.concat(parts);
}

const TYPE_FLAG = { file: '0', symlink: '2', directory: '5' } as const satisfies Record<TarEntry['kind'], string>;

function header(entry: TarEntry): Buffer {
  const block = Buffer.alloc(BLOCK);
  const target = entry.kind === 'symlink' ? entry.target : '';
  for (const text of [entry.name, target]) {
    if (Buffer.byteLength(text) > 100) throw new Error(`Cannot write tar entry as names end at 100 bytes: ${text}`);
  }
  block.write(entry.name, 0);
  octal(block, 100, 8, entry.kind === 'symlink' ? 0o777 : (entry.mode ?? (entry.kind === 'directory' ? 0o755 : 0o644)));
  octal(block, 108, 8, 0);
  octal(block, 116, 8, 0);
  octal(block, 124, 12, entry.kind === 'file' ? entry.data.length : 0);
  octal(block, 136, 12, 0);
  block.write(TYPE_FLAG[entry.kind], 156);
  block.write(target, 157);
  block.write('ustar\0' + '00', 257, 'latin1');
  // The checksum counts its own field as spaces.
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function octal(block: Buffer, offset: number, width: number, value: number): void {
  block.write(`${value.toString(8).padStart(width - 1, '0')}\0`, offset, 'latin1');
}
