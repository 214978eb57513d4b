import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { locate } from '../../../src/adapters/host/locate.js';
import { parseMountTable } from '../../../src/adapters/host/mount-table.js';
import { scratch } from './real.js';

test('links are followed up to the first foreign mount and no further', async (t) => {
  const root = realpathSync(scratch(t));
  mkdirSync(join(root, 'disk/sub'), { recursive: true });
  symlinkSync('disk/sub/..', join(root, 'relative'));
  symlinkSync(join(root, 'nas/data'), join(root, 'absolute'));
  symlinkSync('loop', join(root, 'loop'));
  // The NAS exists in the table only: whoever touches it would find nothing there.
  const table = parseMountTable(`1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:9 / ${root}/nas rw - nfs4 nas:/ rw\n`);
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['disk', 'disk', false],
    ['relative/sub', 'disk/sub', false],
    ['relative/../relative/./sub', 'disk/sub', false],
    ['absolute', 'nas/data', true],
    ['absolute/deeper/../x', 'nas/data/deeper/../x', true],
    ['nas', 'nas', true],
    ['missing/under/nothing', 'missing/under/nothing', false],
    ['loop/x', 'loop/x', false],
  ];
  for (const [path, real, foreign] of rows) {
    const place = await locate(table, join(root, '/') + path);
    t.is(place.path, join(root, '/') + real, path);
    t.is(place.foreign, foreign, path);
  }
});

test('without a mount table everything is foreign', async (t) => {
  t.true((await locate(parseMountTable(''), '/tmp')).foreign);
});
