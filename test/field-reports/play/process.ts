import { pino } from 'pino';
import { createEventLog } from '../../../src/adapters/log/event-log.js';
import { createGcEventLog } from '../../../src/adapters/log/gc-event-log.js';
import type { Settings } from '../../../src/config/settings.js';
import { type ComposedNode, composeNode } from '../../../src/daemon/compose.js';
import type { AdmissionAnswer } from '../../../src/eviction/admission.js';
import type { EvictionEvent } from '../../../src/eviction/event.js';
import type { EvictionState } from '../../../src/eviction/state.js';
import type { GcEvent } from '../../../src/gc/gc-event.js';
import type { CollectorRun } from '../../../src/manager/periodic-gc.js';
import type { StorePort } from '../../../src/ports/store.js';
import type { AdmittedPodItem } from '../format/world-items.js';
import { ScenarioFiles } from '../world/scenario-files.js';
import {
  NO_NODE_STATS,
  scenarioBallast,
  scenarioMounts,
  scenarioPods,
  scenarioProcesses,
  specOf,
  stationOf,
  watchedKill,
} from '../world/scenario-ports.js';
import { ScenarioRuntime } from '../world/scenario-runtime.js';
import type { ScenarioWorld } from '../world/scenario-world.js';
import { type ImageSeeds, seededMemory } from './image-memory.js';

/** A message of the product, as its log has it. */
export interface Message {
  readonly code: string;
  readonly text: string;
}

/** What the product told in one step. */
export interface Told {
  readonly events: EvictionEvent[];
  readonly gcEvents: GcEvent[];
  readonly messages: Message[];
}

/** What an earlier life of the process has left. */
export interface Past {
  readonly store: StorePort;
  readonly seeds: ImageSeeds;
}

/** The product as one process: everything in it is the real thing, composed as the daemon composes it. */
export class Process {
  readonly #node: ComposedNode;
  readonly #hear: (event: EvictionEvent) => void;
  readonly #hearGc: (event: GcEvent) => void;
  readonly #abort = new AbortController();
  told: Told = nothingTold();

  readonly #memory: ReturnType<typeof seededMemory>;

  constructor(
    readonly world: ScenarioWorld,
    settings: Settings,
    past: Past,
  ) {
    this.#memory = seededMemory(past.store, world.clock, past.seeds);
    const files = new ScenarioFiles(world, settings.rootDir);
    const runtime = new ScenarioRuntime(world, settings.runtimeRequestTimeout);
    this.#node = composeNode(settings, {
      clock: world.clock,
      runtime,
      mounts: scenarioMounts(world),
      nodeStats: NO_NODE_STATS,
      files,
      logFiles: files,
      changeTimes: files,
      pods: scenarioPods(world),
      ballast: scenarioBallast(world),
      processes: scenarioProcesses(world),
      memory: this.#memory,
      kubeletRuns: () => false,
      aroundKill: watchedKill(world),
    });
    const logger = pino({ level: 'debug', base: null }, { write: (line: string) => this.#read(line) });
    this.#hear = createEventLog(logger);
    this.#hearGc = createGcEventLog(logger);
    this.#node.manager.asked$.subscribe((event) => {
      this.told.events.push(event);
      this.#hear(event);
    });
  }

  get state(): EvictionState {
    return this.#node.manager.state;
  }

  /** Begins: what an earlier life has left is read. */
  async start(): Promise<void> {
    await this.#memory.load();
  }

  /** One pass of the eviction loop. */
  async sync(): Promise<void> {
    for await (const event of this.#node.manager.once('act')) {
      this.told.events.push(event);
      this.#hear(event);
    }
  }

  /** One periodic pass over images; none where the settings leave it nothing to do. */
  async imageGC(): Promise<void> {
    const { images } = this.#node.runs;
    if (images !== null) await this.#run(images);
  }

  /** One periodic pass over containers. */
  async containerGC(): Promise<void> {
    await this.#run(this.#node.runs.containers);
  }

  admit(pod: AdmittedPodItem): AdmissionAnswer {
    return this.#node.manager.admit({
      ...stationOf(pod),
      spec: specOf(pod, this.world),
      ...(pod.owner === undefined ? {} : { owner: pod.owner }),
    });
  }

  /** Ends without a warning: nothing of it goes on. */
  end(): void {
    this.#abort.abort();
    this.#node.stop();
  }

  async #run(run: CollectorRun): Promise<void> {
    const pass = run(this.#abort.signal);
    for (;;) {
      const next = await pass.next();
      if (next.done === true) return;
      this.told.gcEvents.push(next.value);
      this.#hearGc(next.value);
    }
  }

  #read(line: string): void {
    // What pino writes is one JSON object a line.
    const record = JSON.parse(line) as { readonly code?: string; readonly msg: string };
    if (record.code !== undefined) this.told.messages.push({ code: record.code, text: record.msg });
  }
}

export function nothingTold(): Told {
  return { events: [], gcEvents: [], messages: [] };
}
