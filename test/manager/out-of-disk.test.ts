import test from 'ava';
import type { GcEvent } from '../../src/gc/gc-event.js';
import { watchOutOfDisk } from '../../src/manager/out-of-disk.js';
import { AdmissionGuard } from '../../src/reclaim/admission-guard.js';
import { milliseconds } from '../../src/units/units.js';
import { VirtualClock } from '../fakes/virtual-clock.js';

const MB = 1024 * 1024;

test('OutOfDisk is told when it changes: at once when a disk is short, five minutes after that at the soonest', async (t) => {
  const clock = new VirtualClock(0);
  const abort = new AbortController();
  let available = 300 * MB;
  const guard = new AdmissionGuard({
    clock,
    reserve: { runtimeFreeMegabytes: 256, rootFreeMegabytes: 256 },
    transition: milliseconds(5 * 60_000),
    statistics: async (filesystem) => ({
      capacity: 1_000 * MB,
      available: filesystem === 'root' ? 900 * MB : available,
    }),
  });
  const told: GcEvent[] = [];
  const watching = (async () => {
    for await (const event of watchOutOfDisk({ guard, clock }, abort.signal)) told.push(event);
  })();
  await clock.pass(60_000);
  available = 100 * MB;
  await clock.pass(20_000);
  available = 300 * MB;
  await clock.pass(10 * 60_000);
  abort.abort();
  await watching;
  t.deepEqual(
    told.map((event) => event.kind === 'out-of-disk' && [event.isOut, Number(event.at)]),
    [
      [false, 0],
      [true, 70_000],
      [false, 370_000],
    ],
  );
  t.like(told[1], { answers: { runtime: { kind: 'no-room', available: 100 * MB }, root: { kind: 'room' } } });
});
