import test from 'ava';
import { readTarget } from '../../src/cli/plan-options.js';
import { agoText } from '../../src/cli/render/ago.js';
import { planJson, renderPlan } from '../../src/cli/render/plan.js';
import { instant } from '../../src/units/units.js';
import { at, limit } from '../fakes/builders.js';
import { entry, removalPlan } from '../fakes/removal-plan.js';

const PLAN = removalPlan([
  entry('sha256:0123456789abcdef', {
    claimed: 2_048,
    unique: 20,
    frees: 20,
    ownLayers: 1,
    sharedLayers: 2,
    firstSeen: at(0),
  }),
  entry('b', { frees: 40, lastUsed: at(9_940) }),
  entry('c'),
  entry('kept', { goes: false, why: 'protected by kept:*' }),
  entry('used', { goes: false, inUse: true, why: 'used by container x' }),
]);

test('the table tells what goes in order with the line behind it, and what stays and why', (t) => {
  const lines = renderPlan(PLAN, { all: false }).split('\n');
  const rowOf = (text: string) => lines.findIndex((line) => line.includes(text));
  t.true(rowOf('sha256:0123456789abcdef:1') < rowOf('b:1'));
  t.true(rowOf('b:1') < rowOf('here the target would be reached, by what each frees'));
  t.true(rowOf('here the target would be reached') < rowOf('c:1'));
  t.true(rowOf('c:1') < rowOf('What stays:'));
  t.regex(lines[rowOf('0123456789ab ')] ?? '', /2\.0 KiB +20 B +20 B +1 own, 2 shared +2 h ago +never seen +unused$/);
  t.regex(lines[rowOf('b:1')] ?? '', /unknown +unknown +40 B +unknown +unknown +1 min ago/);
  t.true(rowOf('protected by kept:*') > rowOf('What stays:'));
  t.is(rowOf('used by container x'), -1);
  t.true(lines.includes('Not shown: 1 in use (--all shows them).'));
  t.true(renderPlan(PLAN, { all: true }).includes('used by container x'));
});

for (const [title, plan, line] of [
  [
    'what is not enough says how much is missing',
    removalPlan([entry('a', { frees: 20 })]),
    '---- not enough: all of it is expected to free 20 B by what each frees, and 30 B are still missing ----',
  ],
  [
    'what is enough already says so',
    removalPlan([entry('a')], { available: 150 }),
    '---- the target is reached already: nothing has to go ----',
  ],
  [
    'claimed sizes are called that',
    removalPlan([entry('a', { claimed: 60 })]),
    '---- here the target would be reached, by claimed sizes, where nobody knows what is freed; what follows goes only if that does not come true ----',
  ],
  [
    'without a target all of it goes',
    removalPlan([entry('a', { frees: 9 })], { goals: [] }),
    '---- all of it is expected to free 9 B by what each frees ----',
  ],
  [
    'unknown inodes are a lower bound',
    removalPlan([entry('a', { claimed: 60 })], { signal: 'nodefs.inodesFree', goals: [] }),
    '---- all of it is expected to free 0 at least, as nobody says how many inodes some of it frees ----',
  ],
  [
    'the kubelet’s profile knows no line',
    removalPlan([entry('a', { frees: 60 })], { profile: 'kubelet' }),
    '---- this profile removes all of it, whatever is enough; all of it is expected to free 60 B by what each frees ----',
  ],
  ['where nothing may go that is said', removalPlan([]), 'Nothing may go.'],
  [
    'a hole in the plan is said',
    removalPlan([], { problems: ['the images cannot be listed: x'] }),
    'Incomplete: the images cannot be listed: x',
  ],
  [
    'a ranking that cannot be told is said',
    removalPlan([], { rankingProblem: 'no answer' }),
    'Which pods would follow cannot be told: no answer',
  ],
] as const) {
  test(title, (t) => {
    const lines = renderPlan(plan, { all: false }).split('\n');
    t.true(lines.includes(line), lines.join('\n'));
  });
}

test('pods are shown in their order with what is known of them', (t) => {
  const ranking = [
    { label: 'd/a', priority: 5, usage: 2_048, request: null, protectedBy: null },
    { label: 'd/b', priority: null, usage: null, request: 1_024, protectedBy: 'static pod (from file)' },
  ];
  const text = renderPlan(removalPlan([], { ranking }), { all: false });
  t.true(text.includes('  1. d/a (priority 5, uses 2.0 KiB, requests unknown)'));
  t.true(text.includes('  2. d/b (priority unknown, uses unknown, requests 1.0 KiB; stays: static pod (from file))'));
});

test('the JSON form has the cut beside the entries', (t) => {
  const { cut, entries } = JSON.parse(planJson(PLAN)) as { cut: unknown; entries: readonly { frees: unknown }[] }; // our own output
  t.deepEqual(cut, { after: 2, expected: 60, basis: 'known' });
  t.is(entries[2]?.frees, null);
});

for (const [signal, target, reading] of [
  [null, null, { signal: null, target: null }],
  ['imagefs.available', '20Gi', { signal: 'imagefs.available', target: limit('20Gi') }],
  [null, '15%', { signal: null, target: limit('15%') }],
  [null, 'all', { signal: null, target: 'all' }],
] as const) {
  test(`--signal ${signal} --target ${target} is understood`, (t) => {
    t.deepEqual(readTarget({ signal, target }), { kind: 'asked', asked: reading });
  });
}

for (const [signal, target, message] of [
  [
    'memory.available',
    null,
    'Cannot use --signal as it must be one of nodefs.available, nodefs.inodesFree, imagefs.available',
  ],
  ['nodefs.free', null, 'Cannot use --signal as it must be one of'],
  [null, '20Gx', 'Cannot use --target as'],
  [null, '0%', 'Cannot use --target as it must be an amount or a percentage between 0% and 100%, or all: 0%'],
  [null, '-1', 'Cannot use --target as'],
] as const) {
  test(`--signal ${signal} --target ${target} is refused`, (t) => {
    const reading = readTarget({ signal, target });
    t.is(reading.kind, 'refused');
    t.true(reading.kind === 'refused' && reading.message.startsWith(message), JSON.stringify(reading));
  });
}

for (const [ms, text] of [
  [0, '0 s ago'],
  [59_999, '59 s ago'],
  [60_000, '1 min ago'],
  [3_599_999, '59 min ago'],
  [86_400_000, '1 d ago'],
  [-1, 'unknown'],
] as const) {
  test(`${ms} ms are ${text}`, (t) => {
    t.is(agoText(instant(100_000_000 - ms), instant(100_000_000)), text);
  });
}
