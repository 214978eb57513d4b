import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  type Container,
  ContainerConfig,
  ContainerState,
  ImageServiceService,
  NamespaceMode,
  PodSandboxConfig,
  RuntimeServiceService,
} from '../../src/proto/generated/cri.js';
import { call } from './call.js';
import type { LabContainerd } from './containerd.js';
import { waitFor } from './wait.js';

/** A pod as a kubelet would start it. */
export interface PodSpec {
  readonly name: string;
  readonly namespace?: string;
  /** Default: made from the name. */
  readonly uid?: string;
  readonly attempt?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A pod whose sandbox runs. */
export interface Pod {
  readonly sandboxId: string;
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly config: PodSandboxConfig;
}

/** A container as a kubelet would create it. */
export interface ContainerSpec {
  readonly name: string;
  readonly image: string;
  /** Default: the image's own. */
  readonly command?: readonly string[];
  readonly attempt?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Directories of the host, made if they are not there. */
  readonly mounts?: readonly { readonly hostPath: string; readonly containerPath: string }[];
}

/** Host network and a cgroup parent of our own, since there is no network plugin; a host name would want a namespace of its own. */
const HOST_NETWORK = { network: NamespaceMode.NODE, pid: NamespaceMode.CONTAINER, ipc: NamespaceMode.NODE };

/** Runs the sandbox, with the kubelet's labels, annotations, log directory and pod directory. */
export async function runPod(lab: LabContainerd, spec: PodSpec): Promise<Pod> {
  const namespace = spec.namespace ?? 'default';
  const uid = spec.uid ?? `uid-${spec.name}`;
  const logDirectory = join(lab.paths.podLogs, `${namespace}_${spec.name}_${uid}`);
  mkdirSync(lab.outside(logDirectory), { recursive: true });
  mkdirSync(lab.outside(join(lab.paths.kubeletRoot, 'pods', uid)), { recursive: true });
  const config = PodSandboxConfig.fromPartial({
    metadata: { name: spec.name, uid, namespace, attempt: spec.attempt ?? 0 },
    logDirectory,
    labels: { ...podLabels({ name: spec.name, namespace, uid }), ...spec.labels },
    annotations: { 'kubernetes.io/config.source': 'api', ...spec.annotations },
    linux: {
      cgroupParent: `/reclaimd-test-${basename(lab.paths.work)}`,
      securityContext: { namespaceOptions: HOST_NETWORK },
    },
  });
  const { podSandboxId } = await call(lab.runtime, RuntimeServiceService.runPodSandbox, { config, runtimeHandler: '' });
  return { sandboxId: podSandboxId, uid, name: spec.name, namespace, config };
}

/** Creates a container and resolves to its id. */
export async function createContainer(lab: LabContainerd, pod: Pod, spec: ContainerSpec): Promise<string> {
  const attempt = spec.attempt ?? 0;
  mkdirSync(lab.outside(join(pod.config.logDirectory, spec.name)), { recursive: true });
  const mounts = spec.mounts ?? [];
  for (const { hostPath } of mounts) mkdirSync(lab.outside(hostPath), { recursive: true });
  const config = ContainerConfig.fromPartial({
    metadata: { name: spec.name, attempt },
    mounts: mounts.map((mount) => ({ ...mount })),
    image: { image: spec.image },
    command: [...(spec.command ?? [])],
    logPath: `${spec.name}/${attempt}.log`,
    labels: { ...podLabels(pod), 'io.kubernetes.container.name': spec.name, ...spec.labels },
    annotations: {
      'io.kubernetes.container.restartCount': String(attempt),
      // Short, so that a victim that ignores SIGTERM is gone soon.
      'io.kubernetes.pod.terminationGracePeriod': '1',
      ...spec.annotations,
    },
    linux: { securityContext: { namespaceOptions: HOST_NETWORK } },
  });
  const request = { podSandboxId: pod.sandboxId, config, sandboxConfig: pod.config };
  const { containerId } = await call(lab.runtime, RuntimeServiceService.createContainer, request);
  return containerId;
}

/** Starts a created container. */
export async function startContainer(lab: LabContainerd, containerId: string): Promise<void> {
  await call(lab.runtime, RuntimeServiceService.startContainer, { containerId });
}

/** Creates and starts a container; resolves to its id. */
export async function runContainer(lab: LabContainerd, pod: Pod, spec: ContainerSpec): Promise<string> {
  const id = await createContainer(lab, pod, spec);
  await startContainer(lab, id);
  return id;
}

/** Runs a container until it has ended by itself; resolves to its id. */
export async function runToEnd(lab: LabContainerd, pod: Pod, spec: ContainerSpec): Promise<string> {
  const id = await runContainer(lab, pod, spec);
  await waitFor(`container ${spec.name} end`, 30_000, async () => {
    const state = (await listContainers(lab)).find((container) => container.id === id)?.state;
    return state === ContainerState.CONTAINER_EXITED || undefined;
  });
  return id;
}

/** Command that writes `kib` of random bytes into the writable layer and, unless told to stay, ends. */
export function writerCommand(kib: number, after: 'ends' | 'stays' = 'ends'): readonly string[] {
  const write = `dd if=/dev/urandom of=/data/written bs=1024 count=${kib} 2>/dev/null && sync`;
  return ['/bin/sh', '-c', after === 'ends' ? write : `${write}; exec sleep 100000000`];
}

/** Command that makes `count` small files in the writable layer and, unless told to stay, ends. */
export function fileMakerCommand(count: number, after: 'ends' | 'stays' = 'ends'): readonly string[] {
  const make = `i=0; while [ $i -lt ${count} ]; do : > /data/$i; i=$((i+1)); done`;
  return ['/bin/sh', '-c', after === 'ends' ? make : `${make}; exec sleep 100000000`];
}

/** All containers, ordered by id: the runtime's own order changes from call to call. */
export async function listContainers(lab: LabContainerd): Promise<readonly Container[]> {
  const { containers } = await call(lab.runtime, RuntimeServiceService.listContainers, { filter: undefined });
  return containers.sort((a, b) => a.id.localeCompare(b.id));
}

/** Tags of all images, ordered. */
export async function listImageTags(lab: LabContainerd): Promise<readonly string[]> {
  const { images } = await call(lab.images, ImageServiceService.listImages, { filter: undefined });
  return images.flatMap(({ repoTags }) => repoTags).sort();
}

function podLabels({ name, namespace, uid }: Pick<Pod, 'name' | 'namespace' | 'uid'>): Record<string, string> {
  return { 'io.kubernetes.pod.name': name, 'io.kubernetes.pod.namespace': namespace, 'io.kubernetes.pod.uid': uid };
}
