import type { ContainerProcesses, ContainerProcessesPort } from '../../src/ports/container-processes.js';
import type { FakeRuntime } from './fake-runtime.js';

/** Processes of the containers that run in the world and are not dead in secret. */
export class FakeProcesses implements Pick<ContainerProcessesPort, 'look'> {
  /** A daemon that sees other processes than the runtime has. */
  isBlind = false;

  constructor(readonly runtime: FakeRuntime) {}

  async look(ids: readonly string[]): Promise<ReadonlyMap<string, ContainerProcesses>> {
    const { world, unrecorded } = this.runtime;
    const seen = ids.filter((id) => world.containers.get(id)?.state === 'running' && !unrecorded.has(id));
    const nothing = { layerDirectory: null, deletedOpen: new Map(), isComplete: true };
    return new Map(this.isBlind ? [] : seen.map((id) => [id, nothing]));
  }
}
