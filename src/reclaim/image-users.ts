import { imagesInUse } from '../gc/image-use.js';
import type { ImageCollectorDeps } from './image-collector.js';

/**
 * The users of images that the kubelet's look at exact ids does not find, so that a periodic run keeps what a run under pressure
 * keeps: the sandbox image; and, `byName`, what a container names by tag or digest beside the id that it runs.
 */
export function usersBeside(options: {
  readonly sandboxImage: string | null;
  readonly byName: boolean;
}): NonNullable<ImageCollectorDeps['alsoInUse']> {
  const { sandboxImage, byName } = options;
  return (images, containers, mounted) => {
    const wants = { sandboxImage, volumes: byName ? mounted : [] };
    return new Set(imagesInUse(images, byName ? containers : [], wants).users.keys());
  };
}
