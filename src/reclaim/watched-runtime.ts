import { RuntimeError, type RuntimePort } from '../ports/runtime.js';
import type { BackOff } from './back-off.js';

/**
 * The runtime with its removals watched: what fails is booked in `backOff`, and an image that is still there after its removal
 * succeeded counts as failed (`without-effect`), since nothing of it has been freed. Everything that removes goes through here,
 * under pressure, periodically and after an eviction alike.
 */
export function watchedRuntime(runtime: RuntimePort, backOff: BackOff): RuntimePort {
  const booked = async (id: string, removal: Promise<void>) => {
    try {
      await removal;
    } catch (error) {
      backOff.failed(id, error);
      throw error;
    }
    backOff.succeeded(id);
  };
  return {
    identify: (signal) => runtime.identify(signal),
    listContainers: (signal) => runtime.listContainers(signal),
    listSandboxes: (signal) => runtime.listSandboxes(signal),
    listImages: (signal) => runtime.listImages(signal),
    imageFsInfo: (signal) => runtime.imageFsInfo(signal),
    containerStatus: (id, signal) => runtime.containerStatus(id, signal),
    imageStatus: (reference, signal) => runtime.imageStatus(reference, signal),
    listContainerUsage: (signal) => runtime.listContainerUsage(signal),
    stopContainer: (id, grace, signal) => runtime.stopContainer(id, grace, signal),
    removeContainer: (id, signal) => booked(id, runtime.removeContainer(id, signal)),
    stopSandbox: (id, signal) => runtime.stopSandbox(id, signal),
    removeSandbox: (id, signal) => booked(id, runtime.removeSandbox(id, signal)),
    removeImage: (id, signal) => booked(id, removeForGood(runtime, id, signal)),
    freeRemoved: (signal) => runtime.freeRemoved(signal),
    events: (signal) => runtime.events(signal),
    reopenContainerLog: (id, signal) => runtime.reopenContainerLog(id, signal),
  };
}

async function removeForGood(runtime: RuntimePort, id: string, signal?: AbortSignal): Promise<void> {
  await runtime.removeImage(id, signal);
  // A question that fails proves nothing; the next list will tell.
  const left = await runtime.imageStatus(id, signal).catch(() => null);
  if (left === null) return;
  throw new RuntimeError(`the removal succeeded, and the image is still listed: ${id}`, {
    kind: 'without-effect',
    call: 'RemoveImage',
    target: id,
  });
}
