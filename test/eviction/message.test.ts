import test from 'ava';
import { amountText, bytesText, evictionMessage, quantityText } from '../../src/eviction/message.js';
import { POLICIES } from '../../src/eviction/policy.js';
import { type Candidate, rankPods } from '../../src/eviction/rank.js';
import type { Signal } from '../../src/eviction/signal.js';
import { milliseconds } from '../../src/units/units.js';
import { at, candidate, observation, threshold } from '../fakes/builders.js';

const GI = 2 ** 30;

for (const [value, expected] of [
  [0, '0 B'],
  [1, '1 B'],
  [1_023, '1023 B'],
  [1_024, '1.0 KiB'],
  [1_536, '1.5 KiB'],
  [2 ** 20 - 1, '1024.0 KiB'],
  [2 ** 20, '1.0 MiB'],
  [1.25 * GI, '1.3 GiB'],
  [2 ** 40, '1.0 TiB'],
  [2 ** 53, '8.0 PiB'],
  [2 ** 60, '1024.0 PiB'],
  [-3 * GI, '-3.0 GiB'],
] as const) {
  test(`${value} bytes are written ${expected}`, (t) => {
    t.is(bytesText(value), expected);
  });
}

for (const [amount, expected] of [
  [0, '0'],
  [1_000, '1k'],
  [1_023, '1023'],
  [1_024, '1Ki'],
  [10 * GI, '10Gi'],
  [10e9, '10G'],
  [1_000 * 2 ** 20, '1000Mi'],
  [1_500_000, '1500k'],
] as const) {
  test(`a request of ${amount} bytes is written ${expected}`, (t) => {
    t.is(quantityText(amount), expected);
  });
}

test('counts are written plain', (t) => {
  t.is(amountText('nodefs.inodesFree', 123_456), '123456');
  t.is(amountText('pid.available', -5), '-5');
  t.is(amountText('nodefs.available', 2_048), '2.0 KiB');
});

function message(signal: Signal, available: number, line: number, victim: Partial<Candidate>, others = 3): string {
  const [standing] = rankPods([candidate('web', victim)], signal, POLICIES.reclaimd);
  if (standing === undefined) throw new Error('Cannot rank one pod as one must come out: none');
  return evictionMessage(
    threshold(signal, '10%'),
    observation(signal, available),
    { line, target: line * 2 },
    standing,
    {
      rank: 1,
      of: others + 1,
    },
  );
}

test('a message says what ran out, where the line lies, what the pod uses and why it comes first', (t) => {
  t.is(
    message('nodefs.available', 8 * GI, 10 * GI, { usage: 3 * GI, request: GI, priority: -5 }),
    'The node is low on ephemeral-storage: nodefs.available is 8589934592 B (8.0 GiB), below 10% = 10737418240 B (10.0 GiB); ' +
      'the pod uses 3221225472 B (3.0 GiB), its request is 1Gi (priority -5; ranked 1 of 4)',
  );
});

test('what is not known is said to be not known', (t) => {
  t.is(
    message('nodefs.available', 8 * GI, 10 * GI, { usage: null, request: null, priority: null }, 0),
    'The node is low on ephemeral-storage: nodefs.available is 8589934592 B (8.0 GiB), below 10% = 10737418240 B (10.0 GiB); ' +
      'what the pod uses is not known (priority not known; ranked 1 of 1)',
  );
  t.regex(message('memory.available', 1, 2, { usage: 3, request: null }), /uses 3 B, its request is not known/);
});

test('inodes and processes cannot be requested, so nothing is said of a request', (t) => {
  t.is(
    message('nodefs.inodesFree', 400, 500, { usage: 90, request: 2 * GI }),
    'The node is low on inodes: nodefs.inodesFree is 400, below 10% = 500; the pod uses 90 (priority 0; ranked 1 of 4)',
  );
  t.is(
    message('pid.available', 40, 50, { usage: 9, request: 2 * GI }),
    'The node is low on pids: pid.available is 40, below 10% = 50; the pod uses 9 (priority 0; ranked 1 of 4)',
  );
});

test('inside the reclaim band the sentence names the target, as the line itself is no longer missed', (t) => {
  const text = evictionMessage(
    threshold('nodefs.available', '10Gi'),
    observation('nodefs.available', 12 * GI),
    { line: 10 * GI, target: 15 * GI },
    {
      uid: 'u',
      label: 'a/b',
      priority: null,
      usage: null,
      request: null,
      protectedBy: null,
      isOverRequest: null,
      excess: null,
    },
    { rank: 2, of: 3 },
  );
  t.true(text.includes('not back at 16106127360 B (15.0 GiB) (the line of 10Gi, and the minimum reclaim)'), text);
  t.true(text.endsWith('ranked 2 of 3)'), text);
});

const MIB = 2 ** 20;
const fresh = { by: 'walk', age: milliseconds(0), isComplete: true } as const;

test('the sentence names where the space lies, the largest first, with what is old, partly counted or not known', (t) => {
  const volumes = [
    { name: 'scratch', amount: 400 * MIB },
    { name: 'empty', amount: 0 },
  ];
  const text = message('nodefs.available', 8 * GI, 10 * GI, {
    usage: 412 * MIB,
    parts: [
      { source: 'layers', amount: 12_288, by: 'runtime', age: milliseconds(8_400), isComplete: true },
      { source: 'logs', amount: 12 * MIB, ...fresh, isComplete: false },
      { source: 'emptyDirs', amount: 400 * MIB, ...fresh, volumes },
      { source: 'deleted-open', amount: 0, ...fresh },
      { source: 'dead-containers', amount: null, by: 'runtime', age: null, isComplete: false },
    ],
  });
  t.true(
    text.includes(
      'the pod uses at least 432013312 B (412.0 MiB) (emptyDirs scratch 419430400 B (400.0 MiB), ' +
        'logs at least 12582912 B (12.0 MiB), layers 12288 B (12.0 KiB) of 8 s ago, dead-containers not known), ' +
        'its request is 0 (priority',
    ),
    text,
  );
});

test('who fills the disk is said to, and by how much; of a rate that fills nothing only the rate', (t) => {
  const writes = { perSecond: 95.4 * MIB, by: 'growth', over: milliseconds(250), at: at(0) } as const;
  const filling = message('nodefs.available', 8 * GI, 10 * GI, { usage: MIB, writes, isFilling: true });
  t.true(filling.includes('its request is 0; it fills the disk now, by 95.4 MiB/s (priority'), filling);
  t.true(message('nodefs.available', 1, 2, { usage: 3, writes }).includes('is 0, it writes 95.4 MiB/s (priority'));
});
