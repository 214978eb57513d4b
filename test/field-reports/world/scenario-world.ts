import { instant, milliseconds } from '../../../src/units/units.js';
import type { ScenarioLayout } from '../format/common.js';
import type { CriFilesystems, StepOf } from '../format/steps.js';
import type { ImageItem } from '../format/world-items.js';
import { CallRules } from './call-rules.js';
import { Disks, type Gain } from './disks.js';
import {
  type LivingContainer,
  type LivingLogDir,
  type LivingPod,
  type LivingSandbox,
  type LogFile,
  logDirOf,
} from './inhabitants.js';
import { StepJournal } from './journal.js';
import { Places } from './places.js';
import { ScenarioClock } from './scenario-clock.js';
import { containersOf, podsOf, sandboxesOf } from './settle-in.js';

const NO_GAIN: Gain = { bytes: 0, inodes: 0 };

/** Numbers of a cached source that stay as they were. */
interface Frozen {
  readonly until: number;
  readonly layers: ReadonlyMap<string, { readonly bytes: number; readonly inodes: number }>;
  readonly reported: CriFilesystems;
}

/** A node as the steps of a scenario make it: what exists, what it holds on which filesystem, and what calls do. */
export class ScenarioWorld {
  readonly clock = new ScenarioClock();
  readonly disks = new Disks(this.clock);
  readonly rules = new CallRules();
  readonly places: Places;
  journal = new StepJournal();
  images: readonly ImageItem[] = [];
  sandboxes: readonly LivingSandbox[] = [];
  containers: readonly LivingContainer[] = [];
  pods: readonly LivingPod[] = [];
  logDirs: readonly LivingLogDir[] = [];
  /** Pods that were told to end and have not left. */
  readonly ending = new Map<string, ReturnType<Disks['after']>>();
  /** Aborts when the pod leaves. */
  readonly #leaving = new Map<string, AbortController>();
  readonly #leftPods = new Set<string>();
  /** Ids of what left with a pod. */
  readonly #left = new Set<string>();
  readonly #frozen = new Map<string, Frozen>();
  readonly #ballast: { readonly size: number; readonly held: Map<string, number> };

  constructor(facts: { readonly layout: ScenarioLayout; readonly rootDir: string; readonly ballast: number }) {
    this.places = new Places(facts.layout, facts.rootDir, this.disks);
    this.#ballast = { size: facts.ballast, held: new Map() };
  }

  /** Replaces the lists given. Ages count back from now. */
  settleIn(step: StepOf<'world'>): void {
    this.disks.settle();
    const wall = this.clock.wall();
    const pods = step.pods ?? this.pods.map(({ item }) => item);
    if (step.images !== undefined) this.images = step.images;
    // Whoever is not listed anew keeps times; identities follow the pods that are listed now.
    if (step.sandboxes !== undefined) this.sandboxes = sandboxesOf(step.sandboxes, pods, wall);
    if (step.containers !== undefined) this.containers = containersOf(step.containers, this.sandboxes, pods, wall);
    if (step.pods !== undefined) {
      this.pods = podsOf(
        step.pods,
        this.containers.map(({ item }) => item),
      );
    }
    if (step.logDirs !== undefined) {
      this.logDirs = step.logDirs.map((item) => ({ item, changedAt: instant(wall - item.ageMin * 60_000) }));
    }
  }

  freeze(filesystem: string, duration: number): void {
    const name = this.places.named(filesystem);
    const layers = this.places.layers === name ? this.containers : [];
    this.#frozen.set(name, {
      until: this.clock.now() + duration,
      reported: this.places.reported,
      layers: new Map(
        layers.map(({ item }) => [item.id, { bytes: item.rootfs.bytes, inodes: item.inodesUsed }] as const),
      ),
    });
  }

  /** What a cached source says of a layer; null = it does not know it yet. */
  toldLayer({ item }: LivingContainer): { readonly bytes: number; readonly inodes: number } | null {
    const frozen = this.#frozen.get(this.places.layers);
    if (frozen !== undefined && this.clock.now() < frozen.until) return frozen.layers.get(item.id) ?? null;
    return { bytes: item.rootfs.bytes, inodes: item.inodesUsed };
  }

  /** What the runtime says of its filesystems; entries on a filesystem whose cached numbers stand still are as they were. */
  reportedFilesystems(): CriFilesystems {
    const now = this.places.reported;
    const asCached = (list: keyof CriFilesystems) =>
      now[list].map((entry) => {
        const frozen = this.#frozen.get(this.places.of(entry.mountpoint).filesystem);
        if (frozen === undefined || this.clock.now() >= frozen.until) return entry;
        return frozen.reported[list].find(({ mountpoint }) => mountpoint === entry.mountpoint) ?? entry;
      });
    return {
      imageFilesystems: asCached('imageFilesystems'),
      containerFilesystems: asCached('containerFilesystems'),
    };
  }

  /** Whether nobody can tell what a pod uses. */
  hasNoStats(uid: string | null): boolean {
    return this.pods.some(({ item }) => item.uid === uid && item.statsMissing);
  }

  /** Whether what a removal takes away is part of the end of a pod. */
  belongsToEnding(call: string, id: string): boolean {
    const uid =
      call === 'RemoveContainer'
        ? this.containers.find(({ item }) => item.id === id)?.pod?.uid
        : this.sandboxes.find(({ item }) => item.id === id)?.pod.uid;
    return (uid !== undefined && this.ending.has(uid)) || this.#left.has(id);
  }

  /** Whether a pod was told to end and has left. */
  hasLeft(uid: string): boolean {
    return this.#leftPods.has(uid);
  }

  /** Resolves when a container that was told to stop has stopped, or its grace is over. */
  async stopped(id: string, graceSeconds: number, signal?: AbortSignal): Promise<void> {
    const container = this.containers.find(({ item }) => item.id === id);
    if (container === undefined) return;
    const { uid = '' } = container.pod ?? {};
    if (!this.ending.has(uid)) {
      container.state = 'exited';
      return;
    }
    const left = this.#leaving.get(uid);
    const signals = [...(left === undefined ? [] : [left.signal]), ...(signal === undefined ? [] : [signal])];
    const until = this.ending.get(uid)?.at ?? 0;
    const wait = Math.max(0, Math.min(graceSeconds * 1_000, until - this.clock.now()));
    await this.clock.sleep(milliseconds(wait), AbortSignal.any(signals));
    this.disks.settle();
  }

  removeImage(id: string): void {
    const image = this.images.find((each) => each.id === id);
    if (image === undefined) return;
    const effect = this.rules.effectOf(`RemoveImage:${id}`);
    if (effect?.stillListed !== true) this.images = this.images.filter((each) => each.id !== id);
    this.#giveBack(`RemoveImage:${id}`, [
      [this.places.images, { bytes: image.unique ?? image.size, inodes: image.inodes }],
    ]);
  }

  removeContainer(id: string): void {
    const container = this.containers.find(({ item }) => item.id === id);
    if (container === undefined) return;
    this.containers = this.containers.filter((each) => each !== container);
    this.#giveBack(`RemoveContainer:${id}`, this.#heldBy(container));
  }

  removeSandbox(id: string): void {
    if (!this.sandboxes.some(({ item }) => item.id === id)) return;
    this.sandboxes = this.sandboxes.filter(({ item }) => item.id !== id);
    this.#giveBack(`RemovePodSandbox:${id}`, []);
    // Real runtimes take a sandbox's containers along, running or not.
    for (const { item, sandboxId } of this.containers) if (sandboxId === id) this.removeContainer(item.id);
  }

  /** A pod is told to end: it leaves when its space comes back, at the latest when a second, shorter grace is over. */
  endPod(uid: string, graceSeconds: number): void {
    const pod = this.pods.find((each) => each.item.uid === uid);
    if (pod === undefined) return;
    const call = `EvictPod:${pod.item.name}`;
    this.journal.call('EvictPod', pod.item.name);
    this.journal.graces.set(pod.item.name, graceSeconds);
    const under = this.ending.get(uid);
    if (under !== undefined) {
      const left = Math.max(0, under.at - this.clock.now());
      if (graceSeconds * 1_000 >= left) return;
      const sooner = this.disks.hasten(under, graceSeconds * 1_000);
      if (this.ending.has(uid)) this.ending.set(uid, sooner);
      return;
    }
    const delay = this.rules.effectOf(call)?.delay ?? 0;
    this.#leaving.set(uid, new AbortController());
    const due = this.disks.after(delay, () => {
      this.#leave(pod, call);
    });
    if (!this.#leftPods.has(uid)) this.ending.set(uid, due);
  }

  /** What the ballast on a filesystem holds: it was there before the manager was. */
  ballastOn(filesystem: string): number {
    return this.#ballast.held.get(filesystem) ?? this.#ballast.size;
  }

  /** Answers how much was given back. */
  releaseBallast(filesystem: string): number {
    this.journal.call('ReleaseBallast', null);
    const held = this.ballastOn(filesystem);
    this.#ballast.held.set(filesystem, 0);
    if (held > 0) this.#giveBack('ReleaseBallast', [[filesystem, { bytes: held, inodes: 1 }]]);
    return held;
  }

  /** Answers how much is held then. */
  layBallast(filesystem: string, size: number): number {
    const held = this.ballastOn(filesystem);
    this.#ballast.held.set(filesystem, size);
    this.disks.give(filesystem, { bytes: held - size, inodes: held === 0 ? -1 : 0 });
    return size;
  }

  /** Removes log files of one container; what the removal of the container is said to free comes with that alone. */
  removeLogFiles(container: LivingContainer, isMeant: (file: LogFile) => boolean): void {
    const going = container.logFiles.filter(isMeant);
    container.logFiles = container.logFiles.filter((each) => !going.includes(each));
    if (this.rules.effectOf(`RemoveContainer:${container.item.id}`) !== null) return;
    const bytes = going.reduce((sum, each) => sum + each.bytes, 0);
    this.disks.give(this.places.logs, { bytes, inodes: 0 });
  }

  removeLogDir(name: string): void {
    const directory = this.logDirs.find(({ item }) => item.dir === name);
    if (directory === undefined) return;
    this.logDirs = this.logDirs.filter((each) => each !== directory);
    // What a pod that was told to end leaves goes with it.
    if (this.pods.some(({ item, identity }) => this.hasLeft(item.uid) && logDirOf(identity) === name)) return;
    this.journal.logDirsRemoved.push(name);
    if (directory.item.symlinkTo === undefined) {
      this.disks.give(this.places.logs, { bytes: directory.item.bytes, inodes: 0 });
    }
  }

  removeTerminationFile(pod: LivingPod, container: string, file: string): void {
    const files = pod.terminationFiles.get(container) ?? [];
    if (!files.includes(file)) return;
    pod.terminationFiles = new Map([...pod.terminationFiles, [container, files.filter((each) => each !== file)]]);
    const { name } = pod.item;
    const removed = this.journal.terminationFilesRemoved;
    removed.set(name, (removed.get(name) ?? 0) + 1);
    this.disks.give(this.places.root, { bytes: 0, inodes: 1 });
  }

  removeVolumes(pod: LivingPod): void {
    this.disks.give(this.places.root, volumesGain(pod));
    pod.volumes = pod.volumes.filter(({ type }) => type === 'hostPath');
  }

  #leave(pod: LivingPod, call: string): void {
    const { uid } = pod.item;
    this.ending.delete(uid);
    this.#leftPods.add(uid);
    this.#leaving.get(uid)?.abort();
    const own = this.containers.filter((each) => each.pod?.uid === uid);
    const sandboxes = this.sandboxes.filter((each) => each.pod.uid === uid);
    for (const { item } of [...own, ...sandboxes]) this.#left.add(item.id);
    this.containers = this.containers.filter((each) => !own.includes(each));
    this.sandboxes = this.sandboxes.filter((each) => !sandboxes.includes(each));
    const files = [...pod.terminationFiles.values()].flat().length;
    const held = own.flatMap((each) => [
      ...this.#heldBy(each),
      [this.places.layers, { bytes: each.item.deletedOpen.bytes, inodes: 0 }] as const,
    ]);
    const { bytes, inodes } = volumesGain(pod);
    pod.phase = 'Failed';
    pod.volumes = pod.volumes.filter(({ type }) => type === 'hostPath');
    pod.terminationFiles = new Map();
    this.#giveNow(call, [...held, [this.places.root, { bytes, inodes: inodes + files }]]);
  }

  #heldBy({ item, logFiles }: LivingContainer): readonly (readonly [string, Gain])[] {
    const logs = logFiles.reduce((sum, each) => sum + each.bytes, 0);
    return [
      [this.places.layers, { bytes: item.rootfs.bytes, inodes: item.inodesUsed }],
      [this.places.logs, { bytes: logs, inodes: 0 }],
    ];
  }

  /** What a call frees, now or after its delay. */
  #giveBack(call: string, gains: readonly (readonly [string, Gain])[]): void {
    const delay = this.rules.effectOf(call)?.delay ?? 0;
    this.disks.after(delay, () => {
      this.#giveNow(call, gains);
    });
  }

  #giveNow(call: string, gains: readonly (readonly [string, Gain])[]): void {
    const effect = this.rules.effectOf(call);
    if (effect === null) {
      for (const [filesystem, gain] of gains) this.disks.give(filesystem, gain);
      return;
    }
    const names = new Set([...Object.keys(effect.frees), ...Object.keys(effect.inodes)]);
    for (const name of names) {
      const gain = { ...NO_GAIN, bytes: effect.frees[name] ?? 0, inodes: effect.inodes[name] ?? 0 };
      this.disks.give(this.places.named(name), gain);
    }
  }
}

/** What the disk-backed emptyDirs of a pod hold. */
function volumesGain({ volumes }: LivingPod): Gain {
  const own = volumes.filter(({ type, medium }) => type === 'emptyDir' && medium === '');
  return {
    bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
    inodes: own.reduce((sum, { inodes }) => sum + inodes, 0),
  };
}
