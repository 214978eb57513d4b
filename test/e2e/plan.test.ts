import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { ImageServiceService } from '../../src/proto/generated/cri.js';
import { call } from '../lab/call.js';
import type { LabContainerd } from '../lab/containerd.js';
import { availableInodes } from '../lab/disk.js';
import { partsFor } from '../lab/parts.js';
import { runContainer } from '../lab/pods.js';
import { withParts } from '../lab/real-test.js';
import { waitFor } from '../lab/wait.js';
import { settingsOf, startDaemon } from './daemon.js';
import { APP, available, inventory, MIB, nodeWithGarbage, noLongerRunning } from './scene.js';
import { DISKS, withLab } from './with-lab.js';

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One run of the command in the runtime's namespace. */
async function reclaimd(lab: LabContainerd, ...args: readonly string[]): Promise<Ended> {
  const file = join(lab.paths.work, 'by-hand.yaml');
  writeFileSync(file, JSON.stringify({ ...settingsOf(lab), evictionHard: { 'nodefs.available': '1Mi' } }));
  const [command = '', ...rest] = args;
  const { NODE_V8_COVERAGE: _, ...env } = process.env;
  const { child } = await lab.spawnInNamespace(process.execPath, [MAIN, command, '--config', file, ...rest], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  });
  const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout: await stdout, stderr: await stderr };
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) text += String(chunk);
  return text;
}

interface Entry {
  readonly what: string;
  readonly id: string;
  readonly label: string;
  readonly goes: boolean;
  readonly why: string;
  readonly claimed: number | null;
  readonly unique: number | null;
  readonly frees: number | null;
  readonly ownLayers: number | null;
  readonly sharedLayers: number | null;
}

/** What `apply --output json` says. */
interface Applied {
  readonly removed: readonly Entry[];
  readonly skipped: readonly Entry[];
}

function parsed<Value>(text: string): Value {
  // The product's own output: a test that reads what is not there fails by it.
  return JSON.parse(text) as Value;
}

async function planOf(lab: LabContainerd, ...args: readonly string[]): Promise<readonly Entry[]> {
  const { code, stdout, stderr } = await reclaimd(lab, 'plan', '--output', 'json', ...args);
  if (code !== 0) throw new Error(`Cannot plan: ${code} ${stderr}`);
  return parsed<{ readonly entries: readonly Entry[] }>(stdout).entries;
}

const SHARED = { kind: 'random', kib: 8 * 1024, seed: 'shared' } as const;

/** Two more unused images that share 8 MiB and have 2 MiB each. */
async function importAlike(lab: LabContainerd): Promise<void> {
  for (const name of ['local.test/twin-a:1', 'local.test/twin-b:1']) {
    await lab.importImage({ name, layers: [...APP.layers, SHARED, { kind: 'random', kib: 2 * 1024, seed: name }] });
  }
}

for (const [generation, disk] of [
  ['1.6', 'ext4'],
  ['2.4', 'ext4'],
  ['2.4', 'xfs'],
] as const) {
  const stage = `containerd ${generation} on ${disk}`;
  withParts(stage, partsFor(generation, disk), () => {
    test.serial(`${stage}: a plan changes nothing, and what it says that images free is what the disk gets back`, (t) =>
      withLab(t, { generation, ...DISKS[disk] }, async (lab) => {
        const scene = await nodeWithGarbage(lab);
        await importAlike(lab);
        const before = await inventory(lab);
        const file = join(lab.paths.work, 'plan.json');
        const entries = await planOf(lab, '--target', 'all', '--save', file);
        t.deepEqual(await inventory(lab), before);

        const image = (label: string) => entries.find((each) => each.label === label);
        near(t, image('local.test/old-a:1')?.unique, 24 * MIB, 'blob and snapshot of 12 MiB');
        near(t, image('local.test/twin-a:1')?.unique, 4 * MIB, 'what both have is unique to neither');
        t.deepEqual([image('local.test/twin-a:1')?.ownLayers, image('local.test/twin-a:1')?.sharedLayers], [1, 2]);
        t.like(image(APP.name), { goes: false });
        t.regex(image(APP.name)?.why ?? '', /^used by container /);
        const twins = entries.filter((each) => each.label.startsWith('local.test/twin') && each.goes);
        near(t, twins[1]?.frees, 20 * MIB, 'the second takes along what both have');

        const free = available(lab);
        const applied = await reclaimd(lab, 'apply', '--output', 'json', file);
        t.is(applied.code, 0, applied.stderr);
        const removed = parsed<Applied>(applied.stdout).removed.map((each) => each.id);
        const planned = entries.filter((each) => each.goes);
        t.deepEqual(
          removed,
          planned.map((each) => each.id),
        );
        const said = planned.reduce((sum, each) => sum + (each.frees ?? 0), 0);
        // Space of containers comes back after the call, and XFS gives back in the background.
        await waitFor(
          `the disk get back ${said} bytes`,
          20_000,
          () => Math.abs(available(lab) - free - said) < MIB || undefined,
        );
        t.deepEqual(await noLongerRunning(lab, scene.running), []);
      }),
    );
  });
}

for (const generation of ['1.6', '2.4'] as const) {
  const stage = `containerd ${generation}`;
  withParts(stage, partsFor(generation, 'ext4'), () => {
    test.serial(`${stage}: a saved plan removes what has not changed since and says what has`, (t) =>
      withLab(t, { generation, ...DISKS.ext4 }, async (lab) => {
        const { pods, dead } = await nodeWithGarbage(lab);
        const file = join(lab.paths.work, 'plan.json');
        await planOf(lab, '--target', 'all', '--save', file);
        const [web] = pods;
        if (web === undefined) throw new Error('Cannot go on as the scene must have a pod');
        const user = await runContainer(lab, web, { name: 'late', image: 'local.test/old-a:1' });
        const { images } = await call(lab.images, ImageServiceService.listImages, { filter: undefined });
        const oldB = images.find(({ repoTags }) => repoTags.includes('local.test/old-b:1'));
        const spec = {
          image: oldB?.id ?? '',
          annotations: {},
          userSpecifiedImage: '',
          runtimeHandler: '',
          imageRef: '',
        };
        await call(lab.images, ImageServiceService.removeImage, { image: spec });

        const dry = await reclaimd(lab, 'apply', '--dry-run', file);
        t.is(dry.code, 0, dry.stderr);
        t.regex(dry.stdout, /would leave image local\.test\/old-a:1 alone: used by container/);
        t.regex(dry.stdout, /would leave image local\.test\/old-b:1 alone: it is gone already/);
        const applied = await reclaimd(lab, 'apply', '--output', 'json', file);
        t.is(applied.code, 4, applied.stderr);
        const { removed, skipped } = parsed<Applied>(applied.stdout);
        t.deepEqual(skipped.map((each) => each.label).toSorted(), ['local.test/old-a:1', 'local.test/old-b:1']);
        t.true(dead.every((id) => removed.some((each) => each.id === id)));
        t.deepEqual(await noLongerRunning(lab, [user]), []);
      }),
    );

    test.serial(
      `${stage}: the inodes that an image is said to free come back, and images go in the order in which they came`,
      (t) =>
        withLab(t, { generation, ...DISKS.ext4 }, async (lab) => {
          const name = (index: number) => `local.test/many-${index}:1`;
          for (const index of [2, 1, 3]) {
            await lab.importImage({ name: name(index), layers: [{ kind: 'files', count: 300, seed: `${index}` }] });
          }
          const file = join(lab.paths.work, 'plan.json');
          const entries = await planOf(lab, '--signal', 'nodefs.inodesFree', '--target', 'all', '--save', file);
          const planned = entries.filter((each) => each.goes);
          t.deepEqual(
            planned.map((each) => each.label),
            [2, 1, 3].map(name),
          );
          const said = planned.reduce((sum, each) => sum + (each.frees ?? Number.NaN), 0);
          const before = availableInodes(lab.diskPath);
          t.is((await reclaimd(lab, 'apply', file)).code, 0);
          const brought = availableInodes(lab.diskPath) - before;
          t.is(brought, said);
        }),
    );

    test.serial(`${stage}: beside a daemon nothing is applied, and planning goes on`, (t) =>
      withLab(t, { generation, ...DISKS.ext4 }, async (lab) => {
        await nodeWithGarbage(lab);
        const daemon = await startDaemon(lab, { evictionHard: { 'nodefs.available': '1Mi' } });
        await daemon.event('layout-changed');
        t.true((await planOf(lab, '--target', 'all')).some((each) => each.goes));
        const before = await inventory(lab);
        const applied = await reclaimd(lab, 'apply', '--target', 'all');
        t.is(applied.code, 1);
        t.regex(applied.stderr, /beside a daemon; stop it first/);
        t.deepEqual(await inventory(lab), before);
        await daemon.terminate();
      }),
    );

    test.serial(`${stage}: a plan of another node or of yesterday is refused, and an image with a label is kept`, (t) =>
      withLab(t, { generation, ...DISKS.ext4 }, async (lab) => {
        await nodeWithGarbage(lab);
        const kept = await planOf(lab, '--target', 'all', '--protect-image-label', 'name=local.test/old-a:*');
        const oldA = kept.find((each) => each.label === 'local.test/old-a:1');
        t.like(oldA, { goes: false, why: 'protected by label name=local.test/old-a:*' });
        t.like(
          kept.find((each) => each.label === 'local.test/old-b:1'),
          { goes: true },
        );
        const file = join(lab.paths.work, 'plan.json');
        await planOf(lab, '--target', 'all', '--save', file);
        const plan = parsed<Readonly<Record<string, unknown>>>(readFileSync(file, 'utf8'));
        const before = await inventory(lab);
        for (const [changes, words] of [
          [{ node: { hostname: 'elsewhere', machineId: null } }, /it was made for the node elsewhere/],
          [{ madeAt: Date.now() - 61 * 60_000 }, /it is 61 minutes old/],
        ] as const) {
          writeFileSync(file, JSON.stringify({ ...plan, ...changes }));
          const refused = await reclaimd(lab, 'apply', file);
          t.is(refused.code, 3, refused.stderr);
          t.regex(refused.stderr, words);
        }
        t.deepEqual(await inventory(lab), before);
      }),
    );
  });
}

function near(
  t: { true(value: boolean, message: string): void },
  found: number | null | undefined,
  expected: number,
  what: string,
): void {
  t.true(Math.abs((found ?? Number.NaN) - expected) < MIB, `${what}: ${found} instead of ${expected}`);
}
