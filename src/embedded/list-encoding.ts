import { BinaryWriter } from '@bufbuild/protobuf/wire';
import {
  Container,
  Image,
  ImageServiceService,
  type ListContainersResponse,
  type ListImagesResponse,
  type MessageFns,
  RuntimeServiceService,
} from '../proto/generated/cri.js';

/** Tag of field 1, length-delimited: where both lists have their items. */
const ITEMS_TAG = (1 << 3) | 2;

/**
 * The two services with quick lists. A message object stands for one state of its record and is made anew when that
 * changes, so its bytes are kept with it; a list of ten thousand then costs a copy and not ten thousand encodings.
 */
export const QUICK_RUNTIME_SERVICE = {
  ...RuntimeServiceService,
  listContainers: {
    ...RuntimeServiceService.listContainers,
    responseSerialize: listEncoder(Container, (response: ListContainersResponse) => response.containers),
  },
};

export const QUICK_IMAGE_SERVICE = {
  ...ImageServiceService,
  listImages: {
    ...ImageServiceService.listImages,
    responseSerialize: listEncoder(Image, (response: ListImagesResponse) => response.images),
  },
};

function listEncoder<Response, Item extends object>(
  message: MessageFns<Item>,
  itemsOf: (response: Response) => readonly Item[],
): (response: Response) => Buffer {
  const encoded = new WeakMap<Item, Uint8Array>();
  return (response) => {
    const writer = new BinaryWriter();
    for (const item of itemsOf(response)) {
      const bytes = encoded.get(item) ?? message.encode(item).finish();
      encoded.set(item, bytes);
      writer.uint32(ITEMS_TAG).bytes(bytes);
    }
    return Buffer.from(writer.finish());
  };
}
