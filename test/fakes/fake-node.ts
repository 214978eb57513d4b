import type { EvictionSettings } from '../../src/eviction/assess.js';
import { deriveContainerfs } from '../../src/eviction/containerfs.js';
import { LineBook } from '../../src/eviction/evaluate.js';
import type { EventOf, EvictionEvent } from '../../src/eviction/event.js';
import type { FsLayout } from '../../src/eviction/layout.js';
import { POLICIES, type ProfileName } from '../../src/eviction/policy.js';
import { type EvictionState, INITIAL_STATE } from '../../src/eviction/state.js';
import type { Threshold } from '../../src/eviction/threshold.js';
import type { ContainerLimits } from '../../src/gc/plan-containers.js';
import { type CycleMode, runPass } from '../../src/manager/cycle.js';
import { Kills } from '../../src/manager/kills.js';
import { createLooker } from '../../src/manager/look.js';
import type { CycleDeps } from '../../src/manager/pass.js';
import { createMemory, type Memory } from '../../src/manager/state-keeper.js';
import type { StorePort } from '../../src/ports/store.js';
import type { WriteCountsPort } from '../../src/ports/write-counts.js';
import { BackOff } from '../../src/reclaim/back-off.js';
import { Ballast } from '../../src/reclaim/ballast.js';
import { createContainerGC } from '../../src/reclaim/container-gc.js';
import { ImageCollector } from '../../src/reclaim/image-collector.js';
import { createImageGC } from '../../src/reclaim/image-gc.js';
import { createImageVolumes } from '../../src/reclaim/image-volumes.js';
import { createKillPodNow } from '../../src/reclaim/kill-pod-now.js';
import { LateSpace } from '../../src/reclaim/late-space.js';
import { createPodMeter } from '../../src/reclaim/pod-meter.js';
import { ReturnedImages } from '../../src/reclaim/returned-images.js';
import { watchedRuntime } from '../../src/reclaim/watched-runtime.js';
import { bytes, type Milliseconds, milliseconds } from '../../src/units/units.js';
import { FakeBallast } from './fake-ballast.js';
import { FakeFiles } from './fake-files.js';
import { FakeMounts } from './fake-mounts.js';
import { FakeNodeStats } from './fake-node-stats.js';
import { FakePods } from './fake-pods.js';
import { FakeProcesses } from './fake-processes.js';
import { FakeRuntime } from './fake-runtime.js';
import { type FakeWorld, PATHS } from './fake-world.js';

/** What the operator of a node wants. */
export interface NodeWishes {
  readonly thresholds: readonly Threshold[];
  readonly profile?: ProfileName;
  readonly minAge?: Milliseconds;
  readonly sandboxImage?: string | null;
  readonly protectedImages?: readonly string[];
  readonly protectedNamespaces?: readonly string[];
  readonly maxPodGrace?: Milliseconds | null;
  readonly evictionOff?: string | null;
  readonly kubeletRuns?: boolean;
  /** What tells who fills a disk; absent = nobody can say. */
  readonly writeCounts?: WriteCountsPort;
  readonly limits?: ContainerLimits;
  readonly fullWithin?: Milliseconds;
  /** Bytes of ballast on each watched disk. */
  readonly ballast?: number;
  /** What outlives the process: give it to another node over the same world, and that is a restart. */
  readonly store?: StorePort;
  readonly transitionPeriod?: Milliseconds;
}

type Hear = (event: EvictionEvent) => void;

const NO_LIMITS: ContainerLimits = { minAge: milliseconds(0), maxPerPodContainer: null, maxContainers: null };
/** Between two passes; the numbers of the next one are newer then. */
const PAUSE = 100;

/** The real passes, collectors and kill over a world in memory. Every pass continues from where the last one left off. */
export class FakeNode {
  readonly runtime: FakeRuntime;
  readonly mounts: FakeMounts;
  readonly files: FakeFiles;
  readonly pods: FakePods;
  readonly ballast: FakeBallast;
  readonly processes: FakeProcesses;
  readonly nodeStats: FakeNodeStats;
  readonly deps: CycleDeps;
  readonly abort = new AbortController();
  state: EvictionState = INITIAL_STATE;

  constructor(
    readonly world: FakeWorld,
    readonly wishes: NodeWishes,
  ) {
    const { clock } = world;
    const runtime = new FakeRuntime(world);
    const files = new FakeFiles(world);
    const pods = new FakePods(world);
    const mounts = new FakeMounts(world);
    const nodeStats = new FakeNodeStats(() => clock.now());
    this.runtime = runtime;
    this.mounts = mounts;
    this.files = files;
    this.pods = pods;
    this.ballast = new FakeBallast(world);
    this.processes = new FakeProcesses(runtime);
    this.nodeStats = nodeStats;
    const memory = wishes.store === undefined ? null : createMemory(wishes.store, clock);
    const collector = memory === null ? {} : { collector: collectorOf(runtime, memory, wishes) };
    const dirs = { podLogsDir: PATHS.logs, podVolumesDir: PATHS.volumes };
    const { failedRemovals } = POLICIES[wishes.profile ?? 'reclaimd'].gc;
    const backOff = failedRemovals === 'back-off' ? new BackOff(clock) : null;
    const watched = backOff === null ? runtime : watchedRuntime(runtime, backOff);
    const resting = backOff === null ? {} : { backOff, returned: new ReturnedImages(clock) };
    const meter = createPodMeter({ runtime, files, clock, ...dirs }, wishes.writeCounts ?? null);
    this.deps = {
      clock,
      runtime: watched,
      pods,
      looker: createLooker({ mounts, nodeStats, runtime, clock, rootDir: PATHS.root }),
      containerGC: createContainerGC({
        runtime: watched,
        pods,
        files,
        clock,
        limits: wishes.limits ?? NO_LIMITS,
        ...dirs,
        ...resting,
      }),
      imageGC: createImageGC({
        ...resting,
        runtime: watched,
        clock,
        minAge: wishes.minAge ?? milliseconds(0),
        sandboxImage: wishes.sandboxImage ?? null,
        protectedImages: wishes.protectedImages ?? [],
        ...collector,
      }),
      ...(memory === null ? {} : { keeper: memory.keeper }),
      killPod: createKillPodNow({
        runtime: watched,
        files,
        clock,
        podLogsDir: PATHS.logs,
        processes: this.processes,
        podVolumesDir: () => (wishes.kubeletRuns === true ? null : PATHS.volumes),
      }),
      measurePods: (active, signal, layout, abort) => meter.measure(active, signal, layout, abort),
      ...(wishes.writeCounts === undefined ? {} : { meter }),
      kills: new Kills(),
      late: new LateSpace(),
      settingsFor: settingsByLayout(wishes),
      ballast:
        wishes.ballast === undefined ? null : new Ballast({ port: this.ballast, size: bytes(wishes.ballast), clock }),
      protectedNamespaces: wishes.protectedNamespaces ?? [],
      maxPodGrace: wishes.maxPodGrace ?? null,
      evictionOff: () => wishes.evictionOff ?? null,
    };
  }

  /** One pass, in virtual time; answers with its story, and tells each event to `hear` while the pass waits. */
  async pass(mode: CycleMode = 'act', hear: Hear = () => {}): Promise<readonly EvictionEvent[]> {
    this.world.clock.skip(PAUSE);
    return this.world.clock.run(this.#tell(mode, hear));
  }

  /** A dry run that leaves no trace in the state, as somebody beside the daemon would make it. */
  async rehearse(): Promise<readonly EvictionEvent[]> {
    const before = this.state;
    const events = await this.pass('dry-run');
    this.state = before;
    return events;
  }

  /** Several passes, one after the other. */
  async passes(times: number): Promise<readonly EvictionEvent[]> {
    const events: EvictionEvent[] = [];
    for (let pass = 0; pass < times; pass += 1) events.push(...(await this.pass()));
    return events;
  }

  async #tell(mode: CycleMode, hear: Hear): Promise<readonly EvictionEvent[]> {
    const events: EvictionEvent[] = [];
    const pass = runPass(this.deps, this.state, mode, this.abort.signal);
    for (;;) {
      const next = await pass.next();
      if (next.done === true) {
        this.state = next.value;
        return events;
      }
      events.push(next.value);
      hear(next.value);
    }
  }
}

/** The events of one kind, in order. */
export function ofKind<Kind extends EvictionEvent['kind']>(
  events: readonly EvictionEvent[],
  kind: Kind,
): readonly EventOf<Kind>[] {
  return events.filter((event): event is EventOf<Kind> => event.kind === kind);
}

function collectorOf(
  runtime: FakeRuntime,
  { images }: Memory,
  { minAge = milliseconds(0) }: NodeWishes,
): ImageCollector {
  return new ImageCollector({
    runtime,
    clock: runtime.world.clock,
    removeImage: ({ id }, signal) => runtime.removeImage(id, signal),
    volumes: createImageVolumes(runtime),
    rules: { highPercent: 100, lowPercent: 100, minAge, maxAge: null, runtimeHandlerAware: false },
    remembered: images,
  });
}

function settingsByLayout(wishes: NodeWishes): (layout: FsLayout) => EvictionSettings {
  const made = new Map<FsLayout, EvictionSettings>();
  return (layout) => {
    const known = made.get(layout) ?? {
      thresholds: deriveContainerfs(wishes.thresholds, layout).thresholds,
      transitionPeriod: wishes.transitionPeriod ?? milliseconds(0),
      policy: POLICIES[wishes.profile ?? 'reclaimd'],
      lines: new LineBook(),
      fullWithin: wishes.fullWithin ?? null,
    };
    made.set(layout, known);
    return known;
  };
}
