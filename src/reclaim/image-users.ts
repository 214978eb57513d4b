import { type ImageUse, imagesInUse } from '../gc/image-use.js';
import type { ContainerRecord, ImageRecord } from '../ports/runtime.js';
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
export function usersBeside(options: { readonly sandboxImage: string | null; readonly byName: boolean }): UsersBeside {
  const { sandboxImage, byName } = options;
  return {
    byName,
    of: (images, containers, mounted) =>
      imagesInUse(images, byName ? containers : [], { sandboxImage, volumes: byName ? mounted : [] }).users,
  };
}
