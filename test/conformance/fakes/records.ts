import type { ContainerRecord, ContainerStatusRecord, ImageRecord } from '../../../src/ports/runtime.js';
import { bytes, instant } from '../../../src/units/units.js';

/** A container with nothing to say of itself. */
export function containerRecord(more: Partial<ContainerRecord> & { readonly id: string }): ContainerRecord {
  return {
    sandboxId: '',
    name: '',
    attempt: 0,
    state: 'running',
    createdAt: instant(0),
    imageId: '',
    imageRef: '',
    image: '',
    runtimeHandler: '',
    pod: null,
    labels: {},
    annotations: {},
    ...more,
  };
}

/** The status of a container with nothing to say of itself. */
export function statusRecord(more: Partial<ContainerStatusRecord> & { readonly id: string }): ContainerStatusRecord {
  return {
    state: 'running',
    logPath: '',
    exitCode: 0,
    reason: '',
    startedAt: null,
    finishedAt: null,
    imageVolumes: [],
    annotations: {},
    ...more,
  };
}

/** An image with nothing to say of itself. */
export function imageRecord(more: Partial<ImageRecord> & { readonly id: string }): ImageRecord {
  return { tags: [], digests: [], size: bytes(0), pinned: false, runtimeHandler: '', ...more };
}
