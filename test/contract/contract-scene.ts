import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceError } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import type { ExecutionContext } from 'ava';
import {
  type Container,
  ContainerConfig,
  ContainerState,
  type ContainerStatus,
  ImageServiceService,
  type Mount,
  NamespaceMode,
  PodSandboxConfig,
  RuntimeServiceService,
} from '../../src/proto/generated/cri.js';
import { call } from '../lab/call.js';
import { availableBytes } from '../lab/disk.js';
import { waitFor } from '../lab/wait.js';
import type { LayerSpec, RuntimeUnderTest } from './runtime-under-test.js';

/** Within that time the space of a removed container is back: 1.6 s were the most that was ever measured. */
export const SPACE_BACK_MS = 2_000;
/** What may move on a disk besides what a test does there: records of the runtime and of the filesystem. */
export const SLACK = 1 << 20;
export const MIB = 1 << 20;

/** Ends well soon after SIGTERM. */
export const POLITE = "trap 'exit 0' TERM; while true; do sleep 1; done";
/** Ignores SIGTERM. */
export const STUBBORN = "trap '' TERM; while true; do sleep 1; done";

/** A layer of which no other test has an equal one. */
export function layer(seed: string, mebibytes: number): LayerSpec {
  return { kind: 'random', kib: mebibytes * 1024, seed };
}

/** Writes so many mebibytes into the writable layer, then does what is said. */
export function writing(mebibytes: number, then: string): string {
  return `dd if=/dev/urandom of=/data/written bs=1024 count=${mebibytes * 1024} 2>/dev/null && sync; ${then}`;
}

/** A pod whose sandbox runs. */
export interface ScenePod {
  readonly sandboxId: string;
  readonly config: PodSandboxConfig;
}

/** Wishes for a container. */
export interface SceneContainer {
  readonly script: string;
  readonly image?: string;
  readonly mounts?: readonly Mount[];
  readonly start?: boolean;
}

/** What the tests do with a runtime; whatever a test made goes when it ends. */
export class Scene {
  readonly #t: ExecutionContext;
  readonly under: RuntimeUnderTest;
  #containers = 0;

  constructor(t: ExecutionContext, under: RuntimeUnderTest) {
    this.#t = t;
    this.under = under;
  }

  get available(): number {
    return availableBytes(this.under.diskPath);
  }

  /** An image with a shell, and further layers. Resolves to its id. */
  async image(
    name: string,
    layers: readonly LayerSpec[] = [],
    labels: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const id = await this.under.importImage({ name, layers: [{ kind: 'busybox' }, ...layers], labels });
    this.#t.teardown(() => this.removeImage(name));
    return id;
  }

  async removeImage(image: string): Promise<void> {
    await call(this.under.images, ImageServiceService.removeImage, { image: imageSpec(image) });
  }

  async pod(
    name: string,
    labels: Readonly<Record<string, string>> = {},
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<ScenePod> {
    const logDirectory = mkdtempSync(join(tmpdir(), 'reclaimd-contract-'));
    this.#t.teardown(() => rmSync(logDirectory, { recursive: true }));
    const config = PodSandboxConfig.fromPartial({
      metadata: { name, uid: `uid-${name}`, namespace: 'contract', attempt: 0 },
      logDirectory,
      labels: { 'io.kubernetes.pod.name': name, ...labels },
      annotations: { ...annotations },
      // A lab has no network plugin, so pods use the network of their host.
      linux: {
        cgroupParent: '/reclaimd-contract',
        securityContext: {
          namespaceOptions: { network: NamespaceMode.NODE, pid: NamespaceMode.CONTAINER, ipc: NamespaceMode.NODE },
        },
      },
    });
    const { podSandboxId } = await call(this.under.runtime, RuntimeServiceService.runPodSandbox, {
      config,
      runtimeHandler: '',
    });
    // Removing alone is enough, and unlike stopping it is fine everywhere when the test has done it already.
    this.#t.teardown(() => call(this.under.runtime, RuntimeServiceService.removePodSandbox, { podSandboxId }));
    return { sandboxId: podSandboxId, config };
  }

  async removePod(podSandboxId: string): Promise<void> {
    await call(this.under.runtime, RuntimeServiceService.stopPodSandbox, { podSandboxId });
    await call(this.under.runtime, RuntimeServiceService.removePodSandbox, { podSandboxId });
  }

  /** Creates a container and, unless told not to, starts it. Resolves to its id. */
  async container(pod: ScenePod, { script, image = APP, mounts = [], start = true }: SceneContainer): Promise<string> {
    this.#containers += 1;
    const name = `c${this.#containers}`;
    mkdirSync(join(pod.config.logDirectory, name));
    const config = ContainerConfig.fromPartial({
      metadata: { name, attempt: 0 },
      image: imageSpec(image),
      command: ['/bin/sh', '-c', script],
      mounts: [...mounts],
      labels: { 'io.kubernetes.container.name': name },
      annotations: { 'contract/script': script },
      logPath: `${name}/0.log`,
      linux: {
        securityContext: {
          namespaceOptions: { network: NamespaceMode.NODE, pid: NamespaceMode.CONTAINER, ipc: NamespaceMode.NODE },
        },
      },
    });
    const request = { podSandboxId: pod.sandboxId, config, sandboxConfig: pod.config };
    const { containerId } = await call(this.under.runtime, RuntimeServiceService.createContainer, request);
    if (start) await call(this.under.runtime, RuntimeServiceService.startContainer, { containerId });
    return containerId;
  }

  async deadContainer(pod: ScenePod, wishes: SceneContainer): Promise<string> {
    const id = await this.container(pod, wishes);
    await this.untilState(id, ContainerState.CONTAINER_EXITED);
    const { exitCode } = await this.status(id);
    // What a shell says of a command that it does not know: the test would then be about nothing.
    if (exitCode === 127) throw new Error(`Cannot use the container as its shell lacks a command of: ${wishes.script}`);
    return id;
  }

  async containers(): Promise<readonly Container[]> {
    const { containers } = await call(this.under.runtime, RuntimeServiceService.listContainers, { filter: undefined });
    return containers;
  }

  /** What lists say of one container; undefined when they do not name it. */
  async listed(id: string): Promise<Container | undefined> {
    return (await this.containers()).find((container) => container.id === id);
  }

  async status(containerId: string): Promise<ContainerStatus> {
    const { status: found } = await call(this.under.runtime, RuntimeServiceService.containerStatus, {
      containerId,
      verbose: false,
    });
    if (found === undefined) throw new Error(`Cannot read the status as the answer has none: ${containerId}`);
    return found;
  }

  async stop(containerId: string, graceSeconds: number, deadlineMs = 30_000): Promise<void> {
    await call(
      this.under.runtime,
      RuntimeServiceService.stopContainer,
      { containerId, timeout: BigInt(graceSeconds) },
      deadlineMs,
    );
  }

  async removeContainer(containerId: string): Promise<void> {
    await call(this.under.runtime, RuntimeServiceService.removeContainer, { containerId });
  }

  async untilState(id: string, state: ContainerState): Promise<void> {
    await waitFor(
      `container ${id} in state ${state}`,
      15_000,
      async () => (await this.status(id)).state === state || undefined,
    );
  }

  /** Waits until so much is available, on the disk of images unless said. */
  async untilAvailable(bytes: number, path = this.under.diskPath): Promise<void> {
    await waitFor(
      `${bytes} bytes available`,
      SPACE_BACK_MS,
      () => availableBytes(path) >= bytes || undefined,
      () => `${availableBytes(path)} are`,
    );
  }

  /** A directory on the disk of writable layers, which is that of images unless the disks are split. */
  async layersPath(): Promise<string> {
    if (!this.under.traits.splitDisks) return this.under.diskPath;
    const { containerFilesystems } = await call(this.under.images, ImageServiceService.imageFsInfo, {});
    return this.fromHere(containerFilesystems[0]?.fsId?.mountpoint ?? '');
  }

  /** A path that the runtime names, as it is reached from here: a runtime in a namespace of its own sees other paths. */
  fromHere(path: string): string {
    const root = /^\/proc\/\d+\/root(?=\/)/.exec(this.under.diskPath)?.[0] ?? '';
    return root !== '' && path.startsWith(`${root}/`) ? path : `${root}${path}`;
  }
}

/** The image that containers of the tests run when nothing is said. */
export const APP = 'contract.test/app:1';

export function imageSpec(image: string): {
  image: string;
  annotations: Record<string, string>;
  userSpecifiedImage: string;
  runtimeHandler: string;
  imageRef: string;
} {
  return { image, annotations: {}, userSpecifiedImage: '', runtimeHandler: '', imageRef: '' };
}

/** The gRPC status that a call came to, OK among them. */
export async function outcomeOf(work: Promise<unknown>): Promise<{ readonly code: status; readonly details: string }> {
  try {
    await work;
    return { code: status.OK, details: '' };
  } catch (error) {
    // Calls of grpc-js reject with nothing else; anything without a code fails the comparison that follows.
    return error as ServiceError;
  }
}
