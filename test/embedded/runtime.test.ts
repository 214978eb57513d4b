import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import type { EmbeddedRuntimeOptions } from '../../src/embedded/options.js';
import { treeSize } from '../../src/embedded/tree.js';
import {
  ContainerState,
  ImageServiceService,
  RuntimeServiceService,
  type StreamContainersResponse,
} from '../../src/proto/generated/cri.js';
import { imageSpec, outcomeOf } from '../contract/contract-scene.js';
import { type EmbeddedUnderTest, openEmbedded } from '../contract/embedded-under-test.js';
import { call } from '../lab/call.js';
import { waitFor } from '../lab/wait.js';

const MIB = 1 << 20;
const APP = { name: 'embedded.test/app:1', layers: [{ seed: 'app', bytes: MIB }] };

async function open(t: ExecutionContext, options: EmbeddedRuntimeOptions = {}): Promise<EmbeddedUnderTest> {
  const under = await openEmbedded({ ...options, disk: { sizeBytes: 64 * MIB, ...options.disk } });
  t.teardown(() => under.close());
  await under.embedded.importImage(APP);
  return under;
}

async function stateOf(under: EmbeddedUnderTest, containerId: string): Promise<ContainerState | undefined> {
  return (await call(under.runtime, RuntimeServiceService.containerStatus, { containerId, verbose: false })).status
    ?.state;
}

const TARGETS = ['layer', 'empty-dir', 'log'] as const;
for (const writeTo of TARGETS) {
  test.serial(`a writer fills its ${writeTo} at its rate until it is stopped`, async (t) => {
    const under = await open(t);
    const pod = await under.embedded.startPod({
      name: 'writer',
      containers: [{ name: 'main', image: APP.name, writeBytesPerSecond: 20 * MIB, writeTo }],
    });
    const id = pod.containerIds['main'] ?? '';
    const where = {
      layer: join(under.diskPath, 'containers', id, 'layer'),
      'empty-dir': pod.emptyDir,
      log: pod.logDirectory,
    }[writeTo];
    const start = performance.now();
    const reached = await waitFor('10 MiB', 10_000, async () => {
      const { bytes } = await treeSize(where);
      return bytes >= 10 * MIB ? bytes : undefined;
    });
    const seconds = (performance.now() - start) / 1000;
    t.true(seconds > 0.3, `${reached} bytes after ${seconds} s`);
    await call(under.runtime, RuntimeServiceService.stopContainer, { containerId: id, timeout: 5n });
    t.is(await stateOf(under, id), ContainerState.CONTAINER_EXITED);
    const atStop = (await treeSize(where)).bytes;
    await under.embedded.sampleStats();
    t.is((await treeSize(where)).bytes, atStop, 'nothing is written after the answer to the stop');
  });
}

test.serial('a writer goes on when the disk was full and space came back', async (t) => {
  const under = await open(t);
  await under.embedded.startPod({
    name: 'w',
    containers: [{ name: 'main', image: APP.name, writeBytesPerSecond: 100 * MIB }],
  });
  const { image } = under.embedded.disks;
  await waitFor('a full disk', 10_000, async () => (await image.read()).available < 4096 || undefined);
  await call(under.images, ImageServiceService.removeImage, { image: imageSpec(under.sandboxImage) });
  await waitFor('a full disk again', 10_000, async () => (await image.read()).available < 4096 || undefined);
  t.pass();
});

test.serial('a writer of files eats inodes until there are none', async (t) => {
  const under = await open(t, { disk: { inodes: 400 } });
  await under.embedded.startPod({
    name: 'w',
    containers: [{ name: 'main', image: APP.name, writeFilesPerSecond: 5_000 }],
  });
  await waitFor(
    'no inodes',
    10_000,
    async () => (await under.embedded.disks.image.read()).inodes.free === 0 || undefined,
  );
  t.pass();
});

test.serial(
  'on request the end of a process on a full disk cannot be stored, and settles once space is back',
  async (t) => {
    const under = await open(t, { stopOnFullDisk: 'stuck', exitRetryMs: 50, disk: { filesystem: 'tmpfs' } });
    const pod = await under.embedded.startPod({ name: 'victim', containers: [{ name: 'main', image: APP.name }] });
    const containerId = pod.containerIds['main'] ?? '';
    const filler = await under.embedded.fillDisk();
    const stop = (deadlineMs: number): Promise<unknown> =>
      call(under.runtime, RuntimeServiceService.stopContainer, { containerId, timeout: 0n }, deadlineMs);

    t.is((await outcomeOf(stop(300))).code, status.DEADLINE_EXCEEDED);
    t.is(await stateOf(under, containerId), ContainerState.CONTAINER_RUNNING, 'dead, and said to be running');
    t.is((await outcomeOf(stop(300))).code, status.OK, 'a later stop says OK and means nothing');
    t.is(await stateOf(under, containerId), ContainerState.CONTAINER_RUNNING);
    const removal = await outcomeOf(call(under.runtime, RuntimeServiceService.removeContainer, { containerId }));
    t.is(removal.code, status.UNKNOWN);
    t.regex(removal.details, /container is still running, to stop first/);
    const podSandboxId = pod.sandboxId;
    t.is(
      (await outcomeOf(call(under.runtime, RuntimeServiceService.stopPodSandbox, { podSandboxId }))).code,
      status.OK,
    );
    t.is(
      (await outcomeOf(call(under.runtime, RuntimeServiceService.removePodSandbox, { podSandboxId }))).code,
      status.UNKNOWN,
    );

    await filler.remove();
    await waitFor(
      'its end',
      5_000,
      async () => (await stateOf(under, containerId)) === ContainerState.CONTAINER_EXITED || undefined,
    );
    t.is(
      (await outcomeOf(call(under.runtime, RuntimeServiceService.removePodSandbox, { podSandboxId }))).code,
      status.OK,
    );
  },
);

test.serial('a restart on a full disk loses containers from lists, and one with space brings them back', async (t) => {
  const under = await open(t);
  const pod = await under.embedded.startPod({ name: 'kept', containers: [{ name: 'main', image: APP.name }] });
  const ids = async (): Promise<readonly string[]> =>
    (await call(under.runtime, RuntimeServiceService.listContainers, { filter: undefined })).containers.map(
      ({ id }) => id,
    );
  const again = (): Promise<readonly string[]> => waitFor('an answer', 10_000, () => ids().catch(() => undefined));
  const filler = await under.embedded.fillDisk();
  await under.restart();
  t.deepEqual(await again(), []);
  await filler.remove();
  t.deepEqual(await ids(), [], 'space alone does not bring them back');
  await under.restart();
  t.deepEqual(await again(), [pod.containerIds['main'] ?? '']);
});

test.serial('the space of a removed container comes back after the delay and not before', async (t) => {
  const under = await open(t, { removalDelayMs: 300 });
  const pod = await under.embedded.startPod({
    name: 'p',
    containers: [{ name: 'main', image: APP.name, start: false }],
  });
  const containerId = pod.containerIds['main'] ?? '';
  const directory = join(under.diskPath, 'containers', containerId);
  const start = performance.now();
  await call(under.runtime, RuntimeServiceService.removeContainer, { containerId });
  t.true(existsSync(directory));
  await waitFor('its directory go', 5_000, () => !existsSync(directory) || undefined);
  t.true(performance.now() - start >= 290);
});

test.serial('an unsampled writable layer has timestamp 0 and no bytes, however long it has been there', async (t) => {
  const under = await open(t, { statsCollectPeriodMs: 1_000_000 });
  const pod = await under.embedded.startPod({
    name: 'p',
    containers: [{ name: 'main', image: APP.name, writeBytesPerSecond: 50 * MIB }],
  });
  await waitFor(
    'bytes',
    10_000,
    async () => (await under.embedded.disks.image.read()).available < 55 * MIB || undefined,
  );
  const sample = async (): Promise<{ at: bigint; used: bigint }> => {
    const containerId = pod.containerIds['main'] ?? '';
    const { stats } = await call(under.runtime, RuntimeServiceService.containerStats, { containerId });
    return { at: stats?.writableLayer?.timestamp ?? -1n, used: stats?.writableLayer?.usedBytes?.value ?? -1n };
  };
  t.deepEqual(await sample(), { at: 0n, used: 0n });
  await under.embedded.sampleStats();
  t.true((await sample()).at > 0n && (await sample()).used > 0n);
});

test.serial('an image that was removed can be pulled again, one that never was cannot', async (t) => {
  const under = await open(t);
  await call(under.images, ImageServiceService.removeImage, { image: imageSpec(APP.name) });
  const pull = (name: string): Promise<{ imageRef: string }> =>
    call(under.images, ImageServiceService.pullImage, {
      image: imageSpec(name),
      auth: undefined,
      sandboxConfig: undefined,
    });
  const { imageRef } = await pull(APP.name);
  const { images } = await call(under.images, ImageServiceService.listImages, { filter: undefined });
  t.true(images.some((image) => image.id === imageRef && image.repoTags.includes(APP.name)));
  t.is((await outcomeOf(pull('embedded.test/never:1'))).code, status.NOT_FOUND);
});

test.serial('an import that does not fit fails, and gives back what it took', async (t) => {
  const under = await open(t);
  const { image } = under.embedded.disks;
  const before = (await image.read()).available;
  const error = await t.throwsAsync(
    under.embedded.importImage({
      name: 'embedded.test/big:1',
      layers: [
        { seed: 'fits', bytes: 4 * MIB },
        { seed: 'big', bytes: 60 * MIB },
      ],
    }),
  );
  t.regex(error?.message ?? '', /no space left on device/);
  await waitFor('its space', 5_000, async () => (await image.read()).available >= before - 8192 || undefined);
});

test.serial(
  'only the user can connect to the socket, a stale one is replaced and a live one is respected',
  async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'reclaimd-socket-'));
    t.teardown(() => rmSync(directory, { recursive: true }));
    const socketPath = join(directory, 'cri.sock');
    const first = await open(t, { socketPath });
    t.is(statSync(socketPath).mode & 0o777, 0o600);
    t.deepEqual(readdirSync(directory), ['cri.sock']);
    const refused = await t.throwsAsync(openEmbedded({ socketPath, disk: { sizeBytes: 16 * MIB } }));
    t.regex(refused?.message ?? '', /another process answers/);
    await first.close();
    t.false(existsSync(socketPath));

    // A server that dies without closing leaves its socket: libuv takes its own away, so it is renamed first.
    const server = createServer().listen(join(directory, 'made'));
    await once(server, 'listening');
    const { renameSync } = await import('node:fs');
    renameSync(join(directory, 'made'), socketPath);
    server.close();
    await once(server, 'close');
    t.true(existsSync(socketPath));
    const second = await open(t, { socketPath });
    t.is((await call(second.runtime, RuntimeServiceService.version, { version: '' })).runtimeApiVersion, 'v1');
  },
);

test.serial(
  'ten thousand containers and images are listed in one answer each, in another order each time',
  async (t) => {
    const under = await open(t, { preload: { containers: 10_000, images: 10_000 } });
    const start = performance.now();
    const { containers } = await call(under.runtime, RuntimeServiceService.listContainers, { filter: undefined });
    const { images } = await call(under.images, ImageServiceService.listImages, { filter: undefined });
    const spent = performance.now() - start;
    t.is(containers.length, 10_000);
    t.is(images.length, 10_002);
    t.log(`${Math.round(spent)} ms for both`);
    const again = await call(under.runtime, RuntimeServiceService.listContainers, { filter: undefined });
    t.notDeepEqual(
      again.containers.slice(0, 20).map(({ id }) => id),
      containers.slice(0, 20).map(({ id }) => id),
    );
    const dead = containers.find(({ state }) => state === ContainerState.CONTAINER_EXITED);
    await call(under.runtime, RuntimeServiceService.removeContainer, { containerId: dead?.id ?? '' });
    t.is(
      (await call(under.runtime, RuntimeServiceService.listContainers, { filter: undefined })).containers.length,
      9_999,
    );
  },
);

test.serial('streams send at most 5000 items in a message, and each item once', async (t) => {
  const under = await open(t, { preload: { containers: 10_001 } });
  const messages: number[] = [];
  const ids = new Set<string>();
  // Messages of the stream are what its type says; node's own iterator has no type for them.
  const stream = under.runtime.streamContainers({ filter: undefined }) as AsyncIterable<StreamContainersResponse>;
  for await (const { containers } of stream) {
    messages.push(containers.length);
    for (const { id } of containers) ids.add(id);
  }
  t.deepEqual(messages, [5_000, 5_000, 1]);
  t.is(ids.size, 10_001);
});

test.serial('time comes from the clock that was passed in', async (t) => {
  const under = await open(t, { now: () => 1_700_000_000_123 });
  await under.embedded.startPod({ name: 'p', containers: [] });
  const { items } = await call(under.runtime, RuntimeServiceService.listPodSandbox, { filter: undefined });
  t.deepEqual(
    items.map(({ createdAt }) => createdAt),
    [1_700_000_000_123_000_000n],
  );
});

test.serial('the same seed gives the same ids', async (t) => {
  const idOf = async (seed: number): Promise<string> => {
    const under = await open(t, { seed });
    return (await under.embedded.startPod({ name: 'p', containers: [] })).sandboxId;
  };
  const [first, second, other] = [await idOf(7), await idOf(7), await idOf(8)];
  t.is(first, second);
  t.not(first, other);
});

test.serial('it describes itself: behaviour, kind of disk and size', async (t) => {
  const under = await open(t, { behaviour: 'cri-o' });
  t.regex(under.embedded.describe(), /^cri-o .* 64 MiB.* and .* 64 MiB/);
  t.false(readFileSync('/proc/self/mounts', 'utf8').includes('undefined'));
});
