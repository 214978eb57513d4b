import type { Warning } from '../eviction/warning.js';
import { RuntimeError, type RuntimePort } from '../ports/runtime.js';
import type { Notices } from './notices.js';
import { messageOf } from './removal.js';
import { TIME_IS_UP } from './time-limit.js';

/** CRI's names of the calls of the port. */
const CRI_NAMES = {
  identify: 'Version',
  listContainers: 'ListContainers',
  listSandboxes: 'ListPodSandbox',
  listImages: 'ListImages',
  imageFsInfo: 'ImageFsInfo',
  containerStatus: 'ContainerStatus',
  imageStatus: 'ImageStatus',
  listContainerUsage: 'ListContainerStats',
  stopContainer: 'StopContainer',
  removeContainer: 'RemoveContainer',
  stopSandbox: 'StopPodSandbox',
  removeSandbox: 'RemovePodSandbox',
  removeImage: 'RemoveImage',
  freeRemoved: 'freeing what was removed',
  reopenContainerLog: 'ReopenContainerLog',
} as const satisfies Record<Exclude<keyof RuntimePort, 'events'>, string>;

/** The calls that ran into a deadline, that of the client or a shorter one of ours, until they are told. */
export class RuntimeDeadlines {
  readonly #notices: Notices;
  #news: Warning[] = [];

  constructor(notices: Notices) {
    this.#notices = notices;
  }

  /** The runtime with its answers watched. */
  watch(runtime: RuntimePort): RuntimePort {
    const watched = <Answer>(call: keyof typeof CRI_NAMES, signal: AbortSignal | undefined, answer: Promise<Answer>) =>
      this.#watched(CRI_NAMES[call], signal, answer);
    return {
      identify: (signal) => watched('identify', signal, runtime.identify(signal)),
      listContainers: (signal) => watched('listContainers', signal, runtime.listContainers(signal)),
      listSandboxes: (signal) => watched('listSandboxes', signal, runtime.listSandboxes(signal)),
      listImages: (signal) => watched('listImages', signal, runtime.listImages(signal)),
      imageFsInfo: (signal) => watched('imageFsInfo', signal, runtime.imageFsInfo(signal)),
      containerStatus: (id, signal) => watched('containerStatus', signal, runtime.containerStatus(id, signal)),
      imageStatus: (reference, signal) => watched('imageStatus', signal, runtime.imageStatus(reference, signal)),
      listContainerUsage: (signal) => watched('listContainerUsage', signal, runtime.listContainerUsage(signal)),
      stopContainer: (id, grace, signal) => watched('stopContainer', signal, runtime.stopContainer(id, grace, signal)),
      removeContainer: (id, signal) => watched('removeContainer', signal, runtime.removeContainer(id, signal)),
      stopSandbox: (id, signal) => watched('stopSandbox', signal, runtime.stopSandbox(id, signal)),
      removeSandbox: (id, signal) => watched('removeSandbox', signal, runtime.removeSandbox(id, signal)),
      removeImage: (id, signal) => watched('removeImage', signal, runtime.removeImage(id, signal)),
      freeRemoved: (signal) => watched('freeRemoved', signal, runtime.freeRemoved(signal)),
      reopenContainerLog: (id, signal) => watched('reopenContainerLog', signal, runtime.reopenContainerLog(id, signal)),
      events: (signal) => runtime.events(signal),
    };
  }

  /** What is to be said since last asked: each call once, until it answers again. */
  take(): readonly Warning[] {
    const news = this.#news;
    this.#news = [];
    return news;
  }

  async #watched<Answer>(call: string, signal: AbortSignal | undefined, answer: Promise<Answer>): Promise<Answer> {
    const key = `RUNTIME_TIMEOUT ${call}`;
    try {
      const given = await answer;
      this.#notices.ends(key);
      return given;
    } catch (error) {
      if (isLate(error, signal) && this.#notices.begins(key)) {
        this.#news.push({ code: 'RUNTIME_TIMEOUT', call, message: messageOf(error) });
      }
      throw error;
    }
  }
}

function isLate(error: unknown, signal: AbortSignal | undefined): boolean {
  if (!(error instanceof RuntimeError)) return false;
  return error.kind === 'deadline' || (error.kind === 'cancelled' && signal?.reason === TIME_IS_UP);
}
