import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Calls } from './calls.js';
import { Containers } from './containers.js';
import { ContentStore } from './content-store.js';
import { type Disks, openDisks } from './disk.js';
import { Events } from './events.js';
import { Faults } from './faults.js';
import { type Filler, fillDisk } from './fill.js';
import { Garbage } from './garbage.js';
import { imageService } from './image-service.js';
import { Images } from './images.js';
import { QUICK_IMAGE_SERVICE, QUICK_RUNTIME_SERVICE } from './list-encoding.js';
import {
  BEHAVIOURS,
  type BehaviourTraits,
  type EmbeddedImage,
  type EmbeddedPod,
  type EmbeddedRuntimeOptions,
  type StartedPod,
} from './options.js';
import { podPaths, startPod } from './pods.js';
import { preload } from './preload.js';
import { Random } from './random.js';
import { reload } from './reload.js';
import { makeRunDirectory } from './run-directory.js';
import { runtimeService } from './runtime-service.js';
import { SANDBOXES, Sandboxes } from './sandboxes.js';
import { SocketServer } from './server.js';
import type { RuntimeState } from './state.js';
import { CONTAINERS, Stats } from './stats.js';
import { Writers } from './writers.js';

/** A CRI v1 runtime in this process, on small disks of its own. */
export interface EmbeddedRuntime extends AsyncDisposable {
  /** `unix:///…` */
  readonly endpoint: string;
  readonly traits: BehaviourTraits;
  readonly sandboxImage: string;
  /** By what lies on them; the same disk may stand in several places. */
  readonly disks: Omit<Disks, 'close'>;
  /** A directory on the disk of images. */
  readonly diskPath: string;
  /** Directory of pod directories in the layout of the kubelet: `UID/volumes/kubernetes.io~empty-dir/cache`. */
  readonly podsPath: string;
  /** Directory of pod log directories: `NAMESPACE_NAME_UID/CONTAINER/ATTEMPT.log`. */
  readonly logsPath: string;
  /** What can be made to go wrong. */
  readonly faults: Faults;
  /** One sentence for people: which behaviour on which disks. */
  describe(): string;
  /** Makes an image known; resolves to its id. @throws CriError on a full disk */
  importImage(image: EmbeddedImage): Promise<string>;
  /** Plays the kubelet for one pod. @throws CriError as the calls do */
  startPod(pod: EmbeddedPod): Promise<StartedPod>;
  /** Changes what a running writer writes each second. @throws CriError for an unknown id */
  setWriteRate(containerId: string, perSecond: number): void;
  /** Fills a disk (that of images unless said) until that many bytes are left. */
  fillDisk(options?: { readonly disk?: 'image' | 'container' | 'node'; readonly leaveBytes?: number }): Promise<Filler>;
  /** Refreshes the cached statistics now. */
  sampleStats(): Promise<void>;
  /** Ends the server without warning and starts it on the same disks; processes live on. */
  restart(): Promise<void>;
  /** Ends everything, frees the disks and removes all traces. */
  close(): Promise<void>;
}

const DEFAULT_SANDBOX_IMAGE = 'embedded.test/pause:1';
/** What an asynchronous removal takes on a real runtime: 40 ms when quiet, 600 ms when busy. */
const DEFAULT_REMOVAL_DELAY = { from: 40, to: 600 };

/**
 * Starts an embedded runtime: disks, server, sandbox image.
 * @throws Error when no small disk of the kind asked for can be had, or when the socket is taken
 */
export async function startEmbeddedRuntime(options: EmbeddedRuntimeOptions = {}): Promise<EmbeddedRuntime> {
  const traits = BEHAVIOURS[options.behaviour ?? 'containerd-2'];
  const base = await makeRunDirectory(options.baseDirectory ?? tmpdir());
  const disks = await openDisks(
    base,
    options.disk?.layout ?? (traits.splitDisks ? 'split' : 'shared'),
    options.disk ?? {},
  );
  try {
    return await assemble(options, traits, disks, options.socketPath ?? join(base, 'cri.sock'));
  } catch (error) {
    await disks.close();
    throw error;
  }
}

async function assemble(
  options: EmbeddedRuntimeOptions,
  traits: BehaviourTraits,
  disks: Disks,
  socketPath: string,
): Promise<EmbeddedRuntime> {
  const state: RuntimeState = {
    traits,
    disks,
    random: new Random(options.seed ?? 1),
    now: options.now ?? Date.now,
    sandboxImage: options.sandboxImage ?? DEFAULT_SANDBOX_IMAGE,
    images: new Map(),
    sandboxes: new Map(),
    containers: new Map(),
    lost: { sandboxes: new Map(), containers: new Map() },
  };
  const delay = options.removalDelayMs ?? DEFAULT_REMOVAL_DELAY;
  // Delays have numbers of their own, so that how many removals there were does not change the ids that follow.
  const delays = new Random((options.seed ?? 1) + 1);
  const content = new ContentStore(disks.image);
  const garbage = new Garbage(state, content, () =>
    typeof delay === 'number' ? delay : delays.between(delay.from, delay.to),
  );
  const images = new Images(state, content, garbage, options.pullMs ?? 0);
  const events = new Events(state.now);
  const writers = new Writers();
  const containers = new Containers(state, garbage, events, writers, {
    stopOnFullDisk: options.stopOnFullDisk ?? 'stored',
    exitRetryMs: options.exitRetryMs ?? 1000,
  });
  const sandboxes = new Sandboxes(state, containers, garbage, events);
  const stats = new Stats(state, options.statsCollectPeriodMs ?? 10_000);
  const server: SocketServer = new SocketServer(socketPath, () => [
    {
      definition: QUICK_RUNTIME_SERVICE,
      implementation: runtimeService(calls, { state, containers, sandboxes, stats, events }),
    },
    { definition: QUICK_IMAGE_SERVICE, implementation: imageService(calls, { state, images, stats }) },
  ]);
  const faults = new Faults(server);
  const calls = new Calls(faults);

  // Made once, so that making a container makes nothing but its own: a recursive mkdir on a full ext4 hides the reason.
  for (const name of [CONTAINERS, SANDBOXES]) await mkdir(join(disks.container.path, name), { recursive: true });
  await content.prepare();
  await images.import({
    name: state.sandboxImage,
    layers: [{ seed: 'pause', bytes: 512 * 1024 }],
    command: ['/pause'],
  });
  preload(state, options.preload ?? {});
  await server.open();
  stats.start();

  let closed: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    faults.clear();
    await server.shut();
    await stats.close();
    await garbage.close();
    await containers.close();
    await writers.close();
    await disks.close();
  };
  const paths = podPaths(state);
  return {
    endpoint: `unix://${socketPath}`,
    traits,
    sandboxImage: state.sandboxImage,
    disks,
    diskPath: disks.image.path,
    podsPath: paths.pods,
    logsPath: paths.logs,
    faults,
    describe: () =>
      `${traits.runtimeName} ${traits.runtimeVersion} on ${disks.all.map((disk) => disk.describe()).join(' and ')}`,
    importImage: (image) => images.import(image),
    startPod: (pod) => startPod(state, sandboxes, containers, pod),
    setWriteRate: (containerId, perSecond) => containers.get(containerId).process?.setWriteRate(perSecond),
    fillDisk: ({ disk = 'image', leaveBytes = 0 } = {}) => fillDisk(disks[disk], leaveBytes),
    sampleStats: () => stats.sample(),
    restart: async () => {
      await server.shut();
      await reload(state);
      await stats.sample();
      await server.open();
    },
    close: () => (closed ??= close()),
    [Symbol.asyncDispose]: () => (closed ??= close()),
  };
}
