import { mkdir } from 'node:fs/promises';
import { bytes, count } from '../units/units.js';
import type { DiskReading, SmallDisk } from './small-disk.js';
import { treeSize } from './tree.js';

/** How often the account is brought up to date, in milliseconds. */
const ACCOUNT_PERIOD_MS = 100;

/**
 * The last resort where nothing can be mounted: a directory that behaves as if it were a disk. Its use is counted, and
 * writers are refused when the count has reached the capacity; statfs of its path knows nothing of that.
 */
export async function accountedDisk(
  path: string,
  sizeBytes: number,
  inodes: number,
): Promise<SmallDisk & { close(): void }> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const budget = new SharedArrayBuffer(8);
  const left = new BigInt64Array(budget);
  let underWay: Promise<DiskReading> | null = null;
  const measure = async (): Promise<DiskReading> => {
    const used = await treeSize(path);
    Atomics.store(left, 0, BigInt(used.inodes >= inodes ? 0 : sizeBytes - used.bytes));
    return {
      available: bytes(Math.max(0, sizeBytes - used.bytes)),
      capacity: bytes(sizeBytes),
      inodes: { free: count(Math.max(0, inodes - used.inodes)), total: count(inodes) },
    };
  };
  const read = (): Promise<DiskReading> => {
    underWay ??= measure().finally(() => {
      underWay = null;
    });
    return underWay;
  };
  await read();
  const timer = setInterval(() => void read(), ACCOUNT_PERIOD_MS);
  timer.unref();
  return {
    kind: 'accounted',
    filesystem: 'directory',
    path,
    read,
    spend: (size) => spendFrom(left, size),
    budget,
    describe: () =>
      `a directory at ${path} whose use is counted up to ${Math.round(sizeBytes / 1024 / 1024)} MiB; nothing is mounted, so statfs does not know of it`,
    close: () => clearInterval(timer),
  };
}

/** Takes room from a shared account. @throws ENOSPC, as the kernel would, when there is not enough. */
export function spendFrom(left: BigInt64Array, size: number): void {
  const cost = BigInt(size);
  if (Atomics.sub(left, 0, cost) < cost) {
    Atomics.add(left, 0, cost);
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  }
}
