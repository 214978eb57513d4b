import type { ImageContent } from '../gc/image-content.js';

/** Reads what images keep on the disk out of the runtime's own records, part by part with sizes. */
export interface ImageContentPort {
  /** Null where the runtime keeps none that are known here. Rejects with a `PortError` when they cannot be read. */
  imageContent(signal?: AbortSignal): Promise<ImageContent | null>;
}
