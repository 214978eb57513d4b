import fc from 'fast-check';
import { type CadenceSettings, fillRate, pauseBeforeNextLook } from '../../src/eviction/cadence.js';
import { LineBook, thresholdsBelow } from '../../src/eviction/evaluate.js';
import { lineOf } from '../../src/eviction/line.js';
import { POLICIES } from '../../src/eviction/policy.js';
import { type Candidate, rankPods, type Standing } from '../../src/eviction/rank.js';
import type { Signal } from '../../src/eviction/signal.js';
import type { Limit, Threshold } from '../../src/eviction/threshold.js';
import { CRITICAL_PRIORITY, chooseVictim, protectionOf } from '../../src/eviction/victim.js';
import { milliseconds } from '../../src/units/units.js';
import { at, candidate, observation, seen, settingsOf, stateWith, threshold } from '../fakes/builders.js';
import { codes, digits, holds, law, pick } from './law.js';

const NANO = 1_000_000_000n;

function amount(nano: bigint): Limit {
  return { kind: 'amount', quantity: { nano, text: '' } };
}

/** Whole nanos from none to three times what a double counts, so that most amounts have a fraction. */
const nanos = fc.tuple(fc.maxSafeNat(), fc.nat(2)).map(([most, more]) => BigInt(most) * BigInt(more + 1));

law(
  'a line is the least whole amount that is not below the limit, and its target that of the sum; equality is not below',
  fc.property(nanos, nanos, fc.integer({ min: -2, max: 2 }), (nano, band, beside) => {
    const { line, target } = lineOf({ limit: amount(nano), minReclaim: amount(band) }, 0);
    holds(BigInt(line) * NANO >= nano && BigInt(line - 1) * NANO < nano, `the line is ${line}`);
    const sum = nano + band;
    holds(BigInt(target) * NANO >= sum && BigInt(target - 1) * NANO < sum, `the target is ${target}`);
    holds(target >= line, 'the target lies below the line');
    const one: Threshold = { ...threshold('nodefs.available', '1'), limit: amount(nano), minReclaim: amount(band) };
    for (const [mark, limit] of [
      ['line', nano],
      ['target', sum],
    ] as const) {
      const available = { line, target }[mark] + beside;
      const isBelow =
        thresholdsBelow([one], seen(observation(one.signal, available)), mark, new LineBook()).length === 1;
      holds(isBelow === BigInt(available) * NANO < limit, `${available} is judged wrongly by the ${mark}`);
    }
  }),
);

/** Rounds to 53 significant bits, to even in the middle, as a product of doubles is. */
function asDouble(value: bigint): bigint {
  const excess = BigInt(Math.max(0, value.toString(2).length - 53));
  const unit = 1n << excess;
  const [whole, rest] = [value / unit, value % unit];
  const isUp = rest * 2n > unit || (rest * 2n === unit && whole % 2n === 1n);
  return (whole + (isUp ? 1n : 0n)) * unit;
}

/** 32-bit floats are whole multiples of 2^-149. */
const FINEST = 2n ** 149n;

law(
  'a share of a capacity is the product of the 32-bit fraction, rounded as a double and cut off; of both limits by itself',
  fc.property(
    fc.float({ min: 0, max: 1, noNaN: true }),
    fc.integer({ min: 0, max: 1000 }),
    fc.maxSafeNat(),
    fc.nat(30),
    (fraction, permille, most, fewerBits) => {
      const capacity = Math.floor(most / 2 ** fewerBits);
      const share = (of: number) => asDouble(BigInt(capacity) * BigInt(of * 2 ** 149)) / FINEST;
      const reclaim = Math.fround(Math.fround(permille / 10) / 100);
      const limits = {
        limit: { kind: 'fraction', fraction },
        minReclaim: { kind: 'fraction', fraction: reclaim },
      } as const;
      const { line, target } = lineOf(limits, capacity);
      holds(BigInt(line) === share(fraction), `the line is ${line}`);
      holds(BigInt(target) === BigInt(Number(share(fraction) + share(reclaim))), `the target is ${target}`);
      holds(target >= line && line <= capacity, 'the target lies below the line, or the line above the capacity');
      // Where the product fits a double, nothing is rounded at all.
      if (capacity < 2 ** 29)
        holds(BigInt(line) === (BigInt(capacity) * BigInt(fraction * 2 ** 149)) / FINEST, 'rounded');
    },
  ),
);

const USAGES = [null, 0, 5, 5, 100, 1_000] as const;
const REQUESTS = [null, 0, 5, 100] as const;
const PRIORITIES = [null, 0, -1, 7] as const;
/** The last two: seen filling the disk or not. */
const POD = [USAGES.length, REQUESTS.length, PRIORITIES.length, 2] as const;
const SIGNALS_RANKED: readonly Signal[] = [
  'nodefs.available',
  'memory.available',
  'imagefs.inodesFree',
  'pid.available',
];

function podOf(code: number, index: number): Candidate {
  const [usage, request, priority, filling] = digits(code, POD);
  return candidate(`p${index}`, {
    usage: pick(USAGES, usage),
    request: pick(REQUESTS, request),
    priority: pick(PRIORITIES, priority),
    isFilling: filling === 1,
  });
}

/** Whether any number that the ranking may look at tells two pods apart. */
function isTwin(a: Candidate, b: Candidate): boolean {
  return (
    (a.priority ?? 0) === (b.priority ?? 0) &&
    a.usage === b.usage &&
    (a.request ?? 0) === (b.request ?? 0) &&
    a.isFilling === b.isFilling
  );
}

law(
  'the ranking is an order: the same for every pair alone, the same again, and equal pods keep their places',
  fc.property(fc.array(codes(POD), { maxLength: 5 }), codes([4, 2]), (pods, scene) => {
    const [which, profile] = digits(scene, [4, 2] as const);
    const signal = pick(SIGNALS_RANKED, which);
    const policy = profile === 0 ? POLICIES.reclaimd : POLICIES.kubelet;
    const candidates = pods.map(podOf);
    const ranked = rankPods(candidates, signal, policy);
    holds(
      ranked.length === candidates.length && new Set(ranked.map(({ uid }) => uid)).size === candidates.length,
      'somebody is lost',
    );
    holds(isSameOrder(rankPods(ranked, signal, policy), ranked), 'ranking the ranked changes the order');
    for (const [index, first] of ranked.entries()) {
      for (const second of ranked.slice(index + 1)) {
        holds(
          isSameOrder(rankPods([first, second], signal, policy), [first, second]),
          'a pair alone has another order',
        );
        if (isTwin(first, second)) holds(first.uid < second.uid, 'equal pods changed places');
      }
    }
  }),
);

function isSameOrder(a: readonly Candidate[], b: readonly Candidate[]): boolean {
  return a.length === b.length && a.every(({ uid }, index) => uid === b[index]?.uid);
}

law(
  'unknown is not guilty: never before a pod known to be over its request; in the kubelet always before every known one',
  fc.property(fc.array(codes(POD), { maxLength: 6 }), fc.nat(2), (pods, which) => {
    const signal = pick(SIGNALS_RANKED, which);
    const candidates = pods.map(podOf);
    const places = (policy: typeof POLICIES.kubelet | typeof POLICIES.reclaimd, isMeant: (one: Standing) => boolean) =>
      rankPods(candidates, signal, policy).flatMap((each, place) => (isMeant(each) ? [place] : []));
    const unknown = ({ usage }: Candidate) => usage === null;
    const over = ({ usage, request }: Candidate) =>
      usage !== null && usage > (signal === 'imagefs.inodesFree' ? 0 : (request ?? 0));
    holds(
      Math.min(...places(POLICIES.reclaimd, unknown)) >= Math.max(-1, ...places(POLICIES.reclaimd, over)),
      'an unknown pod stands before one that is over',
    );
    holds(
      Math.max(-1, ...places(POLICIES.kubelet, unknown)) <=
        Math.min(...places(POLICIES.kubelet, (each) => !unknown(each))),
      'in the kubelet a known pod stands before an unknown one',
    );
  }),
);

law(
  'who fills the disk goes before those ranked alike and past nobody else; the kubelet does not look',
  fc.property(fc.array(codes(POD), { maxLength: 6 }), fc.nat(3), (pods, which) => {
    const signal = pick(SIGNALS_RANKED, which);
    const candidates = pods.map(podOf);
    const innocent = candidates.map((each) => ({ ...each, isFilling: false }));
    const names = (ranked: readonly Candidate[]) => ranked.map(({ uid }) => uid).join();
    const { kubelet, reclaimd } = POLICIES;
    holds(
      names(rankPods(candidates, signal, kubelet)) === names(rankPods(innocent, signal, kubelet)),
      'the kubelet looked',
    );
    const ranked = rankPods(candidates, signal, reclaimd);
    const isProcesses = signal === 'pid.available';
    const kind = ({ isOverRequest, priority }: Standing) => `${isProcesses ? '' : isOverRequest} ${priority ?? 0}`;
    // What kinds follow each other is the same as if nobody filled anything, and within one kind the fillers come first.
    holds(
      ranked.map(kind).join() === rankPods(innocent, signal, reclaimd).map(kind).join(),
      'filling the disk moved somebody past another kind',
    );
    for (const [index, each] of ranked.entries()) {
      const next = ranked[index + 1];
      if (next === undefined || kind(next) !== kind(each)) continue;
      holds(
        each.isFilling === true || next.isFilling !== true,
        `${next.uid} fills the disk and stands behind ${each.uid}`,
      );
    }
  }),
);

const SOURCES = ['api', null, 'file', 'http'] as const;
const STANDINGS = [0, null, CRITICAL_PRIORITY - 1, CRITICAL_PRIORITY, CRITICAL_PRIORITY + 1] as const;
/** Source, mirror, priority, namespace, told to end, just failed, usage, seen filling the disk. */
const RESIDENT = [4, 2, 5, 2, 2, 2, USAGES.length, 2] as const;
const PROTECTED_NAMESPACE = 'kube-system';

interface Resident {
  readonly mustStay: boolean;
  readonly candidate: Candidate;
}

function residentOf(code: number, index: number): Resident {
  const [source, mirror, standing, space, told, failed, usage, filling] = digits(code, RESIDENT);
  const priority = pick(STANDINGS, standing);
  const pod = {
    source: pick(SOURCES, source),
    isMirror: mirror === 1,
    priority,
    namespace: space === 1 ? PROTECTED_NAMESPACE : 'default',
    isUnderWay: told === 1,
    hasJustFailed: failed === 1,
  };
  return {
    mustStay:
      source >= 2 || mirror === 1 || (priority !== null && priority >= 2_000_000_000) || space + told + failed > 0,
    candidate: candidate(`p${index}`, {
      priority,
      usage: pick(USAGES, usage),
      isFilling: filling === 1,
      protectedBy: protectionOf(pod, [PROTECTED_NAMESPACE]),
    }),
  };
}

law(
  'no critical, static, mirror or protected pod goes, nor one told to end; of the others the first in rank that is worth it',
  fc.property(fc.array(codes(RESIDENT), { maxLength: 5 }), fc.nat(20_000), fc.boolean(), (pods, missing, isKubelet) => {
    const policy = isKubelet ? POLICIES.kubelet : POLICIES.reclaimd;
    const residents = pods.map(residentOf);
    for (const each of residents) {
      holds((each.candidate.protectedBy !== null) === each.mustStay, `${each.candidate.uid} is protected wrongly`);
    }
    const ranking = rankPods(
      residents.map((each) => each.candidate),
      'nodefs.available',
      policy,
    );
    const victim = chooseVictim(ranking, missing, policy);
    const mayGo = ranking.filter(({ uid }) => residents.some((each) => each.candidate.uid === uid && !each.mustStay));
    const worthwhile = isKubelet
      ? mayGo
      : mayGo.filter(({ usage, isFilling }) => isFilling === true || usage === null || usage * 100 >= missing);
    const [expected] = worthwhile;
    holds(
      victim.kind === 'victim' ? victim.standing === expected : expected === undefined,
      `${victim.kind === 'victim' ? victim.standing.uid : 'nobody'} goes`,
    );
  }),
);

const FASTEST = 100;
const SLOWEST = 10_000;
const LINE = 1_000;
const WATCHED = [
  threshold('nodefs.available', `${LINE}`),
  threshold('nodefs.available', `${LINE * 2}`, { graceSeconds: 60 }),
  threshold('imagefs.available', `${LINE}`),
];

law(
  'the pause is never longer than a constant writer, as fast as assumed or seen, needs to pass the line by what it writes in the shortest pause',
  fc.property(
    fc.nat(200_000),
    fc.nat(200_000),
    fc.integer({ min: 1, max: 5_000 }),
    fc.array(fc.nat(200_000), { maxLength: 3 }),
    fc.double({ min: 0, max: 1, noNaN: true }),
    (nodefs, imagefs, assumedFillRate, before, share) => {
      const cadence: CadenceSettings = {
        slowest: milliseconds(SLOWEST),
        fastest: milliseconds(FASTEST),
        assumedFillRate,
      };
      const samples = [...before, nodefs].map((available, second) => ({ at: at(second), available }));
      const state = stateWith({
        lookedAt: at(0),
        observations: seen(
          observation('nodefs.available', nodefs, 1_000_000),
          observation('imagefs.available', imagefs, 1_000_000),
        ),
        samples: new Map([['nodefs', samples]]),
      });
      const pause = pauseBeforeNextLook(state, settingsOf(WATCHED), cadence);
      holds(pause >= FASTEST && pause <= SLOWEST, `the pause is ${pause}`);
      for (const [available, fastest] of [
        [nodefs, Math.max(assumedFillRate, fillRate(samples))],
        [imagefs, assumedFillRate],
      ] as const) {
        const rate = fastest * share;
        const left = available - (rate * pause) / 1_000;
        holds(available <= LINE || left >= LINE - (rate * FASTEST) / 1_000, `${left} is left`);
      }
    },
  ),
);
