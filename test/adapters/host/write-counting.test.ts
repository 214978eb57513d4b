import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { countWrites } from '../../../src/adapters/host/write-counting.js';
import { DB, procOf, WEB } from './proc-fixture.js';
import { scratch } from './real.js';

const io = (written: number, cancelled = 0) =>
  `rchar: 5\nwchar: 999\nsyscr: 1\nsyscw: 1\nread_bytes: 7\nwrite_bytes: ${written}\ncancelled_write_bytes: ${cancelled}\n`;
const OWN = { cgroup: '0::/system.slice/reclaimd.service\n' };
const never = () => false;

test('what the processes of a container have written is added up, less what was thrown away unwritten', (t) => {
  const proc = procOf(scratch(t), OWN, {
    '10': { cgroup: `0::/kubepods.slice/cri-containerd-${WEB}.scope\n`, io: io(1_000, 300) },
    '11': { cgroup: `0::/kubepods.slice/cri-containerd-${WEB}.scope/deeper\n`, io: io(50) },
    '12': { cgroup: `4:blkio:/kubepods/besteffort/pod1/${DB}\n1:name=systemd:/x/${DB}\n`, io: io(7) },
    '13': { cgroup: '0::/system.slice/sshd.service\n', io: io(9_999) },
    '14': { cgroup: `0::/kubepods.slice/crio-conmon-${DB}.scope\n`, io: io(20) },
  });
  t.deepEqual(
    [...countWrites(proc, '/nowhere', never)].sort(([a], [b]) => a.localeCompare(b)),
    [
      [WEB, { processes: 750, cgroup: null }],
      [DB, { processes: 27, cgroup: null }],
    ],
  );
});

test('the unified hierarchy tells what it has sent to devices, of the group that is named after the container', (t) => {
  const root = scratch(t);
  const group = `kubepods.slice/crio-${WEB}.scope`;
  const proc = procOf(root, OWN, {
    '10': { cgroup: `0::/${group}/child\n`, io: io(5) },
    '11': { cgroup: `0::/../../${DB}\n` },
  });
  const cgroup = join(root, 'cgroup');
  mkdirSync(join(cgroup, group), { recursive: true });
  writeFileSync(
    join(cgroup, group, 'io.stat'),
    '8:0 rbytes=1 wbytes=4096 rios=1 wios=1 dbytes=0 dios=0\n253:0 rbytes=0 wbytes=100 rios=0 wios=1 dbytes=9 dios=0\n',
  );
  const counts = countWrites(proc, cgroup, never);
  t.deepEqual(counts.get(WEB), { processes: 5, cgroup: 4_196 });
  t.is(counts.get(DB), undefined, 'neither count can be read');
  writeFileSync(join(cgroup, group, 'io.stat'), '');
  t.is(countWrites(proc, cgroup, never).get(WEB)?.cgroup, 0, 'a group that has sent nothing has an empty file');
});

test('a process that may not be read, or that has ended meanwhile, hides nobody else', (t) => {
  const proc = procOf(scratch(t), OWN, {
    '10': { cgroup: `0::/${WEB}\n` },
    '11': { cgroup: `0::/${WEB}\n`, io: io(40) },
    '12': { cgroup: `0::/${DB}\n` },
  });
  t.deepEqual([...countWrites(proc, '/nowhere', never)], [[WEB, { processes: 40, cgroup: null }]]);
});

test('one that is told to stop stops', (t) => {
  const proc = procOf(scratch(t), OWN, { '10': { cgroup: `0::/${WEB}\n`, io: io(40) } });
  t.is(countWrites(proc, '/nowhere', () => true).size, 0);
});
