import type { Settings } from '../../../src/config/settings.js';
import { deriveContainerfs } from '../../../src/eviction/containerfs.js';
import { milliseconds } from '../../../src/units/units.js';
import { FakeStore } from '../../fakes/fake-store.js';
import type { ScenarioLayout } from '../format/common.js';
import type { Step } from '../format/steps.js';
import { StepJournal } from '../world/journal.js';
import { ScenarioWorld } from '../world/scenario-world.js';
import { ImageSeeds } from './image-memory.js';
import { type Message, nothingTold, type Past, Process } from './process.js';
import type { StepRecord } from './record.js';

/** What a scenario runs with. */
export interface RunFacts {
  readonly settings: Settings;
  readonly layout: ScenarioLayout;
}

/** Plays the steps of a scenario, one after the other; answers with a record of each. */
export async function playSteps(steps: readonly Step[], facts: RunFacts): Promise<readonly StepRecord[]> {
  const { settings, layout } = facts;
  const world = new ScenarioWorld({
    layout,
    rootDir: settings.rootDir,
    ballast: settings.ballast ?? 0,
  });
  const run = new Run(world, settings);
  const records: StepRecord[] = [];
  for (const [index, step] of steps.entries()) {
    if (index === 0 && step.op !== 'start') throw new Error(`Cannot play steps as the first must be start: ${step.op}`);
    records.push(await run.play(step));
  }
  run.process.end();
  return records;
}

class Run {
  process: Process;
  readonly past: Past = { store: new FakeStore(), seeds: new ImageSeeds() };
  readonly #evicted = new Set<string>();
  readonly #graces = new Map<string, number>();
  readonly #messages: Message[] = [];
  readonly #admitted: string[] = [];

  constructor(
    readonly world: ScenarioWorld,
    readonly settings: Settings,
  ) {
    this.process = new Process(world, settings, this.past);
  }

  async play(step: Step): Promise<StepRecord> {
    const { world } = this;
    world.disks.settle();
    world.journal = new StepJournal();
    this.process.told = nothingTold();
    const began = world.clock.now();
    const crash = await world.clock.run(this.#do(step)).then(
      () => null,
      (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
    );
    const took = world.clock.now() - began;
    const { told, state } = this.process;
    const { journal } = world;
    for (const { kind, id } of journal.calls) if (kind === 'EvictPod' && id !== null) this.#evicted.add(id);
    for (const [pod, seconds] of journal.graces) this.#graces.set(pod, seconds);
    this.#messages.push(...told.messages);
    return {
      journal,
      told,
      state,
      took,
      crash,
      evicted: new Set(this.#evicted),
      graces: new Map(this.#graces),
      allMessages: [...this.#messages],
      admitted: [...this.#admitted],
      withoutLogs: logsGone(world),
      thresholds: deriveContainerfs(this.settings.thresholds, state.layout ?? 'one-disk').thresholds,
    };
  }

  async #do(step: Step): Promise<void> {
    const { world, process } = this;
    switch (step.op) {
      case 'start':
        return process.start();
      case 'restart':
        process.end();
        this.process = new Process(world, this.settings, this.past);
        await this.process.start();
        return;
      case 'clock':
        if (step.wallJump !== undefined) world.clock.jumpWall(step.wallJump);
        if (step.advance !== undefined) await world.clock.sleep(milliseconds(step.advance));
        world.disks.settle();
        return;
      case 'fs':
        world.disks.set(step.filesystems);
        return;
      case 'world':
        world.settleIn(step);
        if (step.images !== undefined) this.past.seeds.sow(step.images, world.clock);
        return;
      case 'cri':
        world.places.cri = step.ImageFsInfo;
        return;
      case 'mounts':
        world.places.mounts = step;
        return;
      case 'statsCache':
        world.freeze(step.fs, step.freezeFor);
        return;
      case 'fault':
        world.rules.addFault(step);
        return;
      case 'effect':
        world.rules.addEffect(step);
        return;
      case 'sync':
        return process.sync();
      case 'imageGC':
        return process.imageGC();
      case 'containerGC':
        return process.containerGC();
      case 'admit':
        if (process.admit(step.pod).admitted) this.#admitted.push(step.pod.name);
        return;
    }
  }
}

/** Which containers have no log files, as things are now. */
function logsGone(world: ScenarioWorld): (container: string) => boolean {
  const withLogs = new Set(world.containers.filter((each) => each.logFiles.length > 0).map(({ item }) => item.id));
  return (id) => !withLogs.has(id);
}
