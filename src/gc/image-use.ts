import { imagesMeantBy } from './image-lookup.js';
import type { ImageUser, PlannedImage } from './inventory.js';

/** A container whose image nobody lists: it protects nothing, and that is said. */
export interface UnresolvedReference {
  readonly reference: string;
  readonly container: string;
}

/** Which images are in use, and by what. */
export interface ImageUse {
  /** Image id → why it is in use, for people. */
  readonly users: ReadonlyMap<string, string>;
  readonly unresolved: readonly UnresolvedReference[];
}

/** What protects images beside containers. */
export interface ImageWants {
  /** The image that sandboxes run on; without it no pod starts again. */
  readonly sandboxImage: string | null;
  /** Ids or references of images mounted as volumes, with the container's id. */
  readonly volumes: readonly { readonly container: string; readonly reference: string }[];
}

/**
 * Which images are in use: by any container, running or dead, as an image volume, or as the sandbox image. An image answers
 * to its id, its tags and its digests. The question is ours alone: a runtime removes an image under a running container
 * without an error.
 */
export function imagesInUse(
  images: readonly PlannedImage[],
  containers: readonly ImageUser[],
  wants: ImageWants,
): ImageUse {
  // Containers by the hundred name the same image, so each name is looked up once, for the last who gives it.
  const lastUser = new Map<string, number>();
  containers.forEach(({ imageId, imageRef, image }, user) => {
    // The user's reference counts too: a tag that moved on still names what the next start will run.
    lastUser.set(imageId, user);
    if (imageRef !== imageId) lastUser.set(imageRef, user);
    lastUser.set(image, user);
  });
  wants.volumes.forEach(({ reference }, index) => {
    lastUser.set(reference, containers.length + index);
  });
  if (wants.sandboxImage !== null) lastUser.set(wants.sandboxImage, Number.POSITIVE_INFINITY);
  lastUser.delete('');
  const { images: used, unknown } = imagesMeantBy(lastUser, images);
  const users = new Map<string, string>();
  for (const [id, user] of used) users.set(id, whyUsed(user, containers, wants));
  return { users, unresolved: unresolvedOf(containers, unknown) };
}

function whyUsed(user: number, containers: readonly ImageUser[], { volumes }: ImageWants): string {
  const container = containers[user];
  if (container !== undefined) return `used by container ${container.id.slice(0, 13)}`;
  const volume = volumes[user - containers.length];
  return volume === undefined ? 'the sandbox image' : `mounted by container ${volume.container.slice(0, 13)}`;
}

/** The containers of which no name means any image. */
function unresolvedOf(containers: readonly ImageUser[], unknown: ReadonlySet<string>): readonly UnresolvedReference[] {
  if (unknown.size === 0) return [];
  return containers.flatMap(({ id, imageId, imageRef, image }) => {
    const reference = imageId || imageRef || image;
    if (!unknown.has(reference)) return [];
    const isUnknown = [imageRef, image].every((each) => each === '' || unknown.has(each));
    return isUnknown ? [{ reference, container: id }] : [];
  });
}
