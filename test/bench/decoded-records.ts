import { InterningReader, StringTable } from '../../src/adapters/cri/interning-reader.js';
import { containerRecord, containerUsage, imageRecord, sandboxRecord } from '../../src/adapters/cri/records.js';
import {
  ContainerState,
  ListContainerStatsResponse,
  ListContainersResponse,
  ListImagesResponse,
  ListPodSandboxResponse,
  PodSandboxState,
} from '../../src/proto/generated/cri.js';
import type { Instant } from '../../src/units/units.js';
import { MADE_UNTIL, type NodeRecords } from './node-records.js';

/**
 * Maker of the lists of a node as the client of the runtime makes them: each time anew out of the bytes of the answers, by the
 * daemon's own decoder. What V8 knows of a text or an object is what it knows in the daemon.
 */
export function decoding(node: NodeRecords): () => NodeRecords {
  const strings = new StringTable();
  const containers = ListContainersResponse.encode(containersOf(node)).finish();
  const sandboxes = ListPodSandboxResponse.encode(sandboxesOf(node)).finish();
  const images = ListImagesResponse.encode(imagesOf(node)).finish();
  const usage = ListContainerStatsResponse.encode(statsOf(node)).finish();
  const read = (bytes: Uint8Array) => new InterningReader(Buffer.from(bytes), strings);
  return () => ({
    containers: ListContainersResponse.decode(read(containers)).containers.map((each) =>
      containerRecord(each, MADE_UNTIL),
    ),
    sandboxes: ListPodSandboxResponse.decode(read(sandboxes)).items.map((each) => sandboxRecord(each, MADE_UNTIL)),
    images: ListImagesResponse.decode(read(images)).images.map(imageRecord),
    usage: ListContainerStatsResponse.decode(read(usage)).stats.map(containerUsage),
  });
}

function containersOf({ containers }: NodeRecords): ListContainersResponse {
  return ListContainersResponse.fromPartial({
    containers: containers.map((each) => ({
      id: each.id,
      podSandboxId: each.sandboxId,
      metadata: { name: each.name, attempt: each.attempt },
      image: { image: each.image },
      imageRef: each.imageRef,
      imageId: each.imageId,
      state: each.state === 'running' ? ContainerState.CONTAINER_RUNNING : ContainerState.CONTAINER_EXITED,
      createdAt: nanoseconds(each.createdAt),
      labels: each.labels,
      annotations: each.annotations,
    })),
  });
}

function sandboxesOf({ sandboxes }: NodeRecords): ListPodSandboxResponse {
  return ListPodSandboxResponse.fromPartial({
    items: sandboxes.map((each) => ({
      id: each.id,
      metadata: { ...each.pod, attempt: each.attempt },
      state: each.state === 'ready' ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY,
      createdAt: nanoseconds(each.createdAt),
      labels: each.labels,
      annotations: each.annotations,
    })),
  });
}

function imagesOf({ images }: NodeRecords): ListImagesResponse {
  return ListImagesResponse.fromPartial({
    images: images.map(({ id, tags, digests, size, pinned }) => ({
      id,
      repoTags: [...tags],
      repoDigests: [...digests],
      size: BigInt(size),
      pinned,
    })),
  });
}

function statsOf({ usage }: NodeRecords): ListContainerStatsResponse {
  return ListContainerStatsResponse.fromPartial({
    stats: usage.map(({ id, writableLayer, memoryWorkingSet }) => ({
      attributes: { id },
      memory: { timestamp: nanoseconds(MADE_UNTIL), workingSetBytes: { value: BigInt(memoryWorkingSet ?? 0) } },
      writableLayer: {
        timestamp: nanoseconds(MADE_UNTIL),
        usedBytes: { value: BigInt(writableLayer?.used ?? 0) },
        inodesUsed: { value: BigInt(writableLayer?.inodes ?? 0) },
      },
    })),
  });
}

function nanoseconds(at: Instant): bigint {
  return BigInt(at) * 1_000_000n;
}
