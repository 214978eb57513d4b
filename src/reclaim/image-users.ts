import { type ImageUse, imagesInUse, type UnresolvedReference } from '../gc/image-use.js';
import type { ContainerRecord, ImageRecord } from '../ports/runtime.js';
import type { ImageClaims } from './image-claims.js';
import type { MountedImages } from './image-volumes.js';

/** Who uses images beside those whom the kubelet's look at exact ids finds. */
export interface UsersBeside {
  /** Whether all that a container names counts, which finds all that exact ids find as well. */
  readonly byName: boolean;
  /** The ids of images in use. */
  of(images: readonly ImageRecord[], containers: readonly ContainerRecord[], mounted: MountedImages): ImageUse['users'];
}

/**
 * The users of images that the kubelet's look at exact ids does not find, so that a periodic run keeps what a run under pressure
 * keeps: the sandbox image; and, `byName`, what a container names by tag or digest beside the id that it runs.
 */
export function usersBeside(options: {
  readonly sandboxImage: string | null;
  readonly byName: boolean;
  /** Whether images are told apart by handler, which a runtime does not do when it removes one; absent = not. */
  readonly byEveryHandler?: boolean;
}): UsersBeside {
  const { sandboxImage, byName, byEveryHandler = false } = options;
  const asks = byName || byEveryHandler;
  return {
    byName,
    of: (images, containers, mounted) =>
      imagesInUse(images, asks ? containers : [], { sandboxImage, volumes: asks ? mounted : [] }).users,
  };
}

/** All who use images, by name and by claims, as a run under pressure knows them. */
export interface ClaimsOnImages {
  /** The ids of images in use. Rejects when that cannot be told. */
  of(
    images: readonly ImageRecord[],
    containers: readonly ContainerRecord[],
    mounted: MountedImages,
    signal: AbortSignal,
  ): Promise<ImageUse['users']>;
  /** Of the latest answer. See `ImageClaims`. */
  newlyUnresolved(): readonly UnresolvedReference[];
}

/** The claims on images that a periodic run keeps to in the reclaimd profile. */
export function claimsBeside(sandboxImage: string | null, claims: ImageClaims): ClaimsOnImages {
  let unresolved: readonly UnresolvedReference[] = [];
  return {
    async of(images, containers, mounted, signal) {
      const named = imagesInUse(images, containers, { sandboxImage, volumes: mounted });
      const use = await claims.complete(named, images, signal);
      unresolved = claims.newlyUnresolved(use);
      return use.users;
    },
    newlyUnresolved() {
      const news = unresolved;
      unresolved = [];
      return news;
    },
  };
}
