import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { StaticPods } from '../../../src/adapters/pods/static-pods.js';
import { VirtualClock } from '../../fakes/virtual-clock.js';

const ETCD = `apiVersion: v1
kind: Pod
metadata:
  name: etcd
  namespace: kube-system
spec:
  priorityClassName: system-node-critical
  containers:
    - name: etcd
      image: etcd:3
      resources:
        requests: {memory: 100Mi}
`;

function directory(t: ExecutionContext, files: Readonly<Record<string, string | Buffer>>): string {
  const path = mkdtempSync(join(tmpdir(), 'reclaimd-static-'));
  t.teardown(() => {
    rmSync(path, { recursive: true, force: true });
  });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

/** One on which every wait is over before a disk can answer. */
class HastyClock extends VirtualClock {
  override sleep(): Promise<void> {
    return Promise.resolve();
  }
}

/** What is said of the one file in a directory, without the directory. */
async function problemsOf(t: ExecutionContext, name: string, text: string | Buffer): Promise<readonly string[]> {
  const path = directory(t, { [name]: text });
  const { pods, problems } = await new StaticPods(path, new VirtualClock()).read();
  t.true(problems.every(({ what }) => what === `the static pods in ${path}`));
  t.true(pods.length <= 1);
  return problems.map(({ message }) => message.replace(`${path}/`, ''));
}

test('YAML and JSON are read; names that begin with a dot and directories are not', async (t) => {
  const json = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'proxy' }, spec: { containers: [] } });
  const path = directory(t, { 'etcd.yaml': ETCD, proxy: json, '.etcd.yaml.swp': 'not: [yaml' });
  mkdirSync(join(path, 'old'));
  writeFileSync(join(path, 'old', 'gone.yaml'), ETCD);
  symlinkSync(join(path, 'old'), join(path, 'link'));
  const { pods, problems } = await new StaticPods(path, new VirtualClock()).read();
  t.deepEqual(problems, []);
  t.deepEqual(
    pods.map(({ name, priority }) => [name, priority]),
    [
      ['etcd', 2_000_001_000],
      ['proxy', null],
    ],
  );
});

test('the path may be one file, and a link to one', async (t) => {
  const path = directory(t, { 'etcd.yaml': ETCD });
  symlinkSync(join(path, 'etcd.yaml'), join(path, 'link.yaml'));
  for (const name of ['etcd.yaml', 'link.yaml']) {
    const { pods } = await new StaticPods(join(path, name), new VirtualClock()).read();
    t.deepEqual(
      pods.map((pod) => pod.name),
      ['etcd'],
    );
  }
});

test('of several documents the first is the pod, as the kubelet has it', async (t) => {
  const path = directory(t, { 'two.yaml': `${ETCD}---\n${ETCD.replace('name: etcd', 'name: other')}` });
  const { pods, problems } = await new StaticPods(path, new VirtualClock()).read();
  t.deepEqual([pods.map((pod) => pod.name), problems], [['etcd'], []]);
});

test('a file that changes is read again, and one that goes takes its pod along', async (t) => {
  const path = directory(t, { 'etcd.yaml': ETCD });
  const source = new StaticPods(path, new VirtualClock());
  await source.read();
  // As editors and kubeadm write it: beside, and then in its place.
  writeFileSync(join(path, '.new'), ETCD.replace('system-node-critical', 'system-cluster-critical'));
  renameSync(join(path, '.new'), join(path, 'etcd.yaml'));
  t.is((await source.read()).pods[0]?.priority, 2_000_000_000);
  rmSync(join(path, 'etcd.yaml'));
  t.deepEqual((await source.read()).pods, []);
});

test('a directory that is gone is told; what it held holds for five minutes', async (t) => {
  const path = directory(t, { 'etcd.yaml': ETCD });
  const clock = new VirtualClock();
  const source = new StaticPods(path, clock);
  await source.read();
  renameSync(path, `${path}.away`);
  t.teardown(() => {
    rmSync(`${path}.away`, { recursive: true });
  });
  clock.skip(299_999);
  const known = await source.read();
  t.is(known.pods.length, 1);
  t.regex(known.problems[0]?.message ?? '', /must be a directory or a file that is there: ENOENT/);
  clock.skip(1);
  t.is((await source.read()).pods.length, 0);
});

test('a directory that never was there is told, and no empty list alone', async (t) => {
  const { pods, problems } = await new StaticPods('/nonexistent/manifests', new VirtualClock()).read();
  t.deepEqual(pods, []);
  t.is(problems.length, 1);
});

test('a disk that does not answer in time holds up nobody', async (t) => {
  const path = directory(t, { 'etcd.yaml': ETCD });
  const { pods, problems } = await new StaticPods(path, new HastyClock()).read();
  t.deepEqual(pods, []);
  t.regex(problems[0]?.message ?? '', /must answer in time: 2000 ms/);
});

test('a pipe is not waited for', async (t) => {
  const path = directory(t, { 'etcd.yaml': ETCD });
  execFileSync('mkfifo', [join(path, 'pipe.yaml')]);
  const { pods, problems } = await new StaticPods(path, new VirtualClock()).read();
  t.is(pods.length, 1);
  t.regex(problems[0]?.message ?? '', /pipe\.yaml: Cannot use this file as it must be a plain file/);
});

test('past 500 files no more are read, said', async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: 502 }, (_, index) => [`${String(index).padStart(3, '0')}.yaml`, ETCD]),
  );
  const { pods, problems } = await new StaticPods(directory(t, many), new VirtualClock()).read();
  t.is(pods.length, 500);
  t.deepEqual(
    problems.map(({ message }) => message),
    ['Cannot read the others as no more than 500 files are read: 502 files'],
  );
});

interface Row {
  readonly title: string;
  readonly text: string | Buffer;
  readonly says: RegExp;
}

/** Aliases of aliases: some 200 bytes that stand for 10^9 items. */
const BOMB = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
  .concat(Array.from({ length: 8 }, (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index},`.repeat(10)}]`))
  .join('\n');

const BAD: readonly Row[] = [
  {
    title: 'an open bracket',
    text: 'apiVersion: v1\nkind: Pod\nmetadata: {name: x\n',
    says: /^bad:\d+: Cannot use this file as the file must be YAML or JSON/,
  },
  { title: 'nothing', text: '', says: /^bad:1: .*must hold/ },
  { title: 'a comment only', text: '# pod\n', says: /^bad:1: .*must hold/ },
  {
    title: 'another kind',
    text: 'apiVersion: v1\n\nkind: Service\n',
    says: /^bad:3: .*must hold a v1 Pod: v1 Service$/,
  },
  { title: 'another version', text: 'apiVersion: v2\nkind: Pod\n', says: /^bad:2: .*must hold a v1 Pod: v2 Pod$/ },
  { title: 'a list', text: '- a\n', says: /^bad:1: .*must hold a v1 Pod: no map$/ },
  {
    title: 'a pod without a name',
    text: 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: ""\n',
    says: /^bad:4: metadata\.name: .*must have a name/,
  },
  {
    title: 'a quantity that is none',
    text: ETCD.replace('100Mi', '100MB'),
    says: /^bad:12: spec\.containers\[0\]\.resources\.requests\.memory: .*must be a quantity such as 100Mi: 100MB$/,
  },
  { title: 'aliases that multiply', text: BOMB, says: /^bad:1: .*must be YAML or JSON \(Excessive alias count/ },
  { title: 'an alias that leads nowhere', text: 'a: *b\n', says: /^bad:1: .*must be YAML or JSON/ },
  { title: 'nesting deeper than the stack', text: '['.repeat(50_000), says: /^bad:1: .*must be YAML or JSON/ },
  { title: 'control characters', text: Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]), says: /^bad:1: (?!.*\u007f)/ },
  {
    title: 'more than is read',
    text: `#${' '.repeat(1024 * 1024)}\n${ETCD}`,
    says: /^bad: .*not be larger than 1048576 bytes/,
  },
];

for (const { title, text, says } of BAD) {
  test(`a manifest that cannot be used is told with its file and line: ${title}`, async (t) => {
    const [problem, ...others] = await problemsOf(t, 'bad', text);
    t.regex(problem ?? '', says);
    t.deepEqual(others, []);
  });
}

test('one bad manifest takes no other with it', async (t) => {
  const path = directory(t, { 'bad.yaml': ': : :', 'etcd.yaml': ETCD });
  const { pods, problems } = await new StaticPods(path, new VirtualClock()).read();
  t.is(pods.length, 1);
  t.is(problems.length, 1);
});
