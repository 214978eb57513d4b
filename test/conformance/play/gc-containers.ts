import * as v from 'valibot';
import { POLICIES } from '../../../src/eviction/policy.js';
import type { PodAnswers } from '../../../src/gc/inventory.js';
import type { ContainerRecord, SandboxRecord } from '../../../src/ports/runtime.js';
import { collectContainers } from '../../../src/reclaim/container-collection.js';
import { containerLogs } from '../../../src/reclaim/remove-container.js';
import { instant, milliseconds } from '../../../src/units/units.js';
import { CASE, compare, compareAsSets, compareExpected, type Difference, type PlayFiles, playFile } from '../case.js';
import { ContainerRuntime } from '../fakes/container-runtime.js';
import { LogTree } from '../fakes/log-tree.js';
import { containerRecord } from '../fakes/records.js';
import { told } from '../fakes/run-events.js';
import { StillClock } from '../fakes/still-clock.js';

export const LOG_ROOT = '/var/log/pods';
export const LINKS_DIR = '/var/log/containers';

const TEXTS = v.array(v.string());
const NUMBERS = v.array(v.number());
export const STATE = v.picklist(['CREATED', 'RUNNING', 'EXITED', 'UNKNOWN']);
const CONTAINER = v.strictObject({
  index: v.number(),
  podName: v.string(),
  podUid: v.string(),
  containerName: v.string(),
  attempt: v.number(),
  createdAtMs: v.number(),
  state: STATE,
  sandboxIndex: v.optional(v.nullable(v.number())),
});
const SANDBOX = v.strictObject({
  index: v.number(),
  podName: v.string(),
  podUid: v.string(),
  attempt: v.number(),
  createdAtMs: v.number(),
  state: v.picklist(['READY', 'NOTREADY']),
});
const POLICY = v.strictObject({
  minAgeMs: v.number(),
  maxPerPodContainer: v.number(),
  maxContainers: v.number(),
});
export const SYMLINK = v.strictObject({
  path: v.string(),
  targetExists: v.boolean(),
  runtimeAnswer: v.nullable(
    v.union([v.strictObject({ state: v.nullable(STATE) }), v.strictObject({ error: v.literal(true) })]),
  ),
});
const ANSWERS = {
  allSourcesReady: v.boolean(),
  evictNonDeletedPods: v.boolean(),
  podsWhoseContentMayBeRemoved: TEXTS,
  podsWhoseRuntimeMayBeRemoved: TEXTS,
};
const FAILING = v.strictObject({
  call: v.picklist(['RemoveContainer', 'StopContainer', 'StopPodSandbox', 'RemovePodSandbox', 'ContainerStatus']),
  index: v.number(),
  how: v.optional(v.literal('notFound')),
});
type Policy = v.InferOutput<typeof POLICY>;

/** What a run is told of the world. */
interface RunInput {
  readonly nowMs: number;
  readonly allSourcesReady: boolean;
  readonly evictNonDeletedPods: boolean;
  readonly podsWhoseContentMayBeRemoved: readonly string[];
  readonly podsWhoseRuntimeMayBeRemoved: readonly string[];
  readonly failingCalls?: readonly v.InferOutput<typeof FAILING>[];
  readonly failingLists?: readonly string[];
}

const SIGNAL = new AbortController().signal;

/** A node with containers, sandboxes, logs and links, on which runs follow one another. */
export class ContainerScene {
  readonly runtime = new ContainerRuntime();
  readonly tree = new LogTree();
  readonly clock = new StillClock();
  readonly #policy: Policy;

  constructor(policy: Policy = { minAgeMs: 0, maxPerPodContainer: -1, maxContainers: -1 }) {
    this.#policy = policy;
  }

  /** Whether a limit leaves nothing, so that groups go whole and the order within them is not defined. */
  get keepsNone(): boolean {
    return this.#policy.maxPerPodContainer === 0 || this.#policy.maxContainers === 0;
  }

  async run(input: RunInput) {
    this.clock.time = instant(input.nowMs);
    this.runtime.failingCalls = (input.failingCalls ?? []).map(({ call, index, how }) => ({
      call,
      id: call.endsWith('PodSandbox') ? sandboxId(index) : containerId(index),
      how: how === 'notFound' ? 'not-found' : 'refused',
    }));
    this.runtime.failingLists = input.failingLists ?? [];
    const callsBefore = this.runtime.calls.length;
    const treesBefore = this.tree.treeRemovals.length;
    const answers: PodAnswers = {
      allSourcesReady: input.allSourcesReady,
      contentMayBeRemoved: (uid) => input.podsWhoseContentMayBeRemoved.includes(uid),
      runtimeMayBeRemoved: (uid) => input.podsWhoseRuntimeMayBeRemoved.includes(uid),
    };
    const { maxPerPodContainer, maxContainers } = this.#policy;
    const { events, result } = await told(
      collectContainers(
        {
          runtime: this.runtime,
          logs: containerLogs(this.tree, this.tree, { podLogsDir: LOG_ROOT, logLinksDir: LINKS_DIR }),
          keepsUnverified: false,
          files: this.tree,
          logFiles: this.tree,
          clock: this.clock,
          podLogsDir: LOG_ROOT,
          logLinksDir: LINKS_DIR,
          answers: async () => answers,
          limits: {
            minAge: milliseconds(this.#policy.minAgeMs),
            maxPerPodContainer: limitOf(maxPerPodContainer),
            maxContainers: limitOf(maxContainers),
          },
          createdCountsAsDead: POLICIES.kubelet.gc.createdCountsAsDead,
        },
        input.evictNonDeletedPods,
        SIGNAL,
      ),
    );
    return {
      failedSteps: result,
      calls: this.runtime.calls.slice(callsBefore),
      logDirectoriesRemovedInOrder: this.tree.treeRemovals.slice(treesBefore),
      symlinksRemoved: events
        .flatMap((event) => (event.kind === 'collected' && event.subject.what === 'log-link' ? [event.subject.id] : []))
        .sort(),
    };
  }

  get remainingContainerIndexes(): readonly number[] {
    return indexesOf(this.runtime.containers);
  }

  get remainingSandboxIndexes(): readonly number[] {
    return indexesOf(this.runtime.sandboxes);
  }

  putLink({ path, targetExists, runtimeAnswer }: v.InferOutput<typeof SYMLINK>): void {
    this.tree.files.set(path, 'log');
    if (!targetExists) this.tree.deadLinks.add(path);
    if (runtimeAnswer === null) return;
    const id = path.slice(path.lastIndexOf('-') + 1, -'.log'.length);
    if ('error' in runtimeAnswer) this.runtime.linked.set(id, 'refused');
    else this.runtime.linked.set(id, runtimeAnswer.state === null ? 'empty' : stateOf(runtimeAnswer.state));
  }
}

/** A container of the vectors as the runtime lists it. */
function containerOf(each: v.InferOutput<typeof CONTAINER>): ContainerRecord {
  return containerRecord({
    id: containerId(each.index),
    sandboxId: typeof each.sandboxIndex === 'number' ? sandboxId(each.sandboxIndex) : 'gone',
    name: each.containerName,
    attempt: each.attempt,
    state: stateOf(each.state),
    createdAt: instant(each.createdAtMs),
    pod: { uid: each.podUid, namespace: 'ns', name: each.podName },
  });
}

function sandboxOf(each: v.InferOutput<typeof SANDBOX>): SandboxRecord {
  return {
    id: sandboxId(each.index),
    pod: { uid: each.podUid, namespace: 'ns', name: each.podName },
    attempt: each.attempt,
    state: each.state === 'READY' ? 'ready' : 'notready',
    createdAt: instant(each.createdAtMs),
    runtimeHandler: '',
    labels: {},
    annotations: {},
  };
}

/** A state of the vectors as the port names it. */
export function stateOf(state: v.InferOutput<typeof STATE>): ContainerRecord['state'] {
  const states = { CREATED: 'created', RUNNING: 'running', EXITED: 'exited', UNKNOWN: 'unknown' } as const;
  return states[state];
}

function limitOf(limit: number): number | null {
  return limit < 0 ? null : limit;
}

function containerId(index: number): string {
  return `container-${index}`;
}

function sandboxId(index: number): string {
  return `sandbox-${index}`;
}

function indexesOf(items: readonly { readonly id: string }[]): readonly number[] {
  return items.map((each) => indexOf(each.id)).sort((a, b) => a - b);
}

function indexOf(id: string): number {
  return Number(id.slice(id.lastIndexOf('-') + 1));
}

const EVICTION = v.strictObject({
  ...CASE,
  ...ANSWERS,
  nowMs: v.number(),
  policy: POLICY,
  containers: v.array(CONTAINER),
  failingCalls: v.optional(v.array(FAILING)),
  expect: v.strictObject({
    error: v.boolean(),
    remainingIndexes: NUMBERS,
    runtimeCallsInOrder: v.optional(TEXTS),
  }),
});

async function playEviction(each: v.InferOutput<typeof EVICTION>): Promise<readonly Difference[]> {
  const scene = new ContainerScene(each.policy);
  scene.runtime.containers = each.containers.map(containerOf);
  const { failingCalls = [], ...rest } = each;
  const seen = await scene.run({ ...rest, failingCalls });
  return compareExpected('expect', each.expect, {
    error: seen.failedSteps.length > 0,
    remainingIndexes: scene.remainingContainerIndexes,
    // A table of upstream names the calls alone, the derived cases with the index of the container.
    runtimeCallsInOrder: seen.calls.map(({ call, id }) =>
      each.expect.runtimeCallsInOrder?.every((text) => text.includes(':')) === true ? `${call}:${indexOf(id)}` : call,
    ),
  });
}

const SANDBOXES = v.strictObject({
  ...CASE,
  evictNonDeletedPods: v.boolean(),
  podsWhoseContentMayBeRemoved: TEXTS,
  podsWhoseRuntimeMayBeRemoved: TEXTS,
  sandboxes: v.array(SANDBOX),
  containers: v.array(
    v.strictObject({ podUid: v.string(), containerName: v.string(), sandboxIndex: v.number(), state: STATE }),
  ),
  expect: v.strictObject({ error: v.boolean(), remainingIndexes: NUMBERS }),
});

async function playSandboxes(each: v.InferOutput<typeof SANDBOXES>): Promise<readonly Difference[]> {
  // The cases are about sandboxes: no container is old enough to go before them.
  const scene = new ContainerScene({ minAgeMs: 1_000, maxPerPodContainer: -1, maxContainers: -1 });
  scene.runtime.sandboxes = each.sandboxes.map(sandboxOf);
  scene.runtime.containers = each.containers.map((container, index) =>
    containerOf({ ...container, index, podName: container.podUid, attempt: 0, createdAtMs: 0 }),
  );
  const seen = await scene.run({ ...each, nowMs: 0, allSourcesReady: true });
  return compareExpected('expect', each.expect, {
    error: seen.failedSteps.length > 0,
    remainingIndexes: scene.remainingSandboxIndexes,
  });
}

const RUN = v.strictObject({
  ...ANSWERS,
  nowMs: v.number(),
  failingCalls: v.array(FAILING),
  failingLists: v.optional(v.array(v.picklist(['ListContainers', 'ListPodSandbox'])), []),
  logRootUnreadable: v.optional(v.boolean(), false),
  unremovablePaths: v.optional(TEXTS, []),
  expect: v.strictObject({
    error: v.boolean(),
    errorCount: v.number(),
    remainingContainerIndexes: NUMBERS,
    remainingSandboxIndexes: NUMBERS,
    containerCallsByUnit: v.record(v.string(), TEXTS),
    sandboxCallsByPod: v.record(v.string(), TEXTS),
    logDirectoriesRemovedInOrder: TEXTS,
    symlinksRemoved: TEXTS,
  }),
});
const NODE = v.strictObject({
  ...CASE,
  policy: POLICY,
  containers: v.array(CONTAINER),
  sandboxes: v.array(SANDBOX),
  podLogDirectories: TEXTS,
  symlinks: v.array(SYMLINK),
  runs: v.array(RUN),
});

async function playNode(each: v.InferOutput<typeof NODE>): Promise<readonly Difference[]> {
  const scene = new ContainerScene(each.policy);
  scene.runtime.containers = each.containers.map(containerOf);
  scene.runtime.sandboxes = each.sandboxes.map(sandboxOf);
  scene.tree.directories = each.podLogDirectories.map((name) => `${LOG_ROOT}/${name}`);
  for (const link of each.symlinks) scene.putLink(link);
  const differences: Difference[] = [];
  for (const [index, run] of each.runs.entries()) {
    differences.push(...(await playRun(scene, run, `runs[${index}].expect`)));
  }
  return differences;
}

async function playRun(
  scene: ContainerScene,
  run: v.InferOutput<typeof RUN>,
  path: string,
): Promise<readonly Difference[]> {
  scene.tree.unreadable = run.logRootUnreadable ? [LOG_ROOT] : [];
  scene.tree.unremovable = run.unremovablePaths;
  const { containers, sandboxes } = scene.runtime;
  const seen = await scene.run(run);
  const calls = (list: readonly { readonly id: string }[]) =>
    seen.calls.filter(({ id }) => list.some((each) => each.id === id));
  const { containerCallsByUnit, sandboxCallsByPod, ...rest } = run.expect;
  return [
    ...compareExpected(path, rest, {
      error: seen.failedSteps.length > 0,
      errorCount: seen.failedSteps.length,
      remainingContainerIndexes: scene.remainingContainerIndexes,
      remainingSandboxIndexes: scene.remainingSandboxIndexes,
      logDirectoriesRemovedInOrder: seen.logDirectoriesRemovedInOrder,
      symlinksRemoved: seen.symlinksRemoved,
    }),
    ...compareGroups(
      `${path}.containerCallsByUnit`,
      containerCallsByUnit,
      grouped(calls(containers), containers, (each) => `${each.pod?.uid}/${each.name}`),
      (unit) => scene.keepsNone || (run.allSourcesReady && isGone(run, unit.slice(0, unit.indexOf('/')))),
    ),
    ...compareGroups(
      `${path}.sandboxCallsByPod`,
      sandboxCallsByPod,
      grouped(calls(sandboxes), sandboxes, (each) => each.pod.uid),
      (uid) => isGone(run, uid),
    ),
  ];
}

/** Whether all that is dead of a pod goes. */
function isGone(run: v.InferOutput<typeof RUN>, uid: string): boolean {
  if (run.podsWhoseContentMayBeRemoved.includes(uid)) return true;
  return run.evictNonDeletedPods && run.podsWhoseRuntimeMayBeRemoved.includes(uid);
}

function grouped<Item extends { readonly id: string }>(
  calls: readonly { readonly call: string; readonly id: string }[],
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Readonly<Record<string, readonly string[]>> {
  const groups = new Map<string, string[]>();
  for (const { call, id } of calls) {
    const item = items.find((each) => each.id === id);
    if (item === undefined) throw new Error(`Cannot group a call as what it is about must be listed: ${id}`);
    groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), `${call}:${indexOf(id)}`]);
  }
  return Object.fromEntries(groups);
}

/**
 * Compares calls in order. Where a whole group goes the order between its members is the runtime's listing order backwards
 * upstream and by age here: then each member's own calls are compared, and the members as a set.
 */
function compareGroups(
  path: string,
  expected: Readonly<Record<string, readonly string[]>>,
  actual: Readonly<Record<string, readonly string[]>>,
  goesWhole: (key: string) => boolean,
): readonly Difference[] {
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return [...keys].flatMap((key) => {
    const [wanted, got] = [expected[key] ?? [], actual[key] ?? []];
    if (!goesWhole(key)) return compare(`${path}.${key}`, wanted, got);
    return compareAsSets(`${path}.${key}`, byMember(wanted), byMember(got));
  });
}

function byMember(calls: readonly string[]): readonly (readonly string[])[] {
  const members = new Set(calls.map((each) => each.split(':')[1]));
  return [...members].map((member) => calls.filter((each) => each.split(':')[1] === member));
}

/** Containers, sandboxes and whole runs. */
export const FILES: PlayFiles = {
  'gc-container-eviction': playFile(EVICTION, playEviction, {}),
  'gc-container-eviction-derived': playFile(EVICTION, playEviction, {}),
  'gc-sandbox-eviction': playFile(SANDBOXES, playSandboxes, {}),
  'golden-container-gc': playFile(NODE, playNode, {}),
};
