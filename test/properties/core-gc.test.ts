import fc from 'fast-check';
import type { ImageTimes } from '../../src/gc/image-collection.js';
import { compileProtection } from '../../src/gc/image-protection.js';
import { fullReference } from '../../src/gc/image-reference.js';
import { imagesInUse } from '../../src/gc/image-use.js';
import type { PlannedContainer, PlannedImage, PlannedSandbox } from '../../src/gc/inventory.js';
import { type ContainerReason, planContainers } from '../../src/gc/plan-containers.js';
import { forbiddance, planImages } from '../../src/gc/plan-images.js';
import { planSandboxes } from '../../src/gc/plan-sandboxes.js';
import { compileRules } from '../../src/gc/protection-rules.js';
import { milliseconds } from '../../src/units/units.js';
import { answers, at, container, identity, image, sandbox, user } from '../fakes/builders.js';
import { codes, digits, holds, law, pick } from './law.js';

const UIDS = ['a', 'b'] as const;
const LIMITS = [null, 0, 1, 2] as const;
const STATES = ['exited', 'running', 'created', 'unknown'] as const;
const NOW_SECONDS = 500;
const ABANDONED_SECONDS = 300;

/** Pod (the last is nobody's), name, state, age in steps of 100 s from the future on. */
const CONTAINER = [3, 2, 4, 8] as const;
/** Minimum age, both limits, the four switches, which pods are gone, which have finished. */
const CONTAINER_RULES = [3, 4, 4, 2, 2, 2, 2, 4, 4] as const;

function containerOf(code: number, index: number): PlannedContainer {
  const [owner, name, state, age] = digits(code, CONTAINER);
  const uid = UIDS[owner];
  return container(`c${index}`, {
    pod: uid === undefined ? null : identity(uid),
    name: `name-${name}`,
    state: pick(STATES, state),
    createdAt: at(NOW_SECONDS + 100 - age * 100),
  });
}

/** The uids whose bit is set. */
function chosen(bits: number): readonly string[] {
  return UIDS.filter((_, index) => (bits >> index) & 1);
}

const REASONS: readonly ContainerReason[] = [
  'its pod is gone',
  'its pod has finished',
  'more than are kept per container',
  'more than are kept in all',
  'the last of a live pod, under pressure',
];

law(
  'no container goes that runs, is nobody’s, is too young or about to start; each goes once, for a reason that holds, in order',
  fc.property(fc.array(codes(CONTAINER), { maxLength: 8 }), codes(CONTAINER_RULES), (listed, rules) => {
    const [minAge, perUnit, total, ready, finishedPodsToo, lastOnesToo, createdCounts, goneBits, finishedBits] = digits(
      rules,
      CONTAINER_RULES,
    );
    const containers = listed.map(containerOf);
    const [gone, finished] = [chosen(goneBits), chosen(finishedBits)];
    const limits = {
      minAge: milliseconds(minAge * 150_000),
      maxPerPodContainer: pick(LIMITS, perUnit),
      maxContainers: pick(LIMITS, total),
    };
    const input = {
      containers,
      limits,
      pods: answers({ gone, finished, allSourcesReady: ready === 1 }),
      finishedPodsToo: finishedPodsToo === 1,
      lastOnesToo: lastOnesToo === 1,
      createdCountsAsDead: createdCounts === 1,
      now: at(NOW_SECONDS),
    };
    const plan = planContainers(input);
    const planned = new Set(plan.map(({ item }) => item));
    holds(planned.size === plan.length, 'something is planned twice');
    const mayGo = containers.filter(
      (each) =>
        each.pod !== null &&
        each.state !== 'running' &&
        each.createdAt <= input.now - limits.minAge &&
        (each.state !== 'created' || createdCounts === 1 || input.now - each.createdAt >= ABANDONED_SECONDS * 1_000),
    );
    holds(
      plan.every(({ item }) => mayGo.includes(item)),
      'something is planned that must not go',
    );
    const places = plan.map(({ why }) => REASONS.indexOf(why));
    holds(
      places.every((place, index) => index === 0 || place >= (places[index - 1] ?? 0)),
      'the order is wrong',
    );
    for (const { item, why } of plan) {
      const uid = item.pod?.uid ?? '';
      if (why === 'its pod is gone') holds(ready === 1 && gone.includes(uid), 'its pod is not gone');
      if (why === 'its pod has finished') {
        holds(
          ready === 1 && finishedPodsToo === 1 && finished.includes(uid) && !gone.includes(uid),
          'it has not finished',
        );
      }
      if (why === 'more than are kept per container')
        holds(limits.maxPerPodContainer !== null, 'there is no such limit');
      if (why === 'more than are kept in all') holds(limits.maxContainers !== null, 'there is no such limit');
      if (why === 'the last of a live pod, under pressure') holds(lastOnesToo === 1, 'the last ones stay');
    }
    const kept = mayGo.filter((each) => !planned.has(each));
    if (lastOnesToo === 1) holds(kept.length === 0, 'something dead was forgotten');
    holds(limits.maxContainers === null || kept.length <= limits.maxContainers, 'more are kept than the total allows');
    for (const each of kept) {
      const unit = kept.filter((other) => other.pod?.uid === each.pod?.uid && other.name === each.name);
      holds(limits.maxPerPodContainer === null || unit.length <= limits.maxPerPodContainer, 'a unit keeps too many');
      holds(ready === 0 || !gone.includes(each.pod?.uid ?? ''), 'the container of a pod that is gone stays');
      const surplus = plan.filter(({ item }) => item.pod?.uid === each.pod?.uid && item.name === each.name);
      holds(
        surplus.every(({ item }) => item.createdAt <= each.createdAt),
        'a newer one goes before an older one',
      );
    }
    const backwards = planContainers({ ...input, containers: containers.toReversed() });
    holds(
      backwards.length === plan.length && backwards.every(({ item }) => planned.has(item)),
      'the order of the list changes what goes',
    );
  }),
);

/** Pod, state, creation, whether a container belongs to it. */
const SANDBOX = [2, 2, 3, 2] as const;
/** Which pods are gone, which have finished, whether those count. */
const SANDBOX_RULES = [4, 4, 2] as const;

law(
  'no sandbox goes that is ready or has a container; of a pod that exists the newest stays; all others go, once',
  fc.property(fc.array(codes(SANDBOX), { maxLength: 7 }), codes(SANDBOX_RULES), (listed, rules) => {
    const [goneBits, finishedBits, finishedPodsToo] = digits(rules, SANDBOX_RULES);
    const [gone, finished] = [chosen(goneBits), chosen(finishedBits)];
    const used: { sandboxId: string }[] = [];
    const sandboxes = listed.map((code, index): PlannedSandbox => {
      const [owner, state, age, hasContainer] = digits(code, SANDBOX);
      const id = `s${index}`;
      if (hasContainer === 1) used.push({ sandboxId: id });
      return sandbox(id, {
        pod: identity(pick(UIDS, owner)),
        state: state === 0 ? 'notready' : 'ready',
        createdAt: at(age),
      });
    });
    const plan = planSandboxes(sandboxes, used, answers({ gone, finished }), finishedPodsToo === 1);
    const planned = new Set(plan.map(({ item }) => item));
    holds(planned.size === plan.length, 'something is planned twice');
    for (const each of sandboxes) {
      const { uid } = each.pod;
      const isIdle = each.state === 'notready' && !used.some(({ sandboxId }) => sandboxId === each.id);
      const isNewest = sandboxes.every(
        (other) =>
          other.pod.uid !== uid ||
          other.createdAt < each.createdAt ||
          (other.createdAt === each.createdAt && other.id <= each.id),
      );
      const isOver = gone.includes(uid) || (finishedPodsToo === 1 && finished.includes(uid));
      holds(planned.has(each) === (isIdle && (isOver || !isNewest)), `${each.id} is judged wrongly`);
    }
  }),
);

const IDS = ['0', '1', '2', '3'].map((digit) => `sha256:${'abcdef012345'.repeat(5)}${digit.repeat(4)}`);
/** The last two ids begin alike in all digits but the last. */
const TAGS = [
  'docker.io/library/a:latest',
  'docker.io/library/a:1',
  'docker.io/me/b:latest',
  'quay.io/me/c:2',
] as const;
const SHORT_TAGS = ['a', 'docker.io/a:1', 'me/b', 'quay.io/me/c:2'] as const;
const DIGESTS = ['e', 'f'].map((digit) => `sha256:${digit.repeat(64)}`);

/** Tag (the last is none), digest (the last is none), pinned, first seen, last used (the last is never). */
const IMAGE = [5, 3, 2, 4, 5] as const;

function imageOf(code: number, index: number): PlannedImage {
  const [tag, digest, pinned] = digits(code, IMAGE);
  const digestText = DIGESTS[digest];
  return image(pick(IDS, index), {
    tags: TAGS.slice(tag, tag + 1),
    digests: digestText === undefined ? [] : [`docker.io/library/a@${digestText}`],
    pinned: pinned === 1,
  });
}

function recordOf(code: number): ImageTimes {
  const [, , , firstSeen, lastUsed] = digits(code, IMAGE);
  return { firstDetected: at(firstSeen * 100), lastUsed: lastUsed === 4 ? null : at(lastUsed * 100) };
}

/** Every way in which somebody may name an image. */
const FORMS: readonly ((image: PlannedImage) => string | undefined)[] = [
  ({ id }) => id,
  ({ id }) => id.slice('sha256:'.length),
  ({ id }) => id.slice(0, 'sha256:'.length + 12),
  ({ tags: [tag] }) => tag,
  ({ tags: [tag] }) => SHORT_TAGS[TAGS.findIndex((each) => each === tag)],
  ({ digests: [digest] }) => digest,
  ({ digests: [digest] }) => digest?.replace('docker.io/library/', ''),
  ({ digests: [digest] }) => digest?.split('@')[1],
  ({ digests: [digest] }) => digest?.replace('docker.io/library/a', 'mirror.example.org/z'),
  ({ tags: [tag] }) => (tag === undefined ? undefined : `${tag}@sha256:${'9'.repeat(64)}`),
];
/** What a container or operator names: an image and the form, the last of which is a star in the middle of its tag. */
const NAME = [4, FORMS.length] as const;
/** Container by id, by image, volume, sandbox image, pattern, and which of these there are. */
const NAMES = [...NAME, ...NAME, ...NAME, ...NAME, 4, 4, 32, 2] as const;

law(
  'no image goes that a container names in any form, that is mounted, pinned, protected or the sandbox image; the others go, least recently used first, young ones last or not at all',
  fc.property(fc.array(codes(IMAGE), { minLength: 1, maxLength: 4 }), codes(NAMES), (listed, names) => {
    const images = listed.map(imageOf);
    const read = digits(names, NAMES);
    const [first, firstForm, second, secondForm, third, thirdForm, fourth, fourthForm, fifth, patternForm] = read;
    const [presentBits, youngLast] = [read[10], read[11]];
    const kept = new Set<PlannedImage>(images.filter((each) => each.pinned));
    const name = (bit: number, target: number, form: number): string | null => {
      const named = images[target % images.length];
      const text = named === undefined ? undefined : pick(FORMS, form)(named);
      if (((presentBits >> bit) & 1) === 0 || named === undefined || text === undefined) return null;
      kept.add(named);
      return text;
    };
    const protect = (target: number, form: number): readonly string[] => {
      const named = images[target % images.length];
      const text = [
        named?.tags[0],
        named?.tags[0]?.replace(/[^/]*$/, '*'),
        named?.id.slice('sha256:'.length, 'sha256:'.length + 12),
        named?.digests[0],
      ][form];
      if (((presentBits >> 4) & 1) === 0 || named === undefined || text === undefined) return [];
      kept.add(named);
      return [text];
    };
    const containers = [
      user('dead', { imageId: name(0, first, firstForm) ?? '' }),
      user('running', { imageRef: name(1, second, secondForm) ?? '' }),
      user('other', { image: name(1, first, secondForm) ?? '' }),
    ];
    const volume = name(2, third, thirdForm);
    const use = imagesInUse(images, containers, {
      sandboxImage: name(3, fourth, fourthForm),
      volumes: volume === null ? [] : [{ container: 'other', reference: volume }],
    });
    holds(use.unresolved.length === 0, 'a name that is listed does not resolve');
    const protectedBy = compileProtection(protect(fifth, patternForm));
    const history = new Map(images.map((each, index) => [each.id, recordOf(listed[index] ?? 0)]));
    const minAge = milliseconds(150_000);
    const now = at(300);
    const plan = planImages({ images, use, protectedBy, history, minAge, youngLast: youngLast === 1, now });
    holds(plan.length === images.length && new Set(plan).size === plan.length, 'not every image is judged once');
    const going = plan.filter(({ verdict }) => verdict.kind === 'goes').map(({ item }) => item);
    for (const each of images) {
      if (kept.has(each)) holds(!going.includes(each), `${each.id} is wanted and goes`);
    }
    const isYoung = (each: PlannedImage) => now - (history.get(each.id)?.firstDetected ?? now) < minAge;
    const free = images.filter((each) => forbiddance(each, use, protectedBy) === null);
    const expected = free.filter((each) => youngLast === 1 || !isYoung(each));
    holds(going.length === expected.length, 'something that may go stays');
    const ages = going.map((each) => [isYoung(each) ? 1 : 0, history.get(each.id)?.lastUsed ?? -1] as const);
    holds(
      ages.every(([young, used], index) => {
        const before = ages[index - 1];
        return before === undefined || before[0] < young || (before[0] === young && before[1] <= used);
      }),
      'the order is wrong',
    );
    holds(
      going.every((each, index) => plan[index]?.item === each),
      'what stays comes before what goes',
    );
  }),
);

/** For each image: repository, when it came, whether its labels are known, whether it has the one that protects. */
const RULED = [2, 3, 2, 2] as const;
/** Expression and label there or not, and how many of each repository stay. */
const RULES = [2, 2, 3] as const;

law(
  'rules keep what they say and nothing else: by expression, by label, and the newest of each repository; unused rules are those that fit nothing',
  fc.property(fc.array(codes(RULED), { minLength: 1, maxLength: 5 }), codes(RULES), (listed, rules) => {
    const facts = listed.map((code, index) => {
      const [repository, came, isKnown, isLabelled] = digits(code, RULED);
      const tags = [`registry.local/repo-${repository}:${index}`];
      return {
        image: image(`id-${index}`, { tags }),
        repository,
        came,
        isKnown: isKnown === 1,
        isLabelled: isLabelled === 1,
      };
    });
    const byId = new Map(facts.map((each) => [each.image.id, each]));
    const [hasExpression, hasLabel, newest] = digits(rules, RULES);
    const protection = compileRules({
      patterns: [],
      expressions: hasExpression === 1 ? ['repo-1:[13]$'] : [],
      labels: hasLabel === 1 ? [{ text: 'keep', key: 'keep', value: null }] : [],
      newestPerRepository: newest,
    })(
      facts.map((each) => each.image),
      {
        labels: (id) => (byId.get(id)?.isKnown ? (byId.get(id)?.isLabelled ? { keep: '' } : {}) : null),
        firstSeen: (id) => at(byId.get(id)?.came ?? 0),
        builtAt: () => null,
      },
    );
    const isNewest = (each: (typeof facts)[number]) =>
      facts.filter(
        (other) =>
          other.repository === each.repository &&
          (other.came > each.came || (other.came === each.came && other.image.id < each.image.id)),
      ).length < newest;
    const fitsExpression = ({ repository, image: { tags } }: (typeof facts)[number]) =>
      hasExpression === 1 && repository === 1 && /:[13]$/.test(tags[0] ?? '');
    for (const each of facts) {
      const isKept = fitsExpression(each) || (hasLabel === 1 && (!each.isKnown || each.isLabelled)) || isNewest(each);
      holds((protection.by(each.image) !== null) === isKept, `${each.image.id} is ${isKept ? 'not kept' : 'kept'}`);
    }
    const expected = [
      ...(hasExpression === 1 && !facts.some(fitsExpression) ? ['/repo-1:[13]$/'] : []),
      ...(hasLabel === 1 && !facts.some((each) => each.isKnown && each.isLabelled) ? ['label keep'] : []),
    ];
    const unused = protection.unused().join();
    holds(unused === expected.join(), `the unused rules are ${unused}`);
  }),
);

const PARTS = ['a', 'B', '.', ':', '/', '@', 'localhost', 'docker.io', 'index.docker.io', 'library', 'sha256', '5000'];

law(
  'a full reference is its own full form',
  fc.property(fc.array(fc.constantFrom(...PARTS), { maxLength: 8 }), (parts) => {
    const full = fullReference(parts.join(''));
    return fullReference(full) === full;
  }),
);

const LITERALS = ['a', '.', '*', '+', '?', '^', '$', '{', '}', '(', ')', '|', '[', ']', '\\', '/', ':', '-', '\n'];

/** Whether a text fits a pattern in which a star stands for anything. */
function fits(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  const [head, rest] = [pattern[0], pattern.slice(1)];
  if (head === '*') return fits(rest, text) || (text !== '' && fits(pattern, text.slice(1)));
  return head === text[0] && fits(rest, text.slice(1));
}

law(
  'in a pattern only the star means something: all other characters stand for themselves',
  fc.property(
    fc.array(fc.constantFrom(...LITERALS), { maxLength: 6 }),
    fc.array(fc.constantFrom(...LITERALS), { maxLength: 6 }),
    fc.boolean(),
    (patternParts, otherParts, isSame) => {
      const pattern = patternParts.join('');
      const tag = isSame ? pattern : otherParts.join('');
      const isProtected = compileProtection([pattern])(image('#', { tags: [tag] })) !== null;
      const expected =
        fits(pattern, tag) ||
        fits(pattern, fullReference(tag)) ||
        fits(pattern, '#') ||
        fits(pattern, fullReference('#')) ||
        (!pattern.includes('*') && fullReference(pattern) === fullReference(tag));
      return isProtected === expected;
    },
  ),
);
