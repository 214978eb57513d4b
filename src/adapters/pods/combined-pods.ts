import { podRequest } from '../../eviction/pod-resources.js';
import type { Resource } from '../../eviction/signal.js';
import type { Clock } from '../../ports/clock.js';
import type { PodRecord, PodSource, PodsPort, PodsProblem } from '../../ports/pods.js';
import { type Bytes, bytes, type Milliseconds } from '../../units/units.js';
import { criPods } from './cri-pods.js';
import { KubeletPods, type KubeletPodsLimits, type PodsAnswer } from './kubelet-pods.js';
import { matchStatic } from './match-static.js';
import type { PodFacts } from './pod-object.js';
import { StaticPods } from './static-pods.js';

/** Where to ask beside the runtime. */
export interface PodSources {
  /** `http://…` of a kubelet's pods; null = nobody is asked. */
  readonly podsFrom: string | null;
  /** Directory or file of static pods; null = none is read. */
  readonly staticPodPath: string | null;
  readonly clock: Clock;
  /** Other limits than the usual ones for a conversation with the endpoint. */
  readonly limits?: KubeletPodsLimits;
}

/**
 * The pods of this node: those that the runtime holds something of, with what others know about them. The kubelet's pods
 * endpoint wins over manifests, these over the runtime; what nobody says stays null. A source that fails is told and takes nothing
 * from the list.
 */
export function combinedPods({ podsFrom, staticPodPath, clock, limits }: PodSources): PodsPort {
  const runtime = criPods();
  const kubelet = podsFrom === null ? null : new KubeletPods(podsFrom, clock, limits);
  const manifests = staticPodPath === null ? null : new StaticPods(staticPodPath, clock);
  const problems = new ProblemBook();
  let lasting: ReadonlyMap<string, Lasting> = new Map();
  let knowsAll = false;
  return {
    async list(containers, sandboxes, signal) {
      const [base, fromKubelet, fromFiles] = await Promise.all([
        runtime.list(containers, sandboxes, signal),
        kubelet?.ask(signal) ?? NOBODY_ASKED,
        manifests?.read() ?? NO_MANIFESTS,
      ]);
      const { facts, ambiguous } = matchStatic(base, fromFiles.pods);
      problems.note([
        ...fromKubelet.problems,
        ...fromFiles.problems,
        ...ambiguous.map((name) => ({
          what: `the static pods in ${staticPodPath}`,
          message: `Cannot use these manifests as each must name a pod of its own: ${name}`,
        })),
      ]);
      const { answer, isFresh } = fromKubelet;
      // One that has just started lists nobody yet.
      knowsAll = isFresh && answer !== null && answer.pods.size > 0;
      const present = answer !== null && isFresh ? base.filter((pod) => !isGone(pod, answer)) : base;
      const pods = present.map((pod) => {
        const told = answer?.pods.get(pod.uid) ?? null;
        return withLasting(enriched(pod, told, isFresh, facts.get(pod.uid) ?? null), lasting.get(pod.uid));
      });
      lasting = new Map(pods.map((pod) => [pod.uid, pod]));
      return pods;
    },
    takeProblems: () => problems.take(),
    knowsAll: () => knowsAll,
    async wantedImages(signal) {
      const [fromKubelet, fromFiles] = await Promise.all([
        kubelet?.ask(signal) ?? NOBODY_ASKED,
        manifests?.read() ?? NO_MANIFESTS,
      ]);
      return [...(fromKubelet.answer?.pods.values() ?? []), ...fromFiles.pods]
        .filter((pod) => !hasFinished(pod))
        .flatMap(({ namespace, name, images }) =>
          images.map((reference) => ({ pod: `${namespace ?? 'default'}/${name}`, reference })),
        );
    },
  };
}

/** What never changes in the life of a pod, and decides whether it may be evicted. */
type Lasting = Pick<PodRecord, 'priority' | 'isMirror' | 'source'>;

/** A source that falls silent takes back nothing of this: a critical pod stays critical for as long as it is listed. */
function withLasting(pod: PodRecord, known: Lasting | undefined): PodRecord {
  if (known === undefined) return pod;
  return {
    ...pod,
    priority: pod.priority ?? known.priority,
    source: pod.source ?? known.source,
    isMirror: pod.isMirror || known.isMirror,
  };
}

const NOBODY_ASKED = { answer: null, isFresh: false, problems: [] } as const;
const NO_MANIFESTS = { pods: [], problems: [] } as const;

/**
 * Whether the kubelet has forgotten a pod: it is not listed, nothing of it is up, and all of it was made before the question.
 * A kubelet that has just started lists no pod of a source that it has not heard from yet, so one of the same source must be
 * listed.
 */
function isGone(pod: PodRecord, { pods, askedAt }: PodsAnswer): boolean {
  if (pods.has(pod.uid) || !pod.isFinished) return false;
  if ([...pod.sandboxes, ...pod.containers].some(({ createdAt }) => createdAt >= askedAt)) return false;
  return [...pods.values()].some((each) => sourceOf(each) === (pod.source ?? 'api'));
}

function sourceOf({ source, isMirror }: PodFacts): PodSource {
  return isMirror ? 'file' : (source ?? 'api');
}

function enriched(pod: PodRecord, told: PodFacts | null, isFresh: boolean, manifest: PodFacts | null): PodRecord {
  if (told === null && manifest === null) return pod;
  const spec = told?.spec ?? manifest?.spec ?? null;
  const request = (resource: Resource): Bytes | null => (spec === null ? null : wholeBytes(podRequest(spec, resource)));
  return {
    ...pod,
    source: told?.source ?? pod.source,
    isMirror: pod.isMirror || told?.isMirror === true,
    priority: told?.priority ?? manifest?.priority ?? pod.priority,
    spec,
    storageRequest: request('ephemeral-storage') ?? pod.storageRequest,
    memoryRequest: request('memory') ?? pod.memoryRequest,
    terminationGrace: graceOf(told) ?? manifest?.terminationGrace ?? pod.terminationGrace,
    isFinished: pod.isFinished && (told === null || !isFresh || startsNothingMore(told)),
  };
}

/** Whoever deletes a pod may give it less than it asked for. */
function graceOf(told: PodFacts | null): Milliseconds | null {
  if (told === null) return null;
  const { terminationGrace, deletionGrace } = told;
  if (terminationGrace === null || deletionGrace === null) return terminationGrace ?? deletionGrace;
  return deletionGrace < terminationGrace ? deletionGrace : terminationGrace;
}

/** A pod between two sandboxes has nothing up either, but will have. */
function startsNothingMore({ phase, isBeingDeleted }: PodFacts): boolean {
  return phase === null || phase === 'Succeeded' || phase === 'Failed' || isBeingDeleted;
}

/** One that is being deleted may still start a container again until it is gone. */
function hasFinished({ phase }: PodFacts): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Rounded up; more than can be counted exactly is as good as the largest number that can. */
function wholeBytes(value: number): Bytes {
  return bytes(Math.min(Math.ceil(value), Number.MAX_SAFE_INTEGER));
}

/** Remembers which problems were handed on, so that each is told once for as long as it lasts. */
class ProblemBook {
  #current: readonly PodsProblem[] = [];
  #told: ReadonlySet<string> = new Set();

  note(problems: readonly PodsProblem[]): void {
    this.#current = problems;
    // One that has ended is news when it comes again.
    const lasting = new Set(problems.map(textOf));
    this.#told = new Set([...this.#told].filter((text) => lasting.has(text)));
  }

  take(): readonly PodsProblem[] {
    const news = this.#current.filter((problem) => !this.#told.has(textOf(problem)));
    this.#told = new Set(this.#current.map(textOf));
    return news;
  }
}

function textOf({ what, message }: PodsProblem): string {
  return `${what}\n${message}`;
}
