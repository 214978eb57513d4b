import { ContainerConfig, ContainerState, PodSandboxConfig, PodSandboxState } from '../proto/generated/cri.js';
import { type ContainerRecord, nanoseconds } from './records.js';
import type { RuntimeState } from './state.js';
import { latch } from './waiting.js';

/** Fabricated containers of one fabricated pod. */
const CONTAINERS_PER_POD = 4;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Adds entries that have no bytes on the disk: images, and containers of which one in four runs and the others are
 * dead, spread over the last day. For benchmarks of long lists; they can be removed like any other.
 */
export function preload(state: RuntimeState, counts: { readonly containers?: number; readonly images?: number }): void {
  const imageIds: string[] = [];
  for (let number = 0; number < (counts.images ?? 0); number += 1) {
    const id = `sha256:${state.random.id()}`;
    imageIds.push(id);
    const size = Math.floor(state.random.between(1, 500)) * 1024 * 1024;
    state.images.set(id, { id, layers: [], size, command: [], tags: [`preload.test/image-${number}:1`] });
  }
  const now = state.now();
  let sandboxId = '';
  for (let number = 0; number < (counts.containers ?? 0); number += 1) {
    const pod = Math.floor(number / CONTAINERS_PER_POD);
    const attempt = number % CONTAINERS_PER_POD;
    if (attempt === 0) sandboxId = addSandbox(state, pod, now);
    const imageId = imageIds[number % Math.max(1, imageIds.length)] ?? `sha256:${'0'.repeat(64)}`;
    const container = fabricated(state, {
      sandboxId,
      pod,
      attempt,
      imageId,
      createdMs: now - state.random.between(0, DAY_MS),
    });
    state.containers.set(container.id, container);
  }
}

function addSandbox(state: RuntimeState, pod: number, now: number): string {
  const id = state.random.id();
  state.sandboxes.set(id, {
    id,
    config: PodSandboxConfig.fromPartial({
      metadata: { name: `pod-${pod}`, namespace: 'preload', uid: `preload-${pod}` },
      labels: labelsOf(pod),
    }),
    runtimeHandler: '',
    createdAt: nanoseconds(now - DAY_MS),
    state: PodSandboxState.SANDBOX_READY,
    directory: null,
  });
  return id;
}

interface Fabricated {
  readonly sandboxId: string;
  readonly pod: number;
  readonly attempt: number;
  readonly imageId: string;
  readonly createdMs: number;
}

function fabricated(state: RuntimeState, { sandboxId, pod, attempt, imageId, createdMs }: Fabricated): ContainerRecord {
  const running = attempt === CONTAINERS_PER_POD - 1;
  const endTried = latch();
  const ended = latch();
  if (!running) {
    endTried.open();
    ended.open();
  }
  return {
    id: state.random.id(),
    sandboxId,
    config: ContainerConfig.fromPartial({
      metadata: { name: 'main', attempt },
      image: { image: imageId },
      labels: { ...labelsOf(pod), 'io.kubernetes.container.name': 'main' },
      annotations: annotationsOf(pod, attempt),
      logPath: `main/${attempt}.log`,
    }),
    imageId,
    layers: [],
    command: [],
    volumeLayers: [],
    createdAt: nanoseconds(createdMs),
    directory: null,
    logPath: '',
    state: running ? ContainerState.CONTAINER_RUNNING : ContainerState.CONTAINER_EXITED,
    startedAt: nanoseconds(createdMs),
    finishedAt: running ? 0n : nanoseconds(createdMs + 1000),
    exitCode: 0,
    process: null,
    endTried,
    ended,
    endUnstored: false,
    stopGaveUp: false,
    removing: false,
    sample: { timestamp: nanoseconds(createdMs), bytes: 4096n, inodes: 1n },
  };
}

/** Those that a kubelet gives each container: with them a list weighs what it weighs on a node. */
function annotationsOf(pod: number, attempt: number): Record<string, string> {
  return {
    'io.kubernetes.container.hash': pod.toString(16).padStart(8, '0'),
    'io.kubernetes.container.ports': '[{"name":"http","containerPort":8080,"protocol":"TCP"}]',
    'io.kubernetes.container.restartCount': `${attempt}`,
    'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
    'io.kubernetes.container.terminationMessagePolicy': 'File',
    'io.kubernetes.pod.terminationGracePeriod': '30',
  };
}

function labelsOf(pod: number): Record<string, string> {
  return {
    'io.kubernetes.pod.name': `pod-${pod}`,
    'io.kubernetes.pod.namespace': 'preload',
    'io.kubernetes.pod.uid': `preload-${pod}`,
  };
}
