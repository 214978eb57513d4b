import type { PodRecord, PodsPort } from '../../src/ports/pods.js';
import type { ContainerRecord, SandboxRecord } from '../../src/ports/runtime.js';
import { bytes, milliseconds } from '../../src/units/units.js';
import type { FakePod, FakeWorld } from './fake-world.js';

/** The pods that the world knows; a pod that is not in it is gone, whatever the runtime still holds of it. */
export class FakePods implements PodsPort {
  /** Set to make the listing fail. */
  failure: Error | null = null;

  constructor(readonly world: FakeWorld) {}

  async list(
    containers: readonly ContainerRecord[],
    sandboxes: readonly SandboxRecord[],
  ): Promise<readonly PodRecord[]> {
    if (this.failure !== null) throw this.failure;
    return [...this.world.pods.values()].map((pod) =>
      recordOf(
        pod,
        containers.filter((each) => each.pod?.uid === pod.uid),
        sandboxes.filter((each) => each.pod.uid === pod.uid),
      ),
    );
  }
}

function recordOf(
  pod: FakePod,
  containers: readonly ContainerRecord[],
  sandboxes: readonly SandboxRecord[],
): PodRecord {
  return {
    ...pod,
    storageRequest: pod.storageRequest === null ? null : bytes(pod.storageRequest),
    memoryRequest: null,
    terminationGrace: pod.terminationGrace === null ? null : milliseconds(pod.terminationGrace),
    isFinished:
      containers.every((each) => each.state === 'exited') && sandboxes.every((each) => each.state === 'notready'),
    containers,
    sandboxes,
    annotations: {},
    labels: {},
  };
}
