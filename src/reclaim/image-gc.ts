import type { RemovalSubject } from '../eviction/event.js';
import { type ImageUse, imagesInUse } from '../gc/image-use.js';
import { imageLabel, type PlannedImage } from '../gc/inventory.js';
import { forbiddance, type ImagePlanInput, type JudgedImage, planImages } from '../gc/plan-images.js';
import type { ImageProtection } from '../gc/protection-rules.js';
import type { Clock } from '../ports/clock.js';
import type { ContainerRecord, ImageRecord, RuntimePort } from '../ports/runtime.js';
import { groupBy } from '../units/group-by.js';
import type { Instant, Milliseconds } from '../units/units.js';
import type { BackOff } from './back-off.js';
import type { ImageClaims } from './image-claims.js';
import { ImageCollector } from './image-collector.js';
import { askEveryContainer } from './image-mounts.js';
import { firstSeenIn, ImageProtector, namesOnly } from './image-protector.js';
import { usersBeside } from './image-users.js';
import { createImageVolumes, type MountedImages } from './image-volumes.js';
import { PlannedRemoval, type RemovalWays } from './planned-removal.js';
import { carryOut, failureOf, messageOf, type PreparedStep, type RemovalManner, toError } from './removal.js';
import type { ReturnedImages } from './returned-images.js';
import { nothingRemoved, type ReclaimRun, type ReclaimStepRun } from './run.js';

/** Removes images that nobody uses. Mirrors the kubelet's `ImageGC`. */
export interface ImageGC {
  /**
   * Removes unused images, least recently used first, until the goals are measured. Never one in use by any container,
   * pinned, protected, or the sandbox image. Mirrors `DeleteUnusedImages`.
   */
  deleteUnusedImages(run: ReclaimRun): ReclaimStepRun;
  /** All images with what would become of them; those that would go first, in order. Changes nothing. */
  planUnusedImages(run: ReclaimRun): Promise<readonly JudgedImage[]>;
  /** Looks which images are there and in use, so that last use is known when it counts. Rejects when it cannot be told. */
  detectImages(signal: AbortSignal): Promise<ImageUse>;
}

/** What would become of images and how, made ready to be shown or carried out. */
export interface PreparedImages extends PreparedStep {
  /** All images; those that go first, in order. */
  readonly judged: readonly JudgedImage[];
  readonly use: ImageUse;
  readonly history: ImagePlanInput['history'];
  /** Rules of the operator that fit no image. */
  readonly unusedRules: readonly string[];
}

/** Makes ready what `deleteUnusedImages` would do. */
export interface ImagePlanner {
  /** Changes nothing. Rejects when it cannot be told. */
  prepareImages(run: ReclaimRun): Promise<PreparedImages>;
}

/** What image collection needs from the world. */
export interface ImageGcDeps {
  readonly runtime: Pick<RuntimePort, 'listImages' | 'listContainers' | 'containerStatus' | 'removeImage'>;
  readonly clock: Clock;
  readonly minAge: Milliseconds;
  readonly sandboxImage: string | null;
  /** Patterns of images that stay; not looked at where `protector` is given. */
  readonly protectedImages: readonly string[];
  /** All rules of the operator; share it with periodic collecting. */
  readonly protector?: ImageProtector;
  /** Who beside containers has a claim on images; absent = nobody, and references are not asked for. */
  readonly claims?: ImageClaims;
  /** What remembers when images were used; share it with periodic collecting. One of its own unless given, that asks by name. */
  readonly collector?: ImageCollector;
  /** What the collector of its own leaves alone for having failed; absent = nothing is. */
  readonly backOff?: BackOff;
  /** The same for images that came back soon after their removal. */
  readonly returned?: ReturnedImages;
}

/**
 * What an image takes on the disk per byte of its listed size, to begin with: the blob and the unpacked snapshot both stay
 * (30 MiB listed, 60 MiB on disk; measured on containerd). Each batch corrects it.
 */
const BYTES_PER_LISTED_BYTE = 2;

interface Inventory {
  readonly images: readonly ImageRecord[];
  readonly use: ImageUse;
  readonly protection: ImageProtection;
  readonly history: ImagePlanInput['history'];
  /** Asked just before each batch: a container may have been made since. */
  recheck: RemovalManner['recheck'];
}

/** Makes an image collector. What it has seen of images lives as long as it does. */
export function createImageGC(deps: ImageGcDeps): ImageGC & ImagePlanner {
  const { runtime, clock } = deps;
  const protector = deps.protector ?? new ImageProtector(namesOnly(deps.protectedImages));
  const volumes = createImageVolumes(runtime);
  const collector = deps.collector ?? ownCollector(deps, protector);

  async function detect(signal: AbortSignal): Promise<Inventory> {
    const [images, containers] = await Promise.all([runtime.listImages(signal), runtime.listContainers(signal)]);
    const mounted = await volumes.of(containers, signal);
    const use = await usersOf(images, containers, mounted, signal);
    collector.learn(images, containers, mounted, clock.now(), use.users);
    const protection = await protector.over(images, firstSeenIn(collector.records), signal);
    return { images, use, protection, history: collector.records, recheck: () => recheck(images, protection, signal) };
  }

  async function usersOf(
    images: readonly ImageRecord[],
    containers: readonly ContainerRecord[],
    mounted: MountedImages,
    signal: AbortSignal,
  ): Promise<ImageUse> {
    const use = imagesInUse(images, containers, { sandboxImage: deps.sandboxImage, volumes: mounted });
    return deps.claims === undefined ? use : deps.claims.complete(use, images, signal);
  }

  async function recheck(
    images: readonly ImageRecord[],
    protection: ImageProtection,
    signal: AbortSignal,
  ): ReturnType<RemovalManner['recheck']> {
    const containers = await runtime.listContainers(signal);
    const mounted = await volumes.of(containers, signal);
    const use = await usersOf(images, containers, mounted, signal);
    const byId = new Map(images.map((each) => [each.id, each]));
    return ({ id }) => {
      const image = byId.get(id);
      return image === undefined ? null : forbiddance(image, use, protection.by);
    };
  }

  /** The kubelet's way: every container is asked, exact ids count, and of two entries of one id the later holds. */
  async function detectByRecords(signal: AbortSignal): Promise<Inventory> {
    const detected = await collector.detect(clock.now(), signal);
    if (detected.kind === 'failed') throw detected.error.cause ?? new Error(detected.error.message);
    const { images, containers, inUse } = detected.list;
    const byId = groupBy(images, ({ id }) => id);
    const named = imagesInUse(images, containers, { sandboxImage: deps.sandboxImage, volumes: [] });
    // CRI removes an id with all its handlers: one handler in use keeps it.
    const users = images
      .filter((each) => inUse.has(collector.keyOf(each)))
      .map(({ id }) => [id, named.users.get(id) ?? 'used by a container'] as const);
    const sandboxes = imagesInUse(images, [], { sandboxImage: deps.sandboxImage, volumes: [] });
    const history = new Map(
      images.flatMap((each) => {
        const record = collector.records.get(collector.keyOf(each));
        return record === undefined ? [] : [[each.id, record] as const];
      }),
    );
    return {
      protection: await protector.over(images, firstSeenIn(history), signal),
      images: [...byId.values()].flatMap((entries) => entries.at(-1) ?? []),
      use: { users: new Map([...sandboxes.users, ...users]), unresolved: named.unresolved },
      history,
      recheck: async () => {
        const userOf = await collector.usersSince(detected.list, signal);
        return ({ id }) => {
          const same = byId.get(id) ?? [];
          return same.map((each) => userOf(collector.keyOf(each))).find((user) => user !== null) ?? null;
        };
      },
    };
  }

  const detectFor = (run: ReclaimRun) => (run.policy.name === 'kubelet' ? detectByRecords : detect)(run.signal);

  function judge({ images, use, history: known, protection }: Inventory, run: ReclaimRun): readonly JudgedImage[] {
    return planImages({
      images,
      use,
      protectedBy: (image) =>
        protection.by(image) ?? collector.restReason(image, known.get(image.id)?.firstDetected ?? null),
      history: known,
      minAge: deps.minAge,
      youngLast: run.isHard && run.policy.gc.youngImages === 'last',
      now: clock.now(),
    });
  }

  function stepFor(judged: readonly JudgedImage[], inventory: Inventory): PreparedStep {
    const ways: RemovalWays<PlannedImage> = {
      describe: imageSubject,
      async remove({ id }, signal) {
        await runtime.removeImage(id, signal);
        return { kind: 'removed' };
      },
    };
    return {
      removals: judged.flatMap(({ item, verdict }) =>
        verdict.kind === 'goes' ? [new PlannedRemoval(item, verdict.why, ways)] : [],
      ),
      manner: {
        spaceComes: 'at-once',
        bytesPerClaimed: BYTES_PER_LISTED_BYTE,
        recheck: () => inventory.recheck(),
      },
    };
  }

  return {
    detectImages: async (signal) => (await detect(signal)).use,
    async prepareImages(run) {
      const inventory = await detectFor(run);
      const judged = judge(inventory, run);
      const { use, history, protection } = inventory;
      return { ...stepFor(judged, inventory), judged, use, history, unusedRules: protection.unused() };
    },
    planUnusedImages: async (run) => judge(await detectFor(run), run),
    async *deleteUnusedImages(run) {
      const freeTime = clock.now();
      const inventory = await detectFor(run).catch(toError);
      if (inventory instanceof Error) {
        yield { kind: 'list-failed', at: clock.now(), what: 'images and their users', message: messageOf(inventory) };
        return nothingRemoved(failureOf(inventory));
      }
      const { use, protection } = inventory;
      const unresolved = deps.claims?.newlyUnresolved(use) ?? use.unresolved;
      for (const each of unresolved) yield { kind: 'image-reference-unresolved', at: clock.now(), ...each };
      for (const pattern of protector.newlyUnused(protection)) {
        yield { kind: 'protect-pattern-unused', at: clock.now(), pattern };
      }
      for (const each of collector.newlyReturned(inventory.images)) {
        yield { kind: 'image-came-back', at: clock.now(), ...each };
      }
      const judged = judge(inventory, run);
      const { removals, manner } = stepFor(judged, inventory);
      const collecting = carryOut(removals, manner, run);
      const tooYoung = judged.filter(({ verdict }) => verdict.kind === 'stays' && verdict.isTooYoung);
      const result = yield* booked(
        collecting,
        tooYoung.map(({ item }) => item.id),
        freeTime,
      );
      const held = protector.newlyHeld(heldByRules(judged, inventory), result.outcome === 'exhausted', clock.now());
      if (held !== null) yield { kind: 'protected-images-hold-space', at: clock.now(), ...held };
      return result;
    },
  };

  /** Has the records follow what becomes of a plan, of which some stay that were too young. */
  async function* booked(collecting: ReclaimStepRun, tooYoung: readonly string[], freeTime: Instant): ReclaimStepRun {
    const kept = new Set(tooYoung);
    let hasFailed = false;
    for (;;) {
      const next = await collecting.next();
      if (next.done === true) {
        if (!hasFailed && next.value.outcome === 'exhausted') collector.tellKept([...kept], freeTime);
        return next.value;
      }
      const event = next.value;
      if (event.kind === 'removed') collector.forgetImage(event.subject.id);
      if (event.kind === 'removal-skipped') kept.add(event.subject.id);
      if (event.kind === 'removal-failed') hasFailed = true;
      yield event;
    }
  }
}

/** The records where no periodic collecting shares them: without marks, as under pressure. */
function ownCollector(deps: ImageGcDeps, protector: ImageProtector): ImageCollector {
  const { runtime, clock, minAge, sandboxImage } = deps;
  return new ImageCollector({
    runtime,
    clock,
    removeImage: ({ id }, signal) => runtime.removeImage(id, signal),
    volumes: askEveryContainer(runtime),
    rules: { highPercent: 100, lowPercent: 100, minAge, maxAge: null, runtimeHandlerAware: false },
    protector,
    ...(deps.backOff === undefined ? {} : { backOff: deps.backOff }),
    ...(deps.returned === undefined ? {} : { returned: deps.returned }),
    alsoInUse: usersBeside({ sandboxImage, byName: true }),
  });
}

/** An image as the subject of a removal. */
export function imageSubject(image: PlannedImage, reason: string): RemovalSubject {
  return { what: 'image', id: image.id, label: imageLabel(image), reason, claimed: image.size };
}

/** The images that only the operator's rules keep. */
function heldByRules(judged: readonly JudgedImage[], { use, protection }: Inventory): readonly PlannedImage[] {
  return judged.flatMap(({ item, verdict }) => {
    if (verdict.kind === 'goes' || use.users.has(item.id) || item.pinned) return [];
    return protection.by(item) === null ? [] : [item];
  });
}
