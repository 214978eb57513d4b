import test from 'ava';
import { AdmissionGuard } from '../../src/reclaim/admission-guard.js';
import { milliseconds } from '../../src/units/units.js';
import { VirtualClock } from '../fakes/virtual-clock.js';

const MB = 1024 * 1024;
const FIVE_MINUTES = 5 * 60_000;

function scene() {
  const clock = new VirtualClock(0);
  const disk = { available: 300 * MB, calls: 0 };
  const guard = new AdmissionGuard({
    clock,
    reserve: { runtimeFreeMegabytes: 256, rootFreeMegabytes: 256 },
    transition: milliseconds(FIVE_MINUTES),
    async statistics(filesystem) {
      disk.calls += 1;
      if (disk.available < 0) throw new Error('no statistics');
      return { capacity: 1_000 * MB, available: filesystem === 'root' ? 900 * MB : disk.available };
    },
  });
  return { clock, disk, guard };
}

test('a new pod comes while both filesystems have their reserve, and exactly the reserve is enough', async (t) => {
  const { clock, disk, guard } = scene();
  t.true((await guard.admit()).admitted);
  disk.available = 256 * MB;
  clock.skip(2_000);
  t.true((await guard.admit()).admitted);
  disk.available = 256 * MB - 1;
  clock.skip(2_000);
  t.false((await guard.admit()).admitted);
});

test('statistics serve for two seconds; a failure is asked again at once', async (t) => {
  const { clock, disk, guard } = scene();
  await guard.query('runtime');
  clock.skip(1_999);
  await guard.query('runtime');
  t.is(disk.calls, 1);
  clock.skip(1);
  disk.available = -1;
  t.is((await guard.query('runtime')).kind, 'doubt');
  t.is((await guard.query('runtime')).kind, 'doubt');
  t.is(disk.calls, 3);
});

test('out of disk holds at once and ends a transition period after it began', async (t) => {
  const { clock, disk, guard } = scene();
  const statusAfter = async (wait: number, available: number) => {
    clock.skip(wait);
    disk.available = available;
    return (await guard.admit()).outOfDisk.status;
  };
  t.is(await statusAfter(0, 300 * MB), 'false');
  t.is(await statusAfter(2_000, MB), 'true');
  t.is(await statusAfter(2_000, 300 * MB), 'true');
  t.is(await statusAfter(FIVE_MINUTES - 2_000, 300 * MB), 'false');
});
