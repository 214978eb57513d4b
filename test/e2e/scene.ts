import { join } from 'node:path';
import {
  ContainerState,
  ImageServiceService,
  PodSandboxState,
  RuntimeServiceService,
} from '../../src/proto/generated/cri.js';
import { call } from '../lab/call.js';
import type { LabContainerd } from '../lab/containerd.js';
import { availableBytes, fillDisk } from '../lab/disk.js';
import { listContainers, type Pod, runContainer, runPod, runToEnd, writerCommand } from '../lab/pods.js';
import { waitFor } from '../lab/wait.js';

export const MIB = 1 << 20;

/** The image that the pods of every scene run. */
export const APP = { name: 'local.test/app:1', layers: [{ kind: 'busybox' }] } as const;

/** A node at work, with things on its disk that nobody needs any more. */
export interface Scene {
  /** Must all still run at the end. */
  readonly running: readonly string[];
  readonly dead: readonly string[];
  readonly unusedImages: readonly string[];
  readonly pods: readonly Pod[];
}

/**
 * Two pods at work, a dead container of 24 MiB in one of them, a finished pod with one of 8 MiB, and two unused images of
 * about 48 MiB on the disk in all; 2 MiB of what is in use are shared with them.
 */
export async function nodeWithGarbage(lab: LabContainerd): Promise<Scene> {
  await lab.importImage(APP);
  const unusedImages = ['local.test/old-a:1', 'local.test/old-b:1'];
  for (const name of unusedImages) {
    await lab.importImage({ name, layers: [...APP.layers, { kind: 'random', kib: 12 * 1024, seed: name }] });
  }
  const web = await runPod(lab, { name: 'web' });
  const api = await runPod(lab, { name: 'api' });
  const batch = await runPod(lab, { name: 'batch' });
  const running = [
    await runContainer(lab, web, { name: 'server', image: APP.name }),
    await runContainer(lab, api, { name: 'server', image: APP.name }),
  ];
  const dead = [
    await runToEnd(lab, web, { name: 'migrate', image: APP.name, command: writerCommand(24 * 1024) }),
    await runToEnd(lab, batch, { name: 'job', image: APP.name, command: writerCommand(8 * 1024) }),
  ];
  await call(lab.runtime, RuntimeServiceService.stopPodSandbox, { podSandboxId: batch.sandboxId });
  return { running, dead, unusedImages, pods: [web, api] };
}

/** Three pods that have written 48, 16 and 4 MiB and run on; nothing that could be collected. */
export async function nodeWithWritersOnly(
  lab: LabContainerd,
): Promise<{ readonly largest: string; readonly others: readonly string[] }> {
  await lab.importImage(APP);
  const writer = async (name: string, mib: number): Promise<string> => {
    const pod = await runPod(lab, { name });
    return runContainer(lab, pod, { name: 'writer', image: APP.name, command: writerCommand(mib * 1024, 'stays') });
  };
  const largest = await writer('large', 48);
  const others = [await writer('medium', 16), await writer('small', 4)];
  for (const [id, mib] of [
    [largest, 48],
    [others[0], 16],
    [others[1], 4],
  ] as const) {
    await usageOf(lab, id ?? '', mib * MIB);
  }
  return { largest, others };
}

/** Something that is nobody's garbage takes the rest of the disk, but for so many bytes (0 = to the last one). */
export function pressTo(lab: LabContainerd, leaveBytes: number): void {
  fillDisk(lab.outside(join(lab.paths.disk, 'filler')), leaveBytes);
}

/** Bytes available on the lab's disk. */
export function available(lab: LabContainerd): number {
  return availableBytes(lab.diskPath);
}

/** What must still be true of the running containers: those that are not RUNNING any more. */
export async function noLongerRunning(lab: LabContainerd, ids: readonly string[]): Promise<readonly string[]> {
  const containers = await listContainers(lab);
  const running = new Set(
    containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING).map(({ id }) => id),
  );
  return ids.filter((id) => !running.has(id));
}

/** Sandboxes of the pods that are not READY any more. */
export async function noLongerReady(lab: LabContainerd, pods: readonly Pod[]): Promise<readonly string[]> {
  const { items } = await call(lab.runtime, RuntimeServiceService.listPodSandbox, { filter: undefined });
  const ready = new Set(items.filter(({ state }) => state === PodSandboxState.SANDBOX_READY).map(({ id }) => id));
  return pods.filter(({ sandboxId }) => !ready.has(sandboxId)).map(({ name }) => name);
}

/** Everything that the runtime lists, in an order that does not change by itself. */
export async function inventory(lab: LabContainerd): Promise<readonly string[]> {
  const { items } = await call(lab.runtime, RuntimeServiceService.listPodSandbox, { filter: undefined });
  const { images } = await call(lab.images, ImageServiceService.listImages, { filter: undefined });
  return [
    ...items.map(({ id, state }) => `sandbox ${id} ${state}`),
    ...(await listContainers(lab)).map(({ id, state }) => `container ${id} ${state}`),
    ...images.map(({ id, repoTags }) => `image ${id} ${repoTags.join()}`),
  ].sort();
}

/** Waits until the runtime counts a writable layer in full: it looks at them from time to time. */
async function usageOf(lab: LabContainerd, containerId: string, bytes: number): Promise<void> {
  await waitFor(`the runtime count ${bytes} bytes of ${containerId}`, 30_000, async () => {
    const { stats } = await call(lab.runtime, RuntimeServiceService.containerStats, { containerId });
    return (stats?.writableLayer?.usedBytes?.value ?? 0n) >= BigInt(bytes) || undefined;
  });
}
