import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ContainerConfig, PodSandboxConfig } from '../proto/generated/cri.js';
import type { Containers } from './containers.js';
import { ANNOTATIONS, type EmbeddedContainer, type EmbeddedPod, type StartedPod } from './options.js';
import type { Sandboxes } from './sandboxes.js';
import type { RuntimeState } from './state.js';

/** Where the emptyDir of a pod appears in its containers. */
const EMPTY_DIR_IN_CONTAINER = '/cache';

/** Where the files of pods lie on the node's disk, in the layout of the kubelet. */
export function podPaths(state: RuntimeState): { readonly pods: string; readonly logs: string } {
  return { pods: join(state.disks.node.path, 'kubelet', 'pods'), logs: join(state.disks.node.path, 'logs') };
}

/** Plays the kubelet for one pod: sandbox, emptyDir, log directory, containers. @throws CriError as the calls do */
export async function startPod(
  state: RuntimeState,
  sandboxes: Sandboxes,
  containers: Containers,
  pod: EmbeddedPod,
): Promise<StartedPod> {
  const namespace = pod.namespace ?? 'default';
  const uid = pod.uid ?? uuidOf(state.random.id());
  const paths = podPaths(state);
  const emptyDir = join(paths.pods, uid, 'volumes', 'kubernetes.io~empty-dir', 'cache');
  const logDirectory = join(paths.logs, `${namespace}_${pod.name}_${uid}`);
  await mkdir(emptyDir, { recursive: true });
  await mkdir(logDirectory, { recursive: true });
  const labels = {
    ...pod.labels,
    'io.kubernetes.pod.name': pod.name,
    'io.kubernetes.pod.namespace': namespace,
    'io.kubernetes.pod.uid': uid,
  };
  const sandboxConfig = PodSandboxConfig.fromPartial({
    metadata: { name: pod.name, namespace, uid, attempt: 0 },
    logDirectory,
    labels,
    annotations: { ...pod.annotations },
  });
  const sandboxId = await sandboxes.run({ config: sandboxConfig, runtimeHandler: '' });
  const containerIds: Record<string, string> = {};
  const containerConfigs: ContainerConfig[] = [];
  for (const container of pod.containers) {
    const config = containerConfig(container, labels, emptyDir);
    const id = await containers.create({ podSandboxId: sandboxId, config, sandboxConfig });
    if (container.start !== false) await containers.start(id);
    containerIds[container.name] = id;
    containerConfigs.push(config);
  }
  return {
    sandboxId,
    uid,
    name: pod.name,
    namespace,
    containerIds,
    emptyDir,
    logDirectory,
    sandboxConfig,
    containerConfigs,
  };
}

function containerConfig(
  container: EmbeddedContainer,
  labels: Record<string, string>,
  emptyDir: string,
): ContainerConfig {
  const attempt = container.attempt ?? 0;
  const wishes = {
    [ANNOTATIONS.writeBytesPerSecond]: container.writeBytesPerSecond,
    [ANNOTATIONS.writeFilesPerSecond]: container.writeFilesPerSecond,
    [ANNOTATIONS.writeLimitBytes]: container.writeLimitBytes,
    [ANNOTATIONS.writeTo]: container.writeTo,
    [ANNOTATIONS.onTerm]: container.onTerm,
  };
  const asked = Object.entries(wishes).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, `${value}`] as const],
  );
  return ContainerConfig.fromPartial({
    metadata: { name: container.name, attempt },
    image: { image: container.image },
    command: [...(container.command ?? [])],
    mounts: [{ containerPath: EMPTY_DIR_IN_CONTAINER, hostPath: emptyDir }],
    labels: { ...labels, 'io.kubernetes.container.name': container.name },
    annotations: {
      'io.kubernetes.container.restartCount': `${attempt}`,
      ...Object.fromEntries(asked),
      ...container.annotations,
    },
    logPath: join(container.name, `${attempt}.log`),
  });
}

function uuidOf(id: string): string {
  return [id.slice(0, 8), id.slice(8, 12), id.slice(12, 16), id.slice(16, 20), id.slice(20, 32)].join('-');
}
