import { basename, dirname, join } from 'node:path';
import type { ImageContentPort } from '../../ports/image-content.js';
import type { RuntimePort } from '../../ports/runtime.js';
import { readBoltFile } from './bolt-file.js';
import { imageGraph } from './image-graph.js';

/** How containerd calls the directory of a snapshotter, which it reports as the place of images. */
const SNAPSHOTTER = /^io\.containerd\.snapshotter\.v1\.(?<name>[A-Za-z0-9_-]+)$/;
/** Where it keeps what it knows of images, beside that directory. */
const METADATA = 'io.containerd.metadata.v1.bolt/meta.db';

/**
 * Reads what images share out of containerd's own records on this machine (layout of 1.6 and 2.4, tried). Where the runtime reports
 * another kind of place it is no containerd, and there is nothing to read.
 */
export function containerdImageContent(runtime: Pick<RuntimePort, 'imageFsInfo'>): ImageContentPort {
  return {
    async imageContent(signal) {
      const { imageFilesystems } = await runtime.imageFsInfo(signal);
      const place = imageFilesystems[0]?.mountpoint ?? null;
      const snapshotter = place === null ? undefined : SNAPSHOTTER.exec(basename(place))?.groups?.['name'];
      if (place === null || snapshotter === undefined) return null;
      const [meta, store] = await Promise.all([
        readBoltFile(join(dirname(place), METADATA)),
        readBoltFile(join(place, 'metadata.db')),
      ]);
      return imageGraph(meta, store, snapshotter);
    },
  };
}
