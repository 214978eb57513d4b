import { fc, testProp } from '@fast-check/ava';
import test from 'ava';
import { isLocal, mountOf, mountPointsBelow, parseMountTable } from '../../../src/adapters/host/mount-table.js';

const RECORDED = `\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
31 27 8:16 / /var/lib/containerd rw,noatime shared:2 master:1 - xfs /dev/sdb rw,attr2
40 27 0:50 / /mnt/nas\\040one rw,relatime - nfs4 nas:/export rw,vers=4.2,hard
41 27 8:32 /bind /srv/ro ro,relatime - ext4 /dev/sdc rw
42 27 8:48 / /srv/failed rw,relatime - ext4 /dev/sdd ro,errors=remount-ro
43 27 8:64 / /srv/failed-new rw,relatime - ext4 /dev/sde rw,emergency_ro
44 27 0:60 / /srv/fuse rw,relatime - fuse.sshfs host:/ rw
`;

test('the mount of a path is told without touching it', (t) => {
  const table = parseMountTable(RECORDED);
  const rows: readonly (readonly [string, string, string])[] = [
    ['/', '/', 'the root itself'],
    ['/var/lib', '/', 'a parent of a mount point is not on it'],
    ['/var/lib/containerd', '/var/lib/containerd', 'the mount point itself'],
    ['/var/lib/containerd/io/x', '/var/lib/containerd', 'what is below it, even if it does not exist'],
    ['/var/lib/containerd-old', '/', 'a name that merely begins alike'],
    ['/mnt/nas one/deep/er', '/mnt/nas one', 'a blank stands as an octal number'],
  ];
  for (const [path, mountPoint, why] of rows) t.is(mountOf(table, path)?.mountPoint, mountPoint, why);
});

test('read-only is what the mount or its filesystem says', (t) => {
  const table = parseMountTable(RECORDED);
  const readOnly = ['/', '/srv/ro', '/srv/failed', '/srv/failed-new'].map((path) => mountOf(table, path)?.readOnly);
  t.deepEqual(readOnly, [false, true, true, true]);
});

test('what may depend on a server or a daemon is foreign', (t) => {
  const table = parseMountTable(RECORDED);
  const local = ['/', '/proc', '/var/lib/containerd', '/mnt/nas one', '/srv/fuse'].map((path) => {
    const mount = mountOf(table, path);
    return mount !== null && isLocal(mount);
  });
  t.deepEqual(local, [true, true, true, false, false]);
});

test('the last of several mounts on one point is the one that is seen', (t) => {
  const table = parseMountTable(`\
1 0 8:1 / / rw - ext4 /dev/a rw
2 1 8:2 / /data rw - ext4 /dev/b rw
3 2 8:3 / /data rw - ext4 /dev/c rw
`);
  t.is(mountOf(table, '/data/x')?.device, '8:3');
});

test('a mount below a directory that was covered later cannot be reached', (t) => {
  const table = parseMountTable(`\
1 0 8:1 / / rw - ext4 /dev/a rw
2 1 0:9 / /data/deep rw - nfs4 nas:/ rw
3 1 8:3 / /data rw - ext4 /dev/c rw
`);
  t.is(mountOf(table, '/data/deep/x')?.device, '8:3');
});

test('a text without a root or with broken lines tells what it can', (t) => {
  t.is(mountOf(parseMountTable(''), '/x'), null);
  t.is(mountOf(parseMountTable('garbage\n7 1 8:1 / /x rw - ext4 /dev/a rw\n7 x 8:1'), '/x/y')?.device, '8:1');
});

test('mount points below a path are those strictly below it', (t) => {
  t.deepEqual(mountPointsBelow(parseMountTable(RECORDED), '/srv'), [
    '/srv/ro',
    '/srv/failed',
    '/srv/failed-new',
    '/srv/fuse',
  ]);
  t.deepEqual(mountPointsBelow(parseMountTable(RECORDED), '/srv/failed'), []);
});

testProp(
  'any text is read without a throw, and a path lies on a mount at or above it',
  [fc.string(), fc.webPath()],
  (t, text, path) => {
    const mount = mountOf(parseMountTable(`${RECORDED}${text}`), `/${path}`);
    t.true(mount !== null && (mount.mountPoint === '/' || `/${path}`.startsWith(mount.mountPoint)));
  },
);
