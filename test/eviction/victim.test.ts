import test from 'ava';
import { POLICIES, type ProfileName } from '../../src/eviction/policy.js';
import { type Candidate, rankPods } from '../../src/eviction/rank.js';
import {
  CRITICAL_PRIORITY,
  chooseVictim,
  evictionGrace,
  HARD_GRACE,
  type PodStanding,
  protectionOf,
  RETRY_KILL_AFTER,
} from '../../src/eviction/victim.js';
import { milliseconds } from '../../src/units/units.js';
import { candidate, threshold } from '../fakes/builders.js';

/** `[name, usage, protected by]`. */
type Row = readonly [name: string, usage: number | null, protectedBy?: string];

function choose(rows: readonly Row[], missing: number, profile: ProfileName): string {
  const candidates = rows.map(([uid, usage, protectedBy = null]) => candidate(uid, { usage, protectedBy }));
  const victim = chooseVictim(rankPods(candidates, 'nodefs.available', POLICIES[profile]), missing, POLICIES[profile]);
  return victim.kind === 'victim' ? victim.standing.uid : `nobody: ${victim.reason}`;
}

for (const [title, rows, missing, kubelet, reclaimd] of [
  ['no pod at all', [], 100, 'nobody: no pod runs here', undefined],
  [
    'the first in rank goes',
    [
      ['small', 50],
      ['big', 90],
    ],
    100,
    'big',
    undefined,
  ],
  [
    'a protected one is passed over',
    [
      ['small', 50],
      ['big', 90, 'static pod'],
    ],
    100,
    'small',
    undefined,
  ],
  [
    'all protected: nobody goes, and the reasons are said once each',
    [
      ['a', 1, 'static pod'],
      ['b', 2, 'static pod'],
      ['c', 3, 'namespace'],
    ],
    100,
    'nobody: all 3 pods are protected (namespace; static pod)',
    undefined,
  ],
  ['a pod of exactly a hundredth of what is missing is worth it', [['tiny', 10]], 1_000, 'tiny', undefined],
  [
    'a pod below a hundredth of what is missing is not',
    [['tiny', 9]],
    1_000,
    'tiny',
    'nobody: no pod that may go holds a hundredth of what is missing',
  ],
  [
    'the hundredth is taken exactly',
    [['tiny', 100]],
    10_100,
    'tiny',
    'nobody: no pod that may go holds a hundredth of what is missing',
  ],
  ['a pod of unknown use may be worth it', [['blind', null]], 1_000, 'blind', undefined],
  ['when nothing is missing, anybody will do', [['idle', 0]], 0, 'idle', undefined],
] as const satisfies readonly (readonly [string, readonly Row[], number, string, string | undefined])[]) {
  test(title, (t) => {
    t.is(choose(rows, missing, 'kubelet'), kubelet);
    t.is(choose(rows, missing, 'reclaimd'), reclaimd ?? kubelet);
  });
}

test('at most three reasons are said', (t) => {
  const rows = ['a', 'b', 'c', 'd'].map((name): Row => [name, 1, `reason ${name}`]);
  t.is(choose(rows, 1, 'reclaimd'), 'nobody: all 4 pods are protected (reason a; reason b; reason c)');
});

const POD: PodStanding = {
  isMirror: false,
  source: 'api',
  priority: 0,
  namespace: 'default',
  isUnderWay: false,
  hasJustFailed: false,
};

for (const [title, changes, expected] of [
  ['an ordinary pod may go', {}, null],
  ['a pod of which nobody says anything may go', { source: null, priority: null }, null],
  ['a static pod from a file stays', { source: 'file' }, 'static pod (from file)'],
  ['a static pod from a URL stays', { source: 'http' }, 'static pod (from http)'],
  ['a mirror pod stays', { isMirror: true }, 'mirror of a static pod'],
  ['critical priority stays', { priority: CRITICAL_PRIORITY }, 'critical priority 2000000000'],
  ['just below critical may go', { priority: CRITICAL_PRIORITY - 1 }, null],
  ['a protected namespace stays', { namespace: 'kube-system' }, 'namespace kube-system is protected'],
  ['a namespace that only begins alike may go', { namespace: 'kube-system-2' }, null],
  ['a pod that was told to end is not told again', { isUnderWay: true }, 'was told to end already'],
  ['a pod whose end just failed has to wait', { hasJustFailed: true }, 'could not be ended a moment ago'],
] as const satisfies readonly (readonly [string, Partial<PodStanding>, string | null])[]) {
  test(title, (t) => {
    t.is(protectionOf({ ...POD, ...changes }, ['kube-system']), expected);
  });
}

for (const [title, changes, expected] of [
  ['the protected priority stays', { priority: 1_000 }, 'priority 1000 is protected, from 1000'],
  ['just below the protected priority may go', { priority: 999 }, null],
  ['a pod whose priority nobody tells has none', { priority: null }, null],
  [
    'the annotation keeps a pod',
    { annotations: { 'reclaimd/protected': 'true' } },
    'annotated reclaimd/protected: true',
  ],
  ['an annotation that says anything else keeps nothing', { annotations: { 'reclaimd/protected': 'false' } }, null],
] as const satisfies readonly (readonly [string, Partial<PodStanding>, string | null])[]) {
  test(title, (t) => {
    const rules = { priority: 1_000, annotation: 'reclaimd/protected' };
    t.is(protectionOf({ ...POD, ...changes }, [], rules), expected);
    t.is(protectionOf({ ...POD, ...changes }, []), null, 'without the rules it may go');
  });
}

const HARD = threshold('nodefs.available', '10%');
const SOFT = threshold('nodefs.available', '15%', { graceSeconds: 60 });

for (const [title, of, own, cap, expected] of [
  ['a hard eviction gives one second, whatever the pod asks', HARD, 300, 600, 1],
  ['a soft one gives the pod its own grace', SOFT, 20, null, 20],
  ['a pod that does not say gets half a minute', SOFT, null, null, 30],
  ['a soft one is capped', SOFT, 300, 60, 60],
  ['a cap above the pod’s own changes nothing', SOFT, 20, 60, 20],
  ['a cap of zero leaves none', SOFT, 20, 0, 0],
] as const) {
  test(title, (t) => {
    const grace = evictionGrace(
      of,
      own === null ? null : milliseconds(own * 1_000),
      cap === null ? null : milliseconds(cap * 1_000),
    );
    t.is(grace / 1_000, expected);
  });
}

test('the hard grace is the kubelet’s second', (t) => {
  t.is(HARD_GRACE, milliseconds(1_000));
});

test('a pod that is seen filling the disk is never too small to go', (t) => {
  const small = candidate('writer', { usage: 1, isFilling: true });
  const victim = chooseVictim(rankPods([small], 'nodefs.available', POLICIES.reclaimd), 1_000, POLICIES.reclaimd);
  t.is(victim.kind === 'victim' ? victim.standing.uid : 'nobody', 'writer');
});

test('that what fills the disk may not go is said, without numbers that change', (t) => {
  const writer = candidate('etcd', { usage: 900, isFilling: true, protectedBy: 'static pod (from file)' });
  const reason = (...others: readonly Candidate[]) => {
    const ranking = rankPods([writer, ...others], 'nodefs.available', POLICIES.reclaimd);
    const victim = chooseVictim(ranking, 10_000, POLICIES.reclaimd);
    return victim.kind === 'nobody' ? victim.reason : victim.standing.uid;
  };
  const stays = '; what fills the disk now stays: default/etcd (static pod (from file))';
  t.is(reason(), `all 1 pods are protected (static pod (from file))${stays}`);
  t.is(reason(candidate('tiny', { usage: 1 })), `no pod that may go holds a hundredth of what is missing${stays}`);
  t.is(reason(candidate('web', { usage: 500 })), 'web');
});

test('a pod whose end failed is spared for a minute', (t) => {
  t.is(RETRY_KILL_AFTER, milliseconds(60_000));
});
