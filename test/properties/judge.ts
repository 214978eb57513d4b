import type { EventOf, EvictionEvent } from '../../src/eviction/event.js';
import { POLICIES } from '../../src/eviction/policy.js';
import { SIGNALS } from '../../src/eviction/signal.js';
import { reclaimSteps } from '../../src/eviction/steps.js';
import type { ContainerState } from '../../src/ports/runtime.js';
import type { FakeDisk } from '../fakes/fake-disk.js';
import type { FakeNode } from '../fakes/fake-node.js';
import type { MadeCall } from '../fakes/fake-runtime.js';
import type { FakeContainer, FakeImage, FakePod, FakeWorld } from '../fakes/fake-world.js';
import { spaceFreedBy } from './space-freed-by.js';

/**
 * Watches every call that changes the node and every eviction, from the truth of the world and with rules written down a
 * second time: it shares no code with what it judges, but for the table of steps.
 */
export class Judge {
  /** Images and sandboxes that containers need: what comes after the list that a removal was checked by, nobody can know. */
  readonly #usedWhenLastListed = new Set<string>();
  /** The state of each container as the runtime told it last. */
  readonly #toldState = new Map<string, ContainerState | undefined>();
  /** Ids that this pass was about to remove and must not. */
  readonly #triedInVain = new Set<string>();
  /** Ids whose removal the runtime refused: in these worlds what is refused once is refused for ever, and is left alone for minutes. */
  readonly #refused = new Set<string>();
  readonly #removed = new Set<string>();
  /** Ids that a plan of this pass named. */
  readonly #planned = new Set<string>();
  #evictions = 0;
  #victim: string | null = null;
  #couldNotAsk = false;
  #firstBroken: Broken | null = null;

  /** `youngImagesStay`: all images are below the minimum age, and the pressure is soft. */
  constructor(
    readonly node: FakeNode,
    readonly youngImagesStay: boolean,
  ) {}

  /** A pass begins. */
  passBegins(): void {
    this.#planned.clear();
    this.#triedInVain.clear();
    this.#evictions = 0;
    this.#victim = null;
    this.#couldNotAsk = false;
  }

  /**
   * A pass has ended. Only here is a broken rule thrown: within a call it would pass for a fault of the runtime, which the
   * code under test survives.
   */
  passEnds(): void {
    if (this.#firstBroken !== null) throw this.#firstBroken;
  }

  /** A call is about to take effect. */
  sees({ call, target }: MadeCall): void {
    if (call === 'listContainers') {
      this.#usedWhenLastListed.clear();
      for (const each of this.#world.containers.values()) {
        for (const used of [each.sandboxId, ...usedBy(each)]) this.#usedWhenLastListed.add(used);
      }
    }
    if (call === 'listContainers')
      for (const { id, state } of this.#world.containers.values()) this.#toldState.set(id, state);
    if (target === null) return;
    if (call === 'containerStatus') this.#toldState.set(target, this.#world.containers.get(target)?.state);
    if (call === 'removeImage') this.#mayRemoveImage(target);
    if (call === 'removeContainer') this.#mayRemoveContainer(target);
    if (call === 'stopContainer') this.#mayStop(this.#world.containers.get(target));
    if (call === 'stopSandbox' || call === 'removeSandbox') this.#mayEndSandbox(target);
  }

  /** Something was told. */
  hears(event: EvictionEvent): void {
    if (event.kind === 'reclaim-planned') for (const { id } of event.subjects) this.#planned.add(id);
    if (event.kind === 'removed') this.#wasPlanned(event);
    if (event.kind === 'removal-failed') this.#refused.add(event.subject.id);
    if (event.kind === 'removal-skipped') this.#triedInVain.add(event.subject.id);
    if (event.kind === 'list-failed') this.#couldNotAsk = true;
    if (event.kind === 'eviction-decided') this.#mayEvict(event);
  }

  #breaks(rule: string): void {
    this.#firstBroken ??= new Broken(rule);
  }

  get #world(): FakeWorld {
    return this.node.world;
  }

  #mayRemoveImage(id: string): void {
    const image = this.#world.images.get(id);
    if (image === undefined) return;
    if (this.#usedWhenLastListed.has(id)) this.#breaks(`image ${id} is in use and is removed`);
    if (isGuarded(image)) this.#breaks(`image ${id} is pinned, protected or the sandbox image and is removed`);
  }

  #mayRemoveContainer(id: string): void {
    const container = this.#world.containers.get(id);
    if (this.#toldState.get(id) === 'running') this.#breaks(`container ${id} runs and is removed`);
    if (container !== undefined && container.pod === null) this.#breaks(`container ${id} is nobody's and is removed`);
  }

  #mayStop(container: FakeContainer | undefined): void {
    if (container === undefined || container.state === 'unknown') return;
    if (container.pod?.uid !== this.#victim)
      this.#breaks(`container ${container.id} is stopped and its pod was not chosen`);
  }

  #mayEndSandbox(id: string): void {
    const sandbox = this.#world.sandboxes.get(id);
    if (sandbox === undefined || sandbox.pod.uid === this.#victim) return;
    if (sandbox.state === 'ready') this.#breaks(`sandbox ${id} is ready and is ended`);
    if (this.#usedWhenLastListed.has(id)) this.#breaks(`sandbox ${id} has a container and is ended`);
  }

  #wasPlanned({ subject }: EventOf<'removed'>): void {
    if (this.#removed.has(subject.id)) this.#breaks(`${subject.id} is removed twice`);
    this.#removed.add(subject.id);
    if (subject.reason === 'its pod was evicted') return;
    if (!this.#planned.has(subject.id)) this.#breaks(`${subject.id} is removed and no plan named it`);
  }

  #mayEvict(event: EventOf<'eviction-decided'>): void {
    this.#evictions += 1;
    if (this.#evictions > 1) this.#breaks('two pods are chosen in one pass');
    const pod = this.#world.pods.get(event.pod.uid);
    if (pod === undefined || isProtected(pod)) this.#breaks(`pod ${event.pod.uid} is protected and is chosen`);
    this.#victim = event.pod.uid;
    // Who cannot be told what is in use cannot remove it: that is the runtime's fault, not ours.
    if (this.#couldNotAsk) return;
    const { signal } = event.threshold;
    const { filesystem, unit } = SIGNALS[signal];
    if (filesystem === null) return;
    const disk: FakeDisk = this.#world.disks[filesystem];
    const measure = unit === 'bytes' ? 'bytes' : 'inodes';
    const free = (unit === 'bytes' ? disk.freeBytes : disk.freeInodes) + disk.coming[measure];
    if (free >= event.target) this.#breaks(`a pod is chosen while space that suffices is coming back`);
    const steps = reclaimSteps(signal, this.node.state.layout ?? 'one-disk', POLICIES.reclaimd);
    const containers = steps.includes('containers') ? this.#removableContainers() : [];
    const images = steps.includes('images') && !this.youngImagesStay ? this.#removableImages(containers) : [];
    const gain = spaceFreedBy(this.#world, disk, containers, images)[measure];
    if (free + gain >= event.target) {
      this.#breaks(`a pod is chosen while ${names(containers)} and ${names(images)} could still go and would suffice`);
    }
  }

  #mustStay(id: string): boolean {
    return this.#triedInVain.has(id) || this.#refused.has(id);
  }

  #removableContainers(): readonly FakeContainer[] {
    return [...this.#world.containers.values()].filter(
      (each) => each.state === 'exited' && each.pod !== null && !this.#mustStay(each.id),
    );
  }

  #removableImages(going: readonly FakeContainer[]): readonly FakeImage[] {
    const staying = [...this.#world.containers.values()].filter((each) => !going.includes(each));
    const used = new Set(staying.flatMap(usedBy));
    return [...this.#world.images.values()].filter(
      (each) => !used.has(each.id) && !isGuarded(each) && !this.#mustStay(each.id),
    );
  }
}

function usedBy(container: FakeContainer): readonly string[] {
  return [...(container.base === null ? [] : [container.base]), ...container.imageVolumes];
}

function isGuarded(image: FakeImage): boolean {
  return image.pinned || image.tags.some((tag) => tag.startsWith('keep/') || tag === 'sandbox:1');
}

function isProtected(pod: FakePod): boolean {
  return (
    (pod.priority ?? 0) >= 2_000_000_000 || pod.source === 'file' || pod.isMirror || pod.namespace === 'kube-system'
  );
}

function names(items: readonly { readonly id: string }[]): string {
  return items.map((each) => each.id).join(', ') || 'nothing';
}

/** A rule that must never be broken was. */
export class Broken extends Error {
  override readonly name = 'Broken';
}
