import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { connectRuntime } from '../../src/adapters/cri/client.js';
import {
  ContainerState,
  ImageServiceService,
  PodSandboxState,
  RuntimeServiceService,
} from '../../src/proto/generated/cri.js';
import { instant } from '../../src/units/units.js';
import { call } from '../lab/call.js';
import { availableBytes } from '../lab/disk.js';
import { waitFor } from '../lab/wait.js';
import { imageSpec, MIB, outcomeOf, POLITE, SLACK, STUBBORN, writing } from './contract-scene.js';
import type { Contract } from './cri-contract.js';

/** How pods and containers live, stop and go. */
export const CONTAINER_CONTRACT: Contract = {
  'a pod runs, stops and goes, and its names, labels and annotations come back as they were given': async (
    t,
    scene,
  ) => {
    const { runtime } = scene.under;
    const pod = await scene.pod('life', { tier: 'web' }, { note: 'free text, ünïcode' });
    const id = await scene.container(pod, { script: POLITE });
    const listed = await call(runtime, RuntimeServiceService.listPodSandbox, { filter: undefined });
    const own = listed.items.find((item) => item.id === pod.sandboxId);
    t.deepEqual(own?.metadata, pod.config.metadata);
    t.is(own?.labels['tier'], 'web');
    t.is(own?.annotations['note'], 'free text, ünïcode');
    t.is(own?.state, PodSandboxState.SANDBOX_READY);
    const container = await scene.listed(id);
    t.is(container?.metadata?.name, 'c1');
    t.is(container?.labels['io.kubernetes.container.name'], 'c1');
    t.is(container?.annotations['contract/script'], POLITE);
    t.is(container?.podSandboxId, pod.sandboxId);
    t.is((await scene.status(id)).logPath, join(pod.config.logDirectory, 'c1/0.log'));

    await call(runtime, RuntimeServiceService.stopPodSandbox, { podSandboxId: pod.sandboxId });
    t.is((await scene.listed(id))?.state, ContainerState.CONTAINER_EXITED);
    const stopped = await call(runtime, RuntimeServiceService.podSandboxStatus, {
      podSandboxId: pod.sandboxId,
      verbose: false,
    });
    t.is(stopped.status?.state, PodSandboxState.SANDBOX_NOTREADY);
    await scene.removePod(pod.sandboxId);
    t.is(await scene.listed(id), undefined, 'containers go with their sandbox');
    await t.notThrowsAsync(
      scene.removePod(pod.sandboxId).catch((error: unknown) => {
        if (scene.under.traits.stopUnknownSucceeds) throw error;
      }),
    );
  },

  'the space of a removed container is back within 2 s, though maybe not at the answer': async (t, scene) => {
    const pod = await scene.pod('space');
    const layers = await scene.layersPath();
    const before = availableBytes(layers);
    const dead = await scene.deadContainer(pod, { script: writing(8, 'exit 0') });
    t.true(before - availableBytes(layers) > 8 * MIB - SLACK, 'dead containers keep their bytes');
    await scene.removeContainer(dead);
    t.is(await scene.listed(dead), undefined, 'it is gone from lists at once');
    await scene.untilAvailable(before - SLACK, layers);
    t.pass();
  },

  'a runtime that can be made to free what was removed has its space back at the answer': async (t, scene) => {
    const pod = await scene.pod('freed');
    const layers = await scene.layersPath();
    const before = availableBytes(layers);
    const dead: string[] = [];
    for (let made = 0; made < 3; made += 1) dead.push(await scene.deadContainer(pod, { script: writing(8, 'exit 0') }));
    await using runtime = connectRuntime({ endpoint: scene.under.endpoint, now: () => instant(Date.now()) });
    for (const id of dead) {
      const held = availableBytes(layers);
      await runtime.removeContainer(id);
      t.is(await runtime.freeRemoved(), scene.under.traits.freesOnDemand);
      if (scene.under.traits.freesOnDemand) t.true(availableBytes(layers) > held + 8 * MIB - SLACK, 'at the answer');
    }
    await scene.untilAvailable(before - SLACK, layers);
    t.pass();
  },

  'removing a running container kills it': async (t, scene) => {
    const pod = await scene.pod('remove-running');
    const layers = await scene.layersPath();
    const before = availableBytes(layers);
    const id = await scene.container(pod, { script: writing(8, STUBBORN) });
    await waitFor('its bytes', 15_000, () => before - availableBytes(layers) > 8 * MIB - SLACK || undefined);
    await scene.removeContainer(id);
    t.is(await scene.listed(id), undefined);
    await scene.untilAvailable(before - SLACK, layers);
  },

  'of two removals at once one succeeds, and the other is told so or finds nothing': async (t, scene) => {
    const dead = await scene.deadContainer(await scene.pod('twice'), { script: writing(4, 'exit 0') });
    const outcomes = await Promise.all([
      outcomeOf(scene.removeContainer(dead)),
      outcomeOf(scene.removeContainer(dead)),
    ]);
    const failed = outcomes.filter(({ code }) => code !== status.OK);
    t.true(failed.length <= 1);
    for (const { code, details } of failed) {
      t.is(code, status.UNKNOWN);
      t.regex(details, /already in removing state/);
    }
    t.is(await scene.listed(dead), undefined);
  },

  'what is not there: removals succeed, statuses are NOT_FOUND, and stopping is as the generation has it': async (
    t,
    scene,
  ) => {
    const { runtime, images, traits } = scene.under;
    const containerId = 'f'.repeat(64);
    const podSandboxId = 'e'.repeat(64);
    const codes = await Promise.all(
      [
        call(images, ImageServiceService.removeImage, { image: imageSpec('contract.test/absent:1') }),
        call(runtime, RuntimeServiceService.removeContainer, { containerId }),
        call(runtime, RuntimeServiceService.removePodSandbox, { podSandboxId }),
        call(runtime, RuntimeServiceService.containerStatus, { containerId, verbose: false }),
        call(runtime, RuntimeServiceService.podSandboxStatus, { podSandboxId, verbose: false }),
        call(runtime, RuntimeServiceService.stopContainer, { containerId, timeout: 0n }),
        call(runtime, RuntimeServiceService.stopPodSandbox, { podSandboxId }),
      ].map(async (work) => (await outcomeOf(work)).code),
    );
    const stop = traits.stopUnknownSucceeds ? status.OK : status.NOT_FOUND;
    t.deepEqual(codes, [status.OK, status.OK, status.OK, status.NOT_FOUND, status.NOT_FOUND, stop, stop]);
  },

  'stopping gives the process its grace: one that listens ends by itself': async (t, scene) => {
    const id = await scene.container(await scene.pod('grace'), { script: POLITE });
    await delayForTrap();
    const start = performance.now();
    await scene.stop(id, 20);
    t.true(performance.now() - start < 10_000);
    const { state, exitCode } = await scene.status(id);
    t.deepEqual({ state, exitCode }, { state: ContainerState.CONTAINER_EXITED, exitCode: 0 });
  },

  'stopping kills a process that does not listen, when the grace is over and not before': async (t, scene) => {
    const id = await scene.container(await scene.pod('kill'), { script: STUBBORN });
    await delayForTrap();
    const start = performance.now();
    await scene.stop(id, 2);
    t.true(performance.now() - start > 1_900);
    const { state, exitCode } = await scene.status(id);
    t.deepEqual({ state, exitCode }, { state: ContainerState.CONTAINER_EXITED, exitCode: 137 });
  },

  'a stop whose deadline is shorter than its grace never kills, and one without grace ends it': async (t, scene) => {
    const id = await scene.container(await scene.pod('deadline'), { script: STUBBORN });
    await delayForTrap();
    // Which of the two sides notices the deadline first is chance.
    const { code } = await outcomeOf(scene.stop(id, 1, 300));
    t.true(code === status.DEADLINE_EXCEEDED || code === status.CANCELLED, `code ${code}`);
    // That something never happens shows only after the time at which it would have.
    await delay(1_500);
    t.is((await scene.listed(id))?.state, ContainerState.CONTAINER_RUNNING);
    await scene.stop(id, 0);
    t.is((await scene.status(id)).exitCode, 137);
  },

  'a stop without grace overtakes one that waits': async (t, scene) => {
    const id = await scene.container(await scene.pod('overtake'), { script: STUBBORN });
    await delayForTrap();
    const start = performance.now();
    const waiting = outcomeOf(scene.stop(id, 25));
    await scene.stop(id, 0);
    t.is((await waiting).code, status.OK);
    t.true(performance.now() - start < 15_000);
  },

  'the size of a writable layer is unknown (timestamp 0) until it was sampled, and then a number': async (t, scene) => {
    const id = await scene.container(await scene.pod('layer-size'), { script: writing(8, POLITE) });
    const layerOf = async (): Promise<{ at: bigint; used: bigint }> => {
      const { stats } = await call(scene.under.runtime, RuntimeServiceService.listContainerStats, {
        filter: undefined,
      });
      const own = stats.find((each) => each.attributes?.id === id)?.writableLayer;
      return { at: own?.timestamp ?? -1n, used: own?.usedBytes?.value ?? -1n };
    };
    const first = await layerOf();
    t.true(first.at > 0n || (first.at === 0n && first.used === 0n), `${first.used} bytes at ${first.at}`);
    const sampled = await waitFor('8 MiB in a sample', 15_000, async () => {
      const { at, used } = await layerOf();
      return used >= BigInt(8 * MIB) ? { at, used } : undefined;
    });
    t.true(sampled.at > 0n && sampled.used < BigInt(10 * MIB));
    await scene.stop(id, 0);
    t.true((await layerOf()).used >= BigInt(8 * MIB), 'dead containers are listed too');
  },

  'the log lies where the pod wants it, in the format of CRI, and is opened anew after a rotation': async (
    t,
    scene,
  ) => {
    const pod = await scene.pod('log');
    const id = await scene.container(pod, { script: 'while true; do echo tick; sleep 1; done' });
    const path = join(pod.config.logDirectory, 'c1/0.log');
    const hasTicked = (): true | undefined =>
      (existsSync(path) && readFileSync(path, 'utf8').includes('tick')) || undefined;
    await waitFor('a line', 10_000, hasTicked);
    t.regex(readFileSync(path, 'utf8'), /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d) stdout F tick\n/);
    renameSync(path, `${path}.1`);
    await call(scene.under.runtime, RuntimeServiceService.reopenContainerLog, { containerId: id });
    t.true(existsSync(path));
    await waitFor('a line in the new file', 10_000, hasTicked);
    await scene.stop(id, 0);
    t.not(
      (await outcomeOf(call(scene.under.runtime, RuntimeServiceService.reopenContainerLog, { containerId: id }))).code,
      status.OK,
    );
  },

  'a restart keeps containers, sandboxes and images, and what runs goes on': async (t, scene) => {
    const pod = await scene.pod('restart');
    const alive = await scene.container(pod, { script: POLITE });
    const dead = await scene.deadContainer(pod, { script: 'exit 7' });
    const names = async (): Promise<string[]> => {
      const { images } = await call(scene.under.images, ImageServiceService.listImages, { filter: undefined });
      return images.flatMap((image) => image.repoTags).sort();
    };
    const before = await names();
    await scene.under.restart();
    t.deepEqual(await waitFor('an answer', 15_000, () => names().catch(() => undefined)), before);
    t.is((await scene.listed(alive))?.state, ContainerState.CONTAINER_RUNNING);
    t.is((await scene.status(dead)).exitCode, 7);
    const { items } = await call(scene.under.runtime, RuntimeServiceService.listPodSandbox, { filter: undefined });
    t.is(items.find((item) => item.id === pod.sandboxId)?.state, PodSandboxState.SANDBOX_READY);
    await scene.stop(alive, 0);
    t.is((await scene.listed(alive))?.state, ContainerState.CONTAINER_EXITED);
  },
};

/** A shell that was just started has not set its trap yet, and nothing tells when it has. */
async function delayForTrap(): Promise<void> {
  await delay(200);
}
