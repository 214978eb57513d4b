import test from 'ava';
import { blindnessOf, observe, type UnknownReason } from '../../src/eviction/observe.js';
import type { PathLook } from '../../src/eviction/path-look.js';
import { POLICIES } from '../../src/eviction/policy.js';
import { ALL_SIGNALS } from '../../src/eviction/signal.js';
import { bytes, count } from '../../src/units/units.js';
import { at, reading, readings } from '../fakes/builders.js';

const GI = 2 ** 30;

test('a full set of readings observes all nine signals, each from its own source', (t) => {
  const { observations, unknown, clamped } = observe(
    readings({
      memory: { available: GI, capacity: 2 * GI, at: at(1) },
      allocatableMemory: { available: GI / 2, capacity: GI, at: null },
      pids: { available: 254_816, capacity: 255_816, at: at(3) },
      filesystems: {
        nodefs: reading({ available: bytes(1_024), capacity: bytes(2_048), at: at(4) }),
        imagefs: reading({ available: bytes(3), inodes: { free: count(7), total: count(9) }, at: at(5) }),
        containerfs: reading({ available: bytes(6), at: at(6) }),
      },
    }),
  );
  t.deepEqual(
    [...observations.values()].map(({ signal, available, capacity, at: time }) => [signal, available, capacity, time]),
    [
      ['memory.available', GI, 2 * GI, at(1)],
      ['allocatableMemory.available', GI / 2, GI, null],
      ['nodefs.available', 1_024, 2_048, at(4)],
      ['nodefs.inodesFree', 40, 100, at(4)],
      ['imagefs.available', 3, 1_000, at(5)],
      ['imagefs.inodesFree', 7, 9, at(5)],
      ['containerfs.available', 6, 1_000, at(6)],
      ['containerfs.inodesFree', 40, 100, at(6)],
      ['pid.available', 254_816, 255_816, at(3)],
    ],
  );
  t.deepEqual([unknown, clamped], [[], []]);
});

test('no numbers of memory and processes are unknown, not fine', (t) => {
  const { observations, unknown } = observe(readings({ memory: null, allocatableMemory: null, pids: null }));
  t.deepEqual(
    unknown.map(({ signal, reason }) => [signal, reason]),
    [
      ['memory.available', 'no-reading'],
      ['allocatableMemory.available', 'no-reading'],
      ['pid.available', 'no-reading'],
    ],
  );
  t.is(observations.size, ALL_SIGNALS.length - 3);
});

test('more processes than the limit allows leave a negative number', (t) => {
  const { observations, clamped } = observe(readings({ pids: { available: -5, capacity: 100, at: at(0) } }));
  t.is(observations.get('pid.available')?.available, -5);
  t.deepEqual(clamped, []);
});

const blind = test.macro((t, look: PathLook, reason: UnknownReason, detail: RegExp) => {
  const fine = reading();
  const { observations, unknown } = observe(
    readings({ filesystems: { nodefs: look, imagefs: fine, containerfs: fine } }),
  );
  t.false(observations.has('nodefs.available'));
  t.false(observations.has('nodefs.inodesFree'));
  t.deepEqual(
    unknown.map((each) => [each.signal, each.reason]),
    [
      ['nodefs.available', reason],
      ['nodefs.inodesFree', reason],
    ],
  );
  t.regex(unknown[0]?.detail ?? '', detail);
  t.true(observations.has('imagefs.available'), 'the others can still be seen');
});

test(
  'a path that is missing is unknown',
  blind,
  { kind: 'missing', path: '/data', at: at(0) },
  'missing',
  /\/data does not exist/,
);
test(
  'a look that fails is unknown',
  blind,
  { kind: 'error', path: '/data', message: 'EIO', at: at(0) },
  'error',
  /\/data: EIO/,
);
test(
  'a mount that does not answer is unknown',
  blind,
  { kind: 'hung', path: '/data', since: at(0), at: at(9) },
  'hung',
  /\/data does not answer/,
);
test(
  'a capacity of 0 is no reading, whatever the inodes say',
  blind,
  reading({ capacity: bytes(0), available: bytes(0) }),
  'no-capacity',
  /capacity of 0/,
);
test(
  'a filesystem mounted read-only is unknown: nothing could be freed there',
  blind,
  reading({ readOnly: true, available: bytes(0) }),
  'read-only',
  /read-only/,
);

test('a filesystem that counts no inodes is measured in bytes alone', (t) => {
  const look = reading({ inodes: null });
  const { observations, unknown } = observe(
    readings({ filesystems: { nodefs: look, imagefs: look, containerfs: look } }),
  );
  t.true(observations.has('nodefs.available'));
  t.deepEqual(
    unknown.map(({ signal, reason }) => [signal, reason]),
    [
      ['nodefs.inodesFree', 'not-measurable'],
      ['imagefs.inodesFree', 'not-measurable'],
      ['containerfs.inodesFree', 'not-measurable'],
    ],
  );
});

test('more available than the capacity is taken as the capacity, and said', (t) => {
  const { observations, clamped } = observe(readings({ memory: { available: 150, capacity: 100, at: at(0) } }));
  t.is(observations.get('memory.available')?.available, 100);
  t.deepEqual(clamped, [{ signal: 'memory.available', available: 150, capacity: 100 }]);
});

test('with numbers taken as told, a read-only mount, a capacity of 0 and more than there is are what they say', (t) => {
  const filesystems = {
    nodefs: reading({ readOnly: true }),
    imagefs: reading({ available: bytes(0), capacity: bytes(0) }),
    containerfs: reading({ available: bytes(1_200) }),
  };
  const { observations, unknown, clamped } = observe(readings({ filesystems }), 'taken-as-told');
  const seen = (['nodefs', 'imagefs', 'containerfs'] as const).map((name) => {
    const one = observations.get(`${name}.available`);
    return [one?.available, one?.capacity];
  });
  t.deepEqual(seen, [
    [400, 1_000],
    [0, 0],
    [1_200, 1_000],
  ]);
  t.deepEqual([unknown, clamped], [[], []]);
});

test('of numbers that somebody else claims, each pair is there or not, and is doubted like one that was measured', (t) => {
  const claim = { kind: 'claim', bytes: null, inodes: null, at: null } as const;
  const filesystems = {
    nodefs: { ...claim, inodes: { free: 3, total: 9 }, at: at(7) },
    imagefs: { ...claim, bytes: { available: 0, capacity: 0 } },
    containerfs: { ...claim, bytes: { available: 12, capacity: 10 } },
  };
  const doubted = observe(readings({ filesystems }));
  t.deepEqual(doubted.observations.get('nodefs.inodesFree'), {
    signal: 'nodefs.inodesFree',
    available: 3,
    capacity: 9,
    at: at(7),
  });
  t.is(doubted.observations.get('containerfs.available')?.available, 10);
  t.deepEqual(
    doubted.unknown.map(({ signal, reason }) => `${signal} ${reason}`),
    [
      'nodefs.available no-reading',
      'imagefs.available no-capacity',
      'imagefs.inodesFree no-reading',
      'containerfs.inodesFree no-reading',
    ],
  );
  t.is(observe(readings({ filesystems }), 'taken-as-told').observations.get('imagefs.available')?.capacity, 0);
});

test('only a filesystem that cannot be read makes a look none, and only where the policy has it so', (t) => {
  const { kubelet, reclaimd } = POLICIES;
  const lookOf = (nodefs: PathLook) => observe(readings({ filesystems: { ...readings().filesystems, nodefs } }));
  const broken = lookOf({ kind: 'error', path: '/var', message: 'EIO', at: at(0) });
  t.is(blindnessOf(broken, kubelet), '/var: EIO');
  t.is(blindnessOf(broken, reclaimd), null);
  t.is(blindnessOf(lookOf(reading({ inodes: null })), kubelet), null);
});

test('as much available as there is capacity is in order', (t) => {
  const { observations, clamped } = observe(readings({ memory: { available: 100, capacity: 100, at: at(0) } }));
  t.is(observations.get('memory.available')?.available, 100);
  t.deepEqual(clamped, []);
});
