import type { ImageServiceServer } from '../proto/generated/cri.js';
import type { Calls } from './calls.js';
import type { Images } from './images.js';
import { batches } from './runtime-service.js';
import type { RuntimeState } from './state.js';
import type { Stats } from './stats.js';

/** The parts that ImageService is made of. */
export interface ImageParts {
  readonly state: RuntimeState;
  readonly images: Images;
  readonly stats: Stats;
}

/** ImageService, every call of it. */
export function imageService(calls: Calls, { state, images, stats }: ImageParts): ImageServiceServer {
  return {
    listImages: calls.unary('ListImages', ({ filter }) => ({ images: images.list(filter) })),
    streamImages: calls.stream('StreamImages', state.traits.streams, async ({ filter }, send) => {
      for (const batch of batches(images.list(filter))) send({ images: batch });
    }),
    imageStatus: calls.unary('ImageStatus', ({ image, verbose }) => ({
      image: images.status(image),
      info: verbose ? images.info(image) : {},
    })),
    pullImage: calls.unary('PullImage', async ({ image }) => ({ imageRef: await images.pull(image) })),
    removeImage: calls.unary('RemoveImage', async ({ image }) => {
      await images.remove(image);
      return {};
    }),
    imageFsInfo: calls.unary('ImageFsInfo', () => {
      const containers = stats.containerFilesystem();
      return {
        imageFilesystems: [stats.imageFilesystem()],
        containerFilesystems: containers === null ? [] : [containers],
      };
    }),
  };
}
