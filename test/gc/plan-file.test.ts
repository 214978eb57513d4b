import test from 'ava';
import { planFromText, planToText, whyPlanRefused } from '../../src/gc/plan-file.js';
import { milliseconds } from '../../src/units/units.js';
import { at } from '../fakes/builders.js';
import { entry, removalPlan } from '../fakes/removal-plan.js';

const PLAN = removalPlan([entry('a', { frees: 5 }), entry('b', { goes: false, why: 'pinned by the runtime' })]);

test('a plan comes back from a file as it was, but for the ranking, which nothing is done by', (t) => {
  t.deepEqual(planFromText(planToText({ ...PLAN, ranking: [] })), { kind: 'plan', plan: { ...PLAN, ranking: null } });
});

for (const [title, text, rule] of [
  ['what is no JSON', '{', 'it must be JSON'],
  ['some other JSON', '{"entries":[]}', 'its format must be reclaimd-removal-plan/1'],
  ['a list', '[]', 'all of it must be whole'],
  ['half a plan', planToText(PLAN).replace('"entries"', '"entres"'), 'all of it must be whole'],
  ['a kind that no plan has', planToText(PLAN).replace('"image"', '"pod"'), 'pod is none of container, sandbox'],
  ['an entry without an id', planToText(PLAN).replace('"id": "a"', '"id": ""'), 'an id must not be empty'],
  ['a size below zero', planToText(PLAN).replace('"frees": 5', '"frees": -5'), '-5 is no whole number from 0'],
  ['an unknown signal', planToText(PLAN).replace('nodefs.available', 'nodefs.free'), 'there is no signal nodefs.free'],
] as const) {
  test(`${title} is no plan`, (t) => {
    const reading = planFromText(text);
    t.is(reading.kind, 'no-plan');
    t.true(reading.kind === 'no-plan' && reading.rule.includes(rule), reading.kind === 'no-plan' ? reading.rule : '');
  });
}

const HOUR = milliseconds(3_600_000);
const { node, endpoint } = PLAN;

for (const [title, plan, here, seconds, maxAge, rule] of [
  ['a plan of this node and this hour', {}, {}, 3_600, HOUR, null],
  ['one that is a second too old', {}, {}, 3_661, HOUR, 'it is 61 minutes old, and at most 60 are allowed (--max-age)'],
  ['one of any age, where that is allowed', {}, {}, 360_000, null, null],
  ['one from the future', {}, {}, -61, HOUR, 'it was made in the future, by the clock of this node'],
  ['a clock that was put back a little', {}, {}, -59, HOUR, null],
  [
    'another node',
    {},
    { node: { ...node, machineId: 'f'.repeat(32) } },
    1,
    HOUR,
    'it was made for the node node-1, and this is node-1',
  ],
  ['a node that was renamed', {}, { node: { ...node, hostname: 'node-9' } }, 1, HOUR, null],
  ['nodes without machine ids, of one name', { node: { ...node, machineId: null } }, {}, 1, HOUR, null],
  [
    'nodes without machine ids, of two names',
    { node: { hostname: 'x', machineId: null } },
    {},
    1,
    HOUR,
    'it was made for the node x, and this is node-1',
  ],
  [
    'another runtime',
    { endpoint: 'unix:///b' },
    {},
    1,
    HOUR,
    `it was made for the runtime at unix:///b, and this is ${endpoint}`,
  ],
] as const) {
  test(`${title} ${rule === null ? 'may be applied' : 'is refused'}`, (t) => {
    const found = whyPlanRefused({ ...PLAN, ...plan, madeAt: at(0) }, { node, endpoint, ...here }, at(seconds), maxAge);
    t.is(found, rule);
  });
}
