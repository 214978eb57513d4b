import { type ContainerRecord, type ImageRecord, RuntimeError } from '../../../src/ports/runtime.js';
import { containerRecord, statusRecord } from './records.js';

/** A container that mounts images. */
export interface MountingContainer extends ContainerRecord {
  readonly imageVolumes: readonly string[];
}

/** A runtime that lists what a case set, and removes one list entry for each call. */
export class ImageRuntime {
  images: readonly ImageRecord[] = [];
  containers: readonly MountingContainer[] = [];
  failures: {
    readonly removeImageIds: readonly string[];
    readonly containerStatusIds: readonly string[];
    readonly listImages: boolean;
    readonly listContainers: boolean;
  } = { removeImageIds: [], containerStatusIds: [], listImages: false, listContainers: false };
  /** All removals asked for, in order, failed ones included. */
  readonly removals: Pick<ImageRecord, 'id' | 'runtimeHandler'>[] = [];
  readonly #isHandlerAware: boolean;

  constructor(isHandlerAware: boolean) {
    this.#isHandlerAware = isHandlerAware;
  }

  async listImages(): Promise<readonly ImageRecord[]> {
    if (this.failures.listImages) throw refusal('ListImages');
    return this.images;
  }

  async listContainers(): Promise<readonly ContainerRecord[]> {
    if (this.failures.listContainers) throw refusal('ListContainers');
    return this.containers;
  }

  async containerStatus(id: string) {
    if (this.failures.containerStatusIds.includes(id)) throw refusal('ContainerStatus');
    const container = this.containers.find((each) => each.id === id);
    return container === undefined ? null : statusRecord({ id, imageVolumes: container.imageVolumes });
  }

  async removeImage({ id, runtimeHandler }: Pick<ImageRecord, 'id' | 'runtimeHandler'>): Promise<void> {
    this.removals.push({ id, runtimeHandler });
    if (this.failures.removeImageIds.includes(id)) throw refusal('RemoveImage');
    const index = this.images.findIndex(
      (each) => each.id === id && (!this.#isHandlerAware || each.runtimeHandler === runtimeHandler),
    );
    this.images = this.images.filter((_, at) => at !== index);
  }
}

/** A container that mounts no image unless said. */
export function mountingContainer(more: Partial<MountingContainer> & { readonly id: string }): MountingContainer {
  return { imageVolumes: [], ...containerRecord(more), ...more };
}

/** A call that the runtime refuses. */
export function refusal(call: string): RuntimeError {
  return new RuntimeError(`Cannot ${call} as the case has it fail`, { kind: 'failed', call });
}
