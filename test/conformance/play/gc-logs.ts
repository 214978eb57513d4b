import * as v from 'valibot';
import { readLogLimits } from '../../../src/gc/log-limits.js';
import { containerIdOfLink, logLinkPath } from '../../../src/gc/log-link.js';
import { rotatedSiblings, splitExcess, splitUnused } from '../../../src/gc/plan-rotation.js';
import { compressLog, LogRotation, rotateCurrent } from '../../../src/reclaim/log-rotation.js';
import { instant } from '../../../src/units/units.js';
import { CASE, compare, compareExpected, type Difference, NotPlayed, type PlayFiles, playFile } from '../case.js';
import { LogRuntime } from '../fakes/log-runtime.js';
import { LogTree } from '../fakes/log-tree.js';
import { told } from '../fakes/run-events.js';
import { StillClock } from '../fakes/still-clock.js';
import { ContainerScene, LOG_ROOT, STATE, SYMLINK, stateOf } from './gc-containers.js';

const TEXTS = v.array(v.string());
const NAME = v.object({ name: v.string() });
const FILE = v.strictObject({ ...NAME.entries, content: v.optional(v.string(), '') });
const CONTAINERS = v.array(v.strictObject({ id: v.string(), log: v.string(), state: STATE }));
const POLICY = v.strictObject({ maxFiles: v.number(), maxSizeBytes: v.optional(v.number(), 0) });

const SIGNAL = new AbortController().signal;

/** Logs of containers in one directory, and what rotates them. */
class LogScene {
  readonly tree = new LogTree();
  readonly clock = new StillClock();
  readonly runtime: LogRuntime;
  readonly rotation: LogRotation;
  readonly #limits: { readonly maxFiles: number; readonly maxSizeBytes: number };

  constructor({ maxFiles, maxSizeBytes }: v.InferOutput<typeof POLICY>, reopenCreatesFile: boolean) {
    this.#limits = { maxFiles, maxSizeBytes };
    this.runtime = new LogRuntime(this.tree, reopenCreatesFile);
    this.rotation = new LogRotation({
      runtime: this.runtime,
      logFiles: this.tree,
      files: this.tree,
      clock: this.clock,
      limits: this.#limits,
      podLogsDir: LOG_ROOT,
      workers: 1,
    });
  }

  put(files: readonly { readonly name: string; readonly content: string }[]): void {
    for (const { name, content } of files) this.tree.files.set(pathOf(name), content);
  }

  setContainers(containers: v.InferOutput<typeof CONTAINERS>): void {
    this.runtime.logs = containers.map(({ id, log, state }) => ({ id, path: pathOf(log), state: stateOf(state) }));
  }

  /** A time of day of the vectors is local; `Date` reads a text without a zone as local, and the names are written as local. */
  setLocalTime(text: string): void {
    this.clock.time = instant(new Date(text).getTime());
  }

  /** Whether the step was an error; what it answered with beside that. */
  async tried<T>(act: () => Promise<T>): Promise<{ readonly error: boolean; readonly answer: T | null }> {
    try {
      return { error: false, answer: await act() };
    } catch {
      return { error: true, answer: null };
    }
  }

  async listLogs(log: string) {
    const { error, answer } = await this.tried(() => this.rotation.logsOf(pathOf(log)));
    return { error, logsInOrder: answer?.map(nameOf) };
  }

  rotateLatest(id: string, log: string): Promise<string> {
    const deps = { logFiles: this.tree, clock: this.clock, limits: this.#limits, runtime: this.runtime };
    return rotateCurrent(deps, id, pathOf(log), rotatedSiblings(log, this.names), SIGNAL);
  }

  get names(): readonly string[] {
    return [...this.tree.files.keys()].map(nameOf).sort();
  }

  get files(): readonly { readonly name: string; readonly content: string }[] {
    return this.names.map((name) => ({ name, content: this.tree.files.get(pathOf(name)) ?? '' }));
  }
}

function pathOf(name: string): string {
  return `${LOG_ROOT}/${name}`;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

const RUNTIME = v.strictObject({ reopenCreatesFile: v.boolean(), reopenError: v.boolean() });
const SORTED = { error: v.boolean(), filesSorted: TEXTS };
const FILES_OF = { ...CASE, files: v.array(FILE) };
const STEP_CASE = v.variant('op', [
  v.strictObject({
    ...FILES_OF,
    op: v.literal('listLogs'),
    log: v.string(),
    expect: v.strictObject({ error: v.boolean(), logsInOrder: TEXTS }),
  }),
  v.strictObject({
    ...FILES_OF,
    op: v.literal('rotateAll'),
    localTime: v.string(),
    policy: POLICY,
    containers: CONTAINERS,
    runtime: RUNTIME,
    expect: v.strictObject(SORTED),
  }),
  v.strictObject({
    ...FILES_OF,
    op: v.literal('clean'),
    containerId: v.string(),
    containers: CONTAINERS,
    expect: v.strictObject(SORTED),
  }),
  v.strictObject({
    ...FILES_OF,
    op: v.literal('cleanupUnused'),
    inputOrder: TEXTS,
    expect: v.strictObject({ ...SORTED, keptInOrder: TEXTS }),
  }),
  v.strictObject({
    ...FILES_OF,
    op: v.literal('removeExcess'),
    policy: POLICY,
    inputOrder: TEXTS,
    expect: v.strictObject({ ...SORTED, keptInOrder: TEXTS }),
  }),
  v.strictObject({
    ...FILES_OF,
    op: v.literal('compress'),
    log: v.string(),
    expect: v.strictObject({ ...SORTED, gunzippedContent: v.string() }),
  }),
  v.strictObject({
    ...FILES_OF,
    op: v.literal('rotateLatest'),
    localTime: v.string(),
    policy: POLICY,
    containerId: v.string(),
    log: v.string(),
    runtime: RUNTIME,
    expect: v.strictObject({ ...SORTED, runtimeCallsInOrder: TEXTS }),
  }),
]);
type StepCase = v.InferOutput<typeof STEP_CASE>;

async function playStepCase(each: StepCase): Promise<readonly Difference[]> {
  const runtime = 'runtime' in each ? each.runtime : { reopenCreatesFile: false, reopenError: false };
  const scene = new LogScene(
    'policy' in each ? each.policy : { maxFiles: 2, maxSizeBytes: 0 },
    runtime.reopenCreatesFile,
  );
  scene.put(each.files);
  if ('containers' in each) scene.setContainers(each.containers);
  if ('localTime' in each) scene.setLocalTime(each.localTime);
  const seen = await act(scene, each, runtime.reopenError);
  return compareExpected('expect', each.expect, {
    filesSorted: scene.names,
    runtimeCallsInOrder: scene.runtime.reopened.map(() => 'ReopenContainerLog'),
    ...seen,
  });
}

async function act(scene: LogScene, each: StepCase, reopenError: boolean): Promise<Readonly<Record<string, unknown>>> {
  const { tree } = scene;
  const removeAll = async (names: readonly string[]) => {
    for (const name of names) await tree.remove(pathOf(name));
  };
  switch (each.op) {
    case 'listLogs':
      return scene.listLogs(each.log);
    case 'rotateAll': {
      const { result } = await told(scene.rotation.pass(SIGNAL));
      return { error: result !== null };
    }
    case 'clean': {
      const { error } = await scene.tried(() => scene.rotation.clean(each.containerId, SIGNAL));
      return { error };
    }
    case 'cleanupUnused': {
      const { unused, inUse } = splitUnused(each.inputOrder);
      const { error } = await scene.tried(() => removeAll(unused));
      return { error, keptInOrder: inUse };
    }
    case 'removeExcess': {
      const { excess, kept } = splitExcess(each.inputOrder, each.policy.maxFiles);
      const { error } = await scene.tried(() => removeAll(excess));
      return { error, keptInOrder: kept };
    }
    case 'compress': {
      const { error } = await scene.tried(() => compressLog(tree, pathOf(each.log)));
      return { error, gunzippedContent: tree.files.get(pathOf(`${each.log}.gz`)) };
    }
    case 'rotateLatest': {
      scene.runtime.reopenFailsFor = reopenError ? [each.containerId] : [];
      const { error } = await scene.tried(() => scene.rotateLatest(each.containerId, each.log));
      return { error };
    }
  }
}

const DECISION = v.strictObject({
  ...CASE,
  maxSizeBytes: v.number(),
  containerState: STATE,
  logExists: v.boolean(),
  sizeBytes: v.nullable(v.number()),
  reopen: v.nullable(v.picklist(['ok', 'error'])),
  logExistsAfterReopen: v.nullable(v.boolean()),
  sizeAfterReopenBytes: v.nullable(v.number()),
  expect: v.strictObject({ queued: v.boolean(), reopenedFirst: v.boolean(), rotated: v.boolean() }),
});

async function playDecision(each: v.InferOutput<typeof DECISION>): Promise<readonly Difference[]> {
  const scene = new LogScene({ maxFiles: 2, maxSizeBytes: each.maxSizeBytes }, false);
  if (each.logExists) scene.put([{ name: 'log', content: 'x'.repeat(each.sizeBytes ?? 0) }]);
  scene.setContainers([{ id: 'id', log: 'log', state: each.containerState }]);
  scene.runtime.reopenFailsFor = each.reopen === 'error' ? ['id'] : [];
  const after = each.logExistsAfterReopen === true ? 'x'.repeat(each.sizeAfterReopenBytes ?? 0) : null;
  if (!each.logExists) scene.runtime.contentAfterReopen = after;
  const { events } = await told(scene.rotation.pass(SIGNAL));
  return compare('expect', each.expect, {
    queued: scene.runtime.asked.length > 0,
    reopenedFirst: !each.logExists && scene.runtime.reopened.length > 0,
    rotated: events.some((event) => event.kind === 'log-rotated'),
  });
}

const FILES_SEEN = v.strictObject({
  error: v.boolean(),
  files: v.array(v.strictObject({ name: v.string(), content: v.string() })),
  runtimeCallsInOrder: TEXTS,
});
const GOLDEN_STEP = v.variant('do', [
  v.strictObject({ do: v.literal('append'), log: v.string(), content: v.string() }),
  v.strictObject({ do: v.literal('removeFile'), name: v.string() }),
  v.strictObject({ do: v.literal('setContainers'), containers: CONTAINERS }),
  v.strictObject({
    do: v.literal('rotateAll'),
    localTime: v.string(),
    reopenFailsFor: v.optional(TEXTS, []),
    statusFailsFor: v.optional(TEXTS, []),
    emptyStatusFor: v.optional(TEXTS, []),
    listError: v.optional(v.boolean(), false),
    failingFileOps: v.optional(
      v.array(v.strictObject({ op: v.picklist(['remove', 'rename', 'open', 'create']), name: v.string() })),
      [],
    ),
    expect: FILES_SEEN,
  }),
  v.strictObject({ do: v.literal('clean'), containerId: v.string(), expect: FILES_SEEN }),
  v.strictObject({
    do: v.literal('listLogs'),
    log: v.string(),
    expect: v.strictObject({ error: v.boolean(), logsInOrder: TEXTS }),
  }),
]);
const GOLDEN = v.union([
  v.strictObject({
    ...CASE,
    setup: v.strictObject({ maxFiles: v.number(), maxSize: v.string() }),
    expect: v.strictObject({
      error: v.boolean(),
      errorKind: v.nullable(v.string()),
      enabled: v.nullable(v.boolean()),
      maxSizeBytes: v.nullable(v.number()),
    }),
  }),
  v.strictObject({
    ...CASE,
    policy: POLICY,
    containers: CONTAINERS,
    files: v.array(FILE),
    sameSecond: v.optional(v.boolean(), false),
    steps: v.array(GOLDEN_STEP),
  }),
]);

async function playGolden(each: v.InferOutput<typeof GOLDEN>): Promise<readonly Difference[]> {
  if ('setup' in each) {
    const read = readLogLimits(each.setup.maxSize, each.setup.maxFiles);
    return compare('expect', each.expect, {
      error: read.kind === 'refused',
      errorKind: read.kind === 'refused' ? read.fault : null,
      enabled: read.kind === 'refused' ? null : read.kind === 'limits',
      maxSizeBytes: read.kind === 'limits' ? read.limits.maxSizeBytes : null,
    });
  }
  if (each.sameSecond) throw new NotPlayed('two rotations in one second lose lines upstream; both files are kept here');
  const scene = new LogScene(each.policy, true);
  scene.put(each.files);
  scene.setContainers(each.containers);
  const differences: Difference[] = [];
  for (const [index, step] of each.steps.entries()) {
    differences.push(...(await playGoldenStep(scene, step, `steps[${index}].expect`)));
  }
  return differences;
}

async function playGoldenStep(
  scene: LogScene,
  step: v.InferOutput<typeof GOLDEN_STEP>,
  path: string,
): Promise<readonly Difference[]> {
  const { tree, runtime } = scene;
  const callsBefore = runtime.reopened.length;
  const seen = () => ({
    files: scene.files,
    runtimeCallsInOrder: runtime.reopened.slice(callsBefore).map((id) => `ReopenContainerLog:${id}`),
  });
  switch (step.do) {
    case 'append': {
      const log = pathOf(step.log);
      tree.files.set(log, (tree.files.get(log) ?? '') + step.content);
      return [];
    }
    case 'removeFile':
      tree.files.delete(pathOf(step.name));
      return [];
    case 'setContainers':
      scene.setContainers(step.containers);
      return [];
    case 'rotateAll': {
      scene.setLocalTime(step.localTime);
      runtime.reopenFailsFor = step.reopenFailsFor;
      runtime.statusFailsFor = step.statusFailsFor;
      runtime.emptyStatusFor = step.emptyStatusFor;
      runtime.listFails = step.listError;
      tree.failing = step.failingFileOps;
      const { result } = await told(scene.rotation.pass(SIGNAL));
      runtime.heal();
      tree.failing = [];
      return compareExpected(path, step.expect, { ...seen(), error: result !== null });
    }
    case 'clean': {
      const { error } = await scene.tried(() => scene.rotation.clean(step.containerId, SIGNAL));
      return compareExpected(path, step.expect, { ...seen(), error });
    }
    case 'listLogs':
      return compareExpected(path, step.expect, await scene.listLogs(step.log));
  }
}

const DIRECTORIES = v.strictObject({
  ...CASE,
  rootDirectory: v.literal(LOG_ROOT),
  entries: TEXTS,
  podsWhoseContentMayBeRemoved: TEXTS,
  allSourcesReady: v.boolean(),
  expect: v.strictObject({ error: v.boolean(), removedInOrder: TEXTS }),
});

async function playDirectories(each: v.InferOutput<typeof DIRECTORIES>): Promise<readonly Difference[]> {
  const scene = new ContainerScene();
  scene.tree.directories = each.entries.map((entry) => `${each.rootDirectory}/${entry}`);
  const seen = await scene.run({ ...each, nowMs: 0, evictNonDeletedPods: false, podsWhoseRuntimeMayBeRemoved: [] });
  return compareExpected('expect', each.expect, {
    error: seen.failedSteps.length > 0,
    removedInOrder: seen.logDirectoriesRemovedInOrder,
  });
}

const LINK = v.strictObject({
  ...CASE,
  symlink: v.string(),
  targetExists: SYMLINK.entries.targetExists,
  runtimeAnswer: SYMLINK.entries.runtimeAnswer,
  expect: v.strictObject({ removed: v.boolean(), runtimeAsked: v.boolean() }),
});

async function playLink(each: v.InferOutput<typeof LINK>): Promise<readonly Difference[]> {
  const scene = new ContainerScene();
  scene.putLink({ path: each.symlink, targetExists: each.targetExists, runtimeAnswer: each.runtimeAnswer });
  const seen = await scene.run({
    nowMs: 0,
    allSourcesReady: false,
    evictNonDeletedPods: false,
    podsWhoseContentMayBeRemoved: [],
    podsWhoseRuntimeMayBeRemoved: [],
  });
  return compare('expect', each.expect, {
    removed: seen.symlinksRemoved.includes(each.symlink),
    runtimeAsked: scene.runtime.asked.length > 0,
  });
}

const LEGACY = v.variant('op', [
  v.strictObject({
    ...CASE,
    op: v.literal('build'),
    directory: v.string(),
    podFullName: v.string(),
    containerName: v.string(),
    containerId: v.string(),
    expect: v.strictObject({ path: v.string() }),
  }),
  v.strictObject({
    ...CASE,
    op: v.literal('parse'),
    path: v.string(),
    expect: v.strictObject({ error: v.boolean(), containerId: v.string() }),
  }),
]);

async function playLegacy(each: v.InferOutput<typeof LEGACY>): Promise<readonly Difference[]> {
  if (each.op === 'build') {
    const container = { name: each.containerName, id: each.containerId };
    return compare('expect', each.expect, { path: logLinkPath(each.directory, each.podFullName, container) });
  }
  const id = containerIdOfLink(each.path);
  return compare('expect', each.expect, { error: id === null, containerId: id ?? '' });
}

/** Logs: rotation, directories of gone pods, links. */
export const FILES: PlayFiles = {
  'gc-log-rotation': playFile(STEP_CASE, playStepCase, {}),
  'gc-log-rotation-decision-derived': playFile(DECISION, playDecision, {}),
  'golden-log-rotation': playFile(GOLDEN, playGolden, {}),
  'gc-pod-log-directories': playFile(DIRECTORIES, playDirectories, {}),
  'gc-dead-log-symlinks-derived': playFile(LINK, playLink, {}),
  'gc-legacy-log-symlinks': playFile(LEGACY, playLegacy, {}),
};
