import { imageKey, type ListedImage } from './image-collection.js';
import { imagesInUse } from './image-use.js';
import type { ImageUser } from './inventory.js';

/**
 * The record keys in use, as the kubelet tells them: the image id of each container, dead ones included, or its reference where
 * the runtime gives no id, and the images mounted as volumes, by their plain id. Where that names no listed image the names are
 * looked up as well (handlers not told apart): the kubelet protects nothing there and has a runtime remove what runs.
 */
export function imageKeysInUse(
  images: readonly ListedImage[],
  containers: readonly ImageUser[],
  volumes: readonly { readonly container: string; readonly reference: string }[],
  isHandlerAware: boolean,
): ReadonlySet<string> {
  const listed = new Set(images.map((each) => each.id));
  const keys = containers.map((each) =>
    imageKey(each.imageId === '' ? each.imageRef : each.imageId, each.runtimeHandler, isHandlerAware),
  );
  const mounted = volumes.filter((each) => listed.has(each.reference)).map((each) => each.reference);
  if (isHandlerAware) return new Set([...keys, ...mounted]);
  const nameless = containers.filter((each, index) => !listed.has(keys[index] ?? each.id));
  const unlisted = volumes.filter((each) => !listed.has(each.reference));
  const found = imagesInUse(images, nameless, { sandboxImage: null, volumes: unlisted });
  return new Set([...keys, ...mounted, ...found.users.keys()]);
}
