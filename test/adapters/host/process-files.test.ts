import { mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { lookAtProcesses } from '../../../src/adapters/host/process-files.js';
import { DB, procOf, type ShownProcess, WEB } from './proc-fixture.js';
import { scratch } from './real.js';

const never = () => false;
const HOST = '21 1 254:0 / / rw - ext4 /dev/vda rw\n';

function scene(t: ExecutionContext) {
  const root = realpathSync(scratch(t));
  const upper = join(root, 'snapshots/7/fs');
  mkdirSync(upper, { recursive: true });
  const overlay = `90 1 0:55 / / rw - overlay overlay rw,lowerdir=/l,upperdir=${upper},workdir=/w\n`;
  const look = (processes: Readonly<Record<string, ShownProcess>>, isStopped = never) =>
    lookAtProcesses(procOf(root, { cgroup: '0::/\n', mountinfo: HOST }, processes), new Set([WEB]), isStopped);
  return { root, upper, overlay, look };
}

const inContainer = { cgroup: `0::/cri-containerd-${WEB}.scope\n`, namespace: 'mnt:[2]' };

test('the writable layer is the upper directory of what a process has as its root', (t) => {
  const { upper, overlay, look } = scene(t);
  const volume = '91 90 254:0 /pods/x /data rw - ext4 /dev/vda rw\n';
  t.is(look({ '10': { ...inContainer, mountinfo: overlay + volume } }).get(WEB)?.layerDirectory, upper);
});

for (const [title, process] of [
  ['a helper that lives in our own namespace', { cgroup: `0::/crio-conmon-${WEB}.scope\n`, namespace: 'mnt:[1]' }],
  ['a root that is no overlay', { ...inContainer, mountinfo: HOST }],
] as const) {
  test(`${title} tells of no layer`, (t) => {
    const { overlay, look } = scene(t);
    t.is(look({ '10': { mountinfo: overlay, ...process } }).get(WEB)?.layerDirectory, null);
  });
}

test('a layer that is no directory here, or has no absolute path, is not found', (t) => {
  for (const upper of ['/nowhere/fs', 'relative/fs']) {
    const mountinfo = `90 1 0:55 / / rw - overlay overlay rw,upperdir=${upper},workdir=/w\n`;
    t.is(
      scene(t)
        .look({ '10': { ...inContainer, mountinfo } })
        .get(WEB)?.layerDirectory,
      null,
    );
  }
});

test('who was not asked about is not looked at, nor who has no processes', (t) => {
  const { overlay, look } = scene(t);
  t.deepEqual([...look({ '10': { cgroup: `0::/${DB}\n`, namespace: 'mnt:[3]', mountinfo: overlay } }).keys()], []);
});

test('a link that only looks like a deleted file is none: the file behind it has a name', (t) => {
  const { root, look } = scene(t);
  const file = join(root, 'log (deleted)');
  writeFileSync(file, Buffer.alloc(8_192, 1));
  t.true(statSync(file).nlink === 1);
  const seen = look({ '10': { ...inContainer, mountinfo: HOST, descriptors: { '3': { to: file, mount: 21 } } } });
  t.is(seen.get(WEB)?.deletedOpen.size, 0);
  t.true(seen.get(WEB)?.isComplete);
});

test('a deleted file on a server is not touched, and one whose mount is in no table makes a lower bound', (t) => {
  const nfs = '22 21 0:60 / /share rw - nfs4 server:/ rw\n';
  const to = '/share/big (deleted)';
  const there = scene(t).look({
    '10': { ...inContainer, mountinfo: HOST + nfs, descriptors: { '3': { to, mount: 22 } } },
  });
  t.deepEqual([there.get(WEB)?.deletedOpen.size, there.get(WEB)?.isComplete], [0, true]);
  const lost = scene(t).look({ '10': { ...inContainer, mountinfo: HOST, descriptors: { '3': { to, mount: 99 } } } });
  t.deepEqual([lost.get(WEB)?.deletedOpen.size, lost.get(WEB)?.isComplete], [0, false]);
});

test('a look that is told to stop is a lower bound', (t) => {
  let asked = 0;
  const stopsSoon = () => (asked += 1) > 2;
  const { look } = scene(t);
  const seen = look({ '10': inContainer, '11': inContainer, '12': inContainer }, stopsSoon);
  t.is(seen.get(WEB)?.isComplete, false);
});
