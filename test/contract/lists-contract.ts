import { type ClientReadableStream, type ServiceError, status } from '@grpc/grpc-js';
import {
  type ContainerEventResponse,
  ContainerEventType,
  ContainerState,
  ImageServiceService,
  RuntimeServiceService,
} from '../../src/proto/generated/cri.js';
import { call } from '../lab/call.js';
import { waitFor } from '../lab/wait.js';
import { outcomeOf, POLITE } from './contract-scene.js';
import type { Contract } from './cri-contract.js';

/** Lists, their streamed forms, and events. */
export const LIST_CONTRACT: Contract = {
  'lists hold everything once, in whatever order, and filters let through what they name': async (t, scene) => {
    const { runtime } = scene.under;
    const pod = await scene.pod('lists', { colour: 'blue' });
    const ids = [];
    for (let number = 0; number < 3; number += 1)
      ids.push(await scene.container(pod, { script: POLITE, start: number > 0 }));
    const list = async (
      filter: Partial<{
        id: string;
        state: { state: ContainerState };
        podSandboxId: string;
        labelSelector: Record<string, string>;
      }>,
    ): Promise<string[]> => {
      const whole = { id: '', state: undefined, podSandboxId: '', labelSelector: {}, ...filter };
      const { containers } = await call(runtime, RuntimeServiceService.listContainers, { filter: whole });
      return containers.map(({ id }) => id).sort();
    };
    const [first] = ids;
    t.deepEqual(await list({ podSandboxId: pod.sandboxId }), [...ids].sort());
    t.deepEqual(await list({ podSandboxId: pod.sandboxId, state: { state: ContainerState.CONTAINER_CREATED } }), [
      first,
    ]);
    t.deepEqual(await list({ podSandboxId: pod.sandboxId, labelSelector: { 'io.kubernetes.container.name': 'c1' } }), [
      first,
    ]);
    t.deepEqual(await list({ id: first ?? '' }), [first]);
    const { items } = await call(runtime, RuntimeServiceService.listPodSandbox, {
      filter: { id: '', state: undefined, labelSelector: { colour: 'blue' } },
    });
    t.deepEqual(
      items.map(({ id }) => id),
      [pod.sandboxId],
    );
    const all = (await scene.containers()).map(({ id }) => id);
    t.is(new Set(all).size, all.length);
  },

  'streamed lists say what the plain ones say; a runtime without them answers UNIMPLEMENTED': async (t, scene) => {
    const { runtime, images, traits } = scene.under;
    const pod = await scene.pod('streams');
    const id = await scene.container(pod, { script: POLITE });
    const streams = [
      collect(runtime.streamContainers({ filter: undefined }), ({ containers }) => containers.map((each) => each.id)),
      collect(runtime.streamPodSandboxes({ filter: undefined }), ({ podSandboxes }) =>
        podSandboxes.map((each) => each.id),
      ),
      collect(runtime.streamContainerStats({ filter: undefined }), ({ containerStats }) =>
        containerStats.map((each) => each.attributes?.id ?? ''),
      ),
      collect(images.streamImages({ filter: undefined }), (message) => message.images.map((each) => each.id)),
    ];
    if (!traits.streams) {
      for (const stream of streams) t.is((await outcomeOf(stream)).code, status.UNIMPLEMENTED);
      return;
    }
    const [containers, sandboxes, stats, imageIds] = await Promise.all(streams);
    t.deepEqual(containers, (await scene.containers()).map((each) => each.id).sort());
    t.true(sandboxes?.includes(pod.sandboxId));
    t.true(stats?.includes(id));
    const listed = await call(images, ImageServiceService.listImages, { filter: undefined });
    t.deepEqual(imageIds, listed.images.map((each) => each.id).sort());
    const nothing = runtime.streamContainers({
      filter: { id: 'f'.repeat(64), state: undefined, podSandboxId: '', labelSelector: {} },
    });
    t.deepEqual(await collect(nothing, (message) => [`a message with ${message.containers.length}`]), []);
  },

  'events tell the life of a container and of its sandbox; a runtime without them answers UNIMPLEMENTED': async (
    t,
    scene,
  ) => {
    const { runtime, traits } = scene.under;
    const stream = runtime.getContainerEvents({});
    const seen: ContainerEventResponse[] = [];
    let ended: ServiceError | null = null;
    stream.on('data', (event: ContainerEventResponse) => seen.push(event));
    stream.on('error', (error: ServiceError) => {
      ended = error;
    });
    t.teardown(() => stream.cancel());
    if (!traits.events) {
      const { code } = await waitFor('the end of the stream', 5_000, () => ended ?? undefined);
      t.is(code, status.UNIMPLEMENTED);
      return;
    }
    const pod = await scene.pod('events');
    const id = await scene.container(pod, { script: POLITE });
    await scene.stop(id, 0);
    await scene.removeContainer(id);
    await scene.removePod(pod.sandboxId);
    const kindsOf = (subject: string): readonly ContainerEventType[] =>
      seen.filter((event) => event.containerId === subject).map((event) => event.containerEventType);
    await waitFor(
      'the last event',
      10_000,
      () => kindsOf(pod.sandboxId).includes(ContainerEventType.CONTAINER_DELETED_EVENT) || undefined,
    );
    const life = [
      ContainerEventType.CONTAINER_CREATED_EVENT,
      ContainerEventType.CONTAINER_STARTED_EVENT,
      ContainerEventType.CONTAINER_STOPPED_EVENT,
      ContainerEventType.CONTAINER_DELETED_EVENT,
    ];
    t.deepEqual(kindsOf(id), life);
    t.deepEqual(kindsOf(pod.sandboxId), life);
    const started = seen.find(
      (event) => event.containerId === id && event.containerEventType === ContainerEventType.CONTAINER_STARTED_EVENT,
    );
    t.is(started?.podSandboxStatus?.id, pod.sandboxId);
    t.true(started?.containersStatuses.some((each) => each.id === id));
    t.true((started?.createdAt ?? 0n) > 0n);
  },
};

/** All items of a stream, sorted; rejects with the status that ended it. */
async function collect<Message>(
  stream: ClientReadableStream<Message>,
  itemsOf: (message: Message) => readonly string[],
): Promise<string[]> {
  const items: string[] = [];
  // Messages of the stream are what its type says; node's own iterator has no type for them.
  for await (const message of stream as AsyncIterable<Message>) items.push(...itemsOf(message));
  return items.sort();
}
