import type { RemovalSubject } from '../eviction/event.js';
import { type ImageHistory, trackImages } from '../gc/image-history.js';
import { compileProtection } from '../gc/image-protection.js';
import { type ImageUse, imagesInUse } from '../gc/image-use.js';
import { forbiddance, type JudgedImage, planImages } from '../gc/plan-images.js';
import type { Clock } from '../ports/clock.js';
import type { ContainerRecord, ImageRecord, RuntimePort } from '../ports/runtime.js';
import type { Milliseconds } from '../units/units.js';
import { createImageVolumes } from './image-volumes.js';
import { carryOut, failureOf, messageOf, type Removal, toError } from './removal.js';
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

/** What image collection needs from the world. */
export interface ImageGcDeps {
  readonly runtime: RuntimePort;
  readonly clock: Clock;
  readonly minAge: Milliseconds;
  readonly sandboxImage: string | null;
  readonly protectedImages: readonly string[];
}

/**
 * What an image takes on the disk per byte of its listed size, to begin with: the blob and the unpacked snapshot both stay
 * (30 MiB listed, 60 MiB on disk; measured on containerd). Each batch corrects it.
 */
const BYTES_PER_LISTED_BYTE = 2;

interface Inventory {
  readonly images: readonly ImageRecord[];
  readonly use: ImageUse;
}

/** Makes an image collector. What it has seen of images lives as long as it does. */
export function createImageGC(deps: ImageGcDeps): ImageGC {
  const { runtime, clock } = deps;
  const protectedBy = compileProtection(deps.protectedImages);
  const volumes = createImageVolumes(runtime);
  let history: ImageHistory = new Map();

  async function detect(signal: AbortSignal): Promise<Inventory> {
    const [images, containers] = await Promise.all([runtime.listImages(signal), runtime.listContainers(signal)]);
    const use = await usersOf(images, containers, signal);
    history = trackImages(history, images, use.users, clock.now());
    return { images, use };
  }

  async function usersOf(
    images: readonly ImageRecord[],
    containers: readonly ContainerRecord[],
    signal: AbortSignal,
  ): Promise<ImageUse> {
    const mounted = await volumes.of(containers, signal);
    return imagesInUse(images, containers, { sandboxImage: deps.sandboxImage, volumes: mounted });
  }

  function judge({ images, use }: Inventory, run: ReclaimRun): readonly JudgedImage[] {
    return planImages({
      images,
      use,
      protectedBy,
      history,
      minAge: deps.minAge,
      youngLast: run.isHard && run.policy.gc.youngImages === 'last',
      now: clock.now(),
    });
  }

  return {
    detectImages: async (signal) => (await detect(signal)).use,
    planUnusedImages: async (run) => judge(await detect(run.signal), run),
    async *deleteUnusedImages(run) {
      const inventory = await detect(run.signal).catch(toError);
      if (inventory instanceof Error) {
        yield { kind: 'list-failed', at: clock.now(), what: 'images and their users', message: messageOf(inventory) };
        return nothingRemoved(failureOf(inventory));
      }
      for (const { reference, container } of inventory.use.unresolved) {
        yield { kind: 'image-reference-unresolved', at: clock.now(), reference, container };
      }
      const byId = new Map(inventory.images.map((each) => [each.id, each]));
      const plan = judge(inventory, run).flatMap(({ item, verdict }) =>
        verdict.kind === 'goes' ? [imageRemoval(runtime, imageSubject(item, verdict.why))] : [],
      );
      return yield* carryOut(
        plan,
        {
          spaceComes: 'at-once',
          bytesPerClaimed: BYTES_PER_LISTED_BYTE,
          // Users are listed anew just before each batch: a container may have been made since the plan.
          recheck: async () => {
            const use = await usersOf(inventory.images, await runtime.listContainers(run.signal), run.signal);
            return (subject) => {
              const image = byId.get(subject.id);
              return image === undefined ? null : forbiddance(image, use, protectedBy);
            };
          },
        },
        run,
      );
    },
  };
}

/** An image as the subject of a removal. */
export function imageSubject(image: JudgedImage['item'], reason: string): RemovalSubject {
  const label = image.tags[0] ?? image.digests[0] ?? image.id;
  return { what: 'image', id: image.id, label, reason, claimed: image.size };
}

function imageRemoval(runtime: RuntimePort, subject: RemovalSubject): Removal {
  return {
    subject,
    async carryOut(signal) {
      await runtime.removeImage(subject.id, signal);
      return { kind: 'removed' };
    },
  };
}
