import { credentials } from '@grpc/grpc-js';
import { type EmbeddedRuntime, startEmbeddedRuntime } from '../../src/embedded/embedded-runtime.js';
import type { EmbeddedRuntimeOptions, LayerContent } from '../../src/embedded/options.js';
import { ImageServiceClient, RuntimeServiceClient } from '../../src/proto/generated/cri.js';
import type { LayerSpec, RuntimeUnderTest } from './runtime-under-test.js';

/** Size of the busybox layer, about that of the real one. */
const BUSYBOX_BYTES = 1_900_000;

/** An embedded runtime as the contract sees runtimes. */
export interface EmbeddedUnderTest extends RuntimeUnderTest {
  readonly embedded: EmbeddedRuntime;
}

/** Starts an embedded runtime with clients for it. */
export async function openEmbedded(options: EmbeddedRuntimeOptions): Promise<EmbeddedUnderTest> {
  const embedded = await startEmbeddedRuntime(options);
  const channel = {
    'grpc.initial_reconnect_backoff_ms': 50,
    'grpc.max_reconnect_backoff_ms': 200,
    'grpc.max_receive_message_length': 64 << 20,
  };
  const runtime = new RuntimeServiceClient(embedded.endpoint, credentials.createInsecure(), channel);
  const images = new ImageServiceClient(embedded.endpoint, credentials.createInsecure(), channel);
  return {
    title: embedded.describe(),
    embedded,
    // It frees when its time has come, and is asked for nothing else.
    traits: { ...embedded.traits, freesOnDemand: false },
    endpoint: embedded.endpoint,
    runtime,
    images,
    diskPath: embedded.diskPath,
    sandboxImage: embedded.sandboxImage,
    importImage: ({ layers, ...image }) => embedded.importImage({ ...image, layers: layers.map(layerContent) }),
    restart: () => embedded.restart(),
    close: async () => {
      runtime.close();
      images.close();
      await embedded.close();
    },
  };
}

function layerContent(spec: LayerSpec): LayerContent {
  switch (spec.kind) {
    case 'busybox':
      return { seed: 'busybox', bytes: BUSYBOX_BYTES };
    case 'random':
      return { seed: spec.seed, bytes: spec.kib * 1024 };
    case 'files':
      return { seed: spec.seed, bytes: 0, files: spec.count };
  }
}
