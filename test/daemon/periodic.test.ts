import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { GcEvent } from '../../src/gc/gc-event.js';
import { waitFor } from '../lab/wait.js';
import { APP, logPath, MIB, type Node, openNode, startDaemon } from './daemon-scene.js';

const ORPHAN = 'default_gone_11111111-2222-3333-4444-555555555555';

const isRun = (collector: 'container' | 'image') => (event: GcEvent) =>
  event.kind === 'gc-run' && event.collector === collector;

function collected(events: readonly GcEvent[], what: string): readonly string[] {
  return events.flatMap((event) =>
    event.kind === 'collected' && event.subject.what === what ? [event.subject.label] : [],
  );
}

async function makeLogs(node: Node, directory: string): Promise<string> {
  const path = logPath(node, directory);
  await mkdir(path, { recursive: true });
  await writeFile(join(path, '0.log'), 'lines');
  return path;
}

/** A pod at work with three dead instances of a job beside its server. */
async function podWithJobs({ embedded, runtime }: Node) {
  const jobs = [0, 1, 2].map((attempt) => ({ name: 'job', image: APP, attempt, command: ['true'] }));
  const pod = await embedded.startPod({ name: 'web', containers: [{ name: 'server', image: APP }, ...jobs] });
  const ended = await waitFor('the end of the jobs', 10_000, async () => {
    const dead = (await runtime.listContainers()).filter((each) => each.state === 'exited');
    return dead.length === 3 ? dead : undefined;
  });
  return { pod, newest: ended.toSorted((a, b) => a.createdAt - b.createdAt).at(-1)?.id ?? '' };
}

test.serial('dead containers beyond the limits go without pressure, the newest and the living stay', async (t) => {
  const node = await openNode(t);
  const { pod, newest } = await podWithJobs(node);
  const daemon = startDaemon(t, node, []);
  await daemon.gcEvent(isRun('container'));
  const left = await node.runtime.listContainers();
  t.deepEqual(left.map((each) => each.id).toSorted(), [pod.containerIds['server'] ?? '', newest].toSorted());
  t.deepEqual(new Set(collected(daemon.gc, 'container')), new Set(['default/web/job']));
  // The minute's run and the one after a death may meet at a container, and removing what is gone succeeds.
  const gone = daemon.gc.flatMap((each) => (each.kind === 'collected' ? [each.subject.id] : []));
  t.is(new Set(gone).size, 2);
  const told = daemon.lines.filter((each) => each['event'] === 'collected').map((each) => each['id']);
  t.deepEqual(new Set(told), new Set<unknown>(gone));
  t.deepEqual(
    daemon.events.filter((each) => each.kind === 'threshold-met'),
    [],
  );
});

test.serial(
  'log directories of nobody go after five minutes; of the living, of sandboxes by hand, and others never',
  async (t) => {
    const node = await openNode(t);
    const { pod } = await podWithJobs(node);
    const byHand = 'ffffffff-2222-3333-4444-555555555555';
    await node.embedded.startPod({ name: 'shell', uid: byHand, containers: [] });
    const orphan = await makeLogs(node, ORPHAN);
    const others = [
      await makeLogs(node, 'lost+found'),
      await makeLogs(node, 'audit'),
      logPath(node, `default_shell_${byHand}`),
    ];
    const daemon = startDaemon(t, node, []);
    await daemon.gcEvent(isRun('container'));
    t.true(existsSync(orphan), 'whoever starts it may be at work');
    await daemon.gcEvent((event) => event.kind === 'collected' && event.subject.what === 'pod-logs');
    t.deepEqual(collected(daemon.gc, 'pod-logs'), [ORPHAN]);
    t.false(existsSync(orphan));
    for (const path of [...others, pod.logDirectory]) t.true(existsSync(path), path);
  },
);

test.serial(
  'a log is rotated at its size while its container writes on, and what was rotated is compressed',
  async (t) => {
    const node = await openNode(t);
    const pod = await node.embedded.startPod({
      name: 'talker',
      containers: [{ name: 'main', image: APP, writeBytesPerSecond: MIB, writeTo: 'log' }],
    });
    const daemon = startDaemon(t, node, ['--container-log-max-size=200Ki', '--container-log-max-files=3']);
    const rotations = () => daemon.gc.filter((event) => event.kind === 'log-rotated').length;
    await daemon.gcEvent(() => rotations() >= 4);
    const directory = join(pod.logDirectory, 'main');
    const names = readdirSync(directory).toSorted();
    t.is(names.length, 3, names.join(' '));
    t.is(names[0], '0.log');
    t.regex(names[1] ?? '', /^0\.log\.\d{8}-\d{6}.*\.gz$/);
    t.deepEqual(
      daemon.gc.filter((event) => event.kind === 'log-not-rotated'),
      [],
    );
    await daemon.end();
    const before = statSync(join(directory, '0.log')).size;
    await waitFor(
      'more lines in the new file',
      10_000,
      async () => statSync(join(directory, '0.log')).size > before || undefined,
    );
    t.pass();
  },
);

test.serial(
  'above the high mark unused images go down to the low mark on the disk; what is protected, pinned or used stays',
  async (t) => {
    const node = await openNode(t);
    const { embedded, runtime } = node;
    for (const name of ['keep/a:1', 'old/b:1', 'old/c:1', 'old/d:1', 'old/e:1']) {
      await embedded.importImage({ name, layers: [{ seed: name, bytes: 4 * MIB }] });
    }
    await embedded.startPod({ name: 'web', containers: [{ name: 'server', image: APP }] });
    const used = async () => {
      const { available, capacity } = await embedded.disks.image.read();
      return (100 * (capacity - available)) / capacity;
    };
    const before = await used();
    const low = Math.floor(before) - 15;
    const daemon = startDaemon(t, node, [
      '--protect-image=keep/*',
      `--image-gc-high-threshold=${Math.floor(before) - 1}`,
      `--image-gc-low-threshold=${low}`,
    ]);
    // At the first all images have just been seen.
    await daemon.gcEvent(() => daemon.gc.filter(isRun('image')).length >= 2);
    const after = await used();
    t.true(after <= low && after > low - 14, `${before} to ${after}, asked for ${low}`);
    const left = (await runtime.listImages()).flatMap((each) => each.tags);
    for (const tag of ['keep/a:1', APP, embedded.sandboxImage])
      t.true(
        left.some((each) => each.endsWith(tag)),
        tag,
      );
    const gone = collected(daemon.gc, 'image');
    t.true(gone.length > 0 && gone.length < 4 && gone.every((label) => label.includes('old/')), gone.join(' '));
  },
);

test.serial('where nothing may go, marks or not, nothing does, and that is said once', async (t) => {
  const node = await openNode(t);
  await node.embedded.importImage({ name: 'keep/a:1', layers: [{ seed: 'a', bytes: 8 * MIB }] });
  await node.embedded.startPod({ name: 'web', containers: [{ name: 'server', image: APP }] });
  const daemon = startDaemon(t, node, [
    '--protect-image=keep/*',
    '--image-gc-high-threshold=2',
    '--image-gc-low-threshold=1',
    '--maximum-image-ttl-duration=1s',
  ]);
  await daemon.gcEvent(() => daemon.gc.filter(isRun('image')).length >= 2);
  t.deepEqual(collected(daemon.gc, 'image'), []);
  t.is((await node.runtime.listImages()).length, 3);
  t.is(daemon.lines.filter((each) => each['code'] === 'IMAGE_GC_INSUFFICIENT').length, 1);
});

test.serial(
  'by the rules from before CRI two dead instances of a job can be kept, and a death changes nothing',
  async (t) => {
    const node = await openNode(t);
    await podWithJobs(node);
    const daemon = startDaemon(t, node, [
      '--container-gc-rules=docker-era',
      '--maximum-dead-containers-per-container=2',
    ]);
    await daemon.gcEvent(isRun('container'));
    t.deepEqual(collected(daemon.gc, 'container'), ['job']);
    const before = (await node.runtime.listContainers()).length;
    await daemon.gcEvent(() => daemon.gc.filter(isRun('container')).length >= 2);
    t.is((await node.runtime.listContainers()).length, before);
  },
);

test.serial('beside a kubelet nothing of it runs', async (t) => {
  const node = await openNode(t);
  await podWithJobs(node);
  const orphan = await makeLogs(node, ORPHAN);
  const daemon = startDaemon(
    t,
    node,
    ['--container-log-max-size=0', '--image-gc-high-threshold=2', '--image-gc-low-threshold=1'],
    { kubeletRuns: () => Promise.resolve(true) },
  );
  await daemon.event(() => daemon.events.filter((each) => each.kind === 'observed').length >= 2);
  t.deepEqual(daemon.gc, []);
  t.deepEqual(daemon.lines.find((each) => each['event'] === 'started')?.['collecting'], []);
  t.true(existsSync(orphan));
  t.is((await node.runtime.listContainers()).length, 4);
});

test.serial('all of it ends within two seconds, in the middle of rotations', async (t) => {
  const node = await openNode(t);
  await podWithJobs(node);
  await node.embedded.startPod({
    name: 'talker',
    containers: [{ name: 'main', image: APP, writeBytesPerSecond: 4 * MIB, writeTo: 'log' }],
  });
  const daemon = startDaemon(t, node, [
    '--container-log-max-size=64Ki',
    '--image-gc-high-threshold=2',
    '--image-gc-low-threshold=1',
  ]);
  await daemon.gcEvent((event) => event.kind === 'log-rotated');
  const took = await daemon.end();
  t.true(took < 2_000, `it took ${took} ms`);
  const told = daemon.gc.length;
  await node.runtime.listContainers();
  t.is(daemon.gc.length, told);
});
