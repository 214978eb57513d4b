import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { isNoSpace } from '../../src/embedded/cri-error.js';
import { openDisks } from '../../src/embedded/disk.js';
import { fillDisk } from '../../src/embedded/fill.js';
import type { DiskOptions } from '../../src/embedded/options.js';
import { removeStaleRuns } from '../../src/embedded/run-directory.js';
import { waitFor } from '../lab/wait.js';

const MIB = 1 << 20;

/** What can be had here decides what is tested; without privilege these are the namespace and the account. */
const KINDS: readonly DiskOptions[] = [
  { means: 'accounted' },
  { means: 'namespace' },
  { means: 'mounted' },
  { means: 'mounted', filesystem: 'ext4' },
  { means: 'mounted', filesystem: 'xfs', sizeBytes: 320 * MIB },
];

/** Tests must be declared in one go, so the disks are made before. */
const tried = await Promise.all(
  KINDS.map(async (options) => {
    const base = mkdtempSync(join(tmpdir(), 'reclaimd-disk-'));
    const sizeBytes = options.sizeBytes ?? 32 * MIB;
    const opened = await openDisks(base, 'shared', { ...options, sizeBytes }).catch((error: unknown) => String(error));
    if (typeof opened === 'string') rmSync(base, { recursive: true, force: true });
    return { options, base, sizeBytes, opened };
  }),
);

for (const { options, base, sizeBytes, opened } of tried) {
  const title = `a disk that is ${options.means}${options.filesystem === undefined ? '' : ` as ${options.filesystem}`}`;
  if (typeof opened === 'string') {
    test.skip(`${title} (cannot be had here: ${opened})`, (t) => t.fail());
    continue;
  }
  test.serial(`${title} is of the size asked for, can be filled to the end, and leaves nothing`, async (t) => {
    const disk = opened.image;
    const empty = await disk.read();
    t.true(empty.capacity <= sizeBytes && empty.capacity > sizeBytes / 2);
    t.true(empty.available > sizeBytes / 2);
    if (disk.kind !== 'accounted') {
      const { bavail, bsize } = statfsSync(disk.path);
      t.is(empty.available, (bavail * bsize) as typeof empty.available, 'statfs of the path says the same');
    }
    t.regex(disk.describe(), /MiB/);

    const filler = await fillDisk(disk, 0);
    const full = await disk.read();
    // XFS keeps some blocks to itself and says "full" with them left.
    t.true(full.available <= 64 * 1024, `${full.available} bytes left`);
    const outcome = t.throws(() => {
      disk.spend(MIB);
      writeFileSync(join(disk.path, 'more'), Buffer.alloc(MIB));
    });
    t.true(isNoSpace(outcome));
    await filler.remove();
    await waitFor(
      'the space of the filler',
      2_000,
      async () => (await disk.read()).available > sizeBytes / 2 || undefined,
    );
    t.true((await disk.read()).inodes.free > 0);

    const partly = await fillDisk(disk, 8 * MIB);
    const left = (await disk.read()).available;
    t.true(Math.abs(left - 8 * MIB) <= MIB, `${left} bytes left`);
    await partly.remove();
    await opened.close();
    t.false(existsSync(base));
    t.false(readFileSync('/proc/self/mounts', 'utf8').includes(base));
  });
}

test.serial('two disks of a layout are different devices', async (t) => {
  const base = mkdtempSync(join(tmpdir(), 'reclaimd-disk-'));
  const disks = await openDisks(base, 'split', { sizeBytes: 16 * MIB });
  try {
    t.is(disks.container, disks.node);
    t.not(disks.image, disks.node);
    const before = await disks.node.read();
    await fillDisk(disks.image, 0);
    t.is((await disks.node.read()).available, before.available);
  } finally {
    await disks.close();
  }
});

test.serial('the death of the process leaves no mount and no directory, however it dies', async (t) => {
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT'] as const) {
    const parent = mkdtempSync(join(tmpdir(), 'reclaimd-runs-'));
    const program = `
      const { startEmbeddedRuntime } = await import(${JSON.stringify(moduleOf('embedded-runtime'))});
      const runtime = await startEmbeddedRuntime({ baseDirectory: ${JSON.stringify(parent)}, disk: { sizeBytes: 33554432 } });
      console.log(runtime.diskPath);
    `;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [path] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    t.true(existsSync(path));
    child.kill(signal);
    await waitFor(
      `everything go after ${signal}`,
      10_000,
      () => readdirSync(parent).length === 0 || undefined,
      () => readdirSync(parent).join(),
    );
    t.false(readFileSync('/proc/self/mounts', 'utf8').includes(parent));
    rmSync(parent, { recursive: true });
  }
});

test.serial('directories of dead runs are removed, those of live ones and of others stay', async (t) => {
  const parent = mkdtempSync(join(tmpdir(), 'reclaimd-runs-'));
  // Field 22 of the line, counted after the name, which may hold blanks.
  const own = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ')[19];
  const [alive, dead, reused, other] = [
    `reclaimd-embedded-${process.pid}-${own}-live`,
    'reclaimd-embedded-4194305-17-dead',
    `reclaimd-embedded-${process.pid}-17-reused`,
    'something-else',
  ];
  for (const name of [alive, dead, reused, other]) writeFiles(join(parent, name));
  t.deepEqual([...(await removeStaleRuns(parent))].sort(), [join(parent, dead), join(parent, reused)].sort());
  t.deepEqual(readdirSync(parent).sort(), [alive, other].sort());
  rmSync(parent, { recursive: true });
});

function writeFiles(directory: string): void {
  mkdirSync(join(directory, 'below'), { recursive: true });
  writeFileSync(join(directory, 'below', 'file'), 'x');
}

function moduleOf(name: string): string {
  return fileURLToPath(new URL(`../../src/embedded/${name}.js`, import.meta.url));
}
