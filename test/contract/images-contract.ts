import { statfsSync, statSync } from 'node:fs';
import { status } from '@grpc/grpc-js';
import { imageConfigOf } from '../../src/adapters/cri/image-config.js';
import {
  ContainerState,
  type ImageFsInfoResponse,
  ImageServiceService,
  RuntimeServiceService,
} from '../../src/proto/generated/cri.js';
import { call } from '../lab/call.js';
import { waitFor } from '../lab/wait.js';
import { imageSpec, layer, MIB, outcomeOf, POLITE, type Scene, SLACK, writing } from './contract-scene.js';
import type { Contract } from './cri-contract.js';

/** What images cost, what removing them gives back, and when. */
export const IMAGE_CONTRACT: Contract = {
  'an image costs about double its size, and removing it frees all of that before the answer': async (t, scene) => {
    const before = scene.available;
    await scene.image('contract.test/cost:1', [layer('cost', 12)]);
    const cost = before - scene.available;
    t.true(cost > 2 * 12 * MIB - SLACK && cost < 2 * 12 * MIB + 2 * SLACK, `${cost} bytes for a layer of 12 MiB`);
    const image = await imageNamed(scene, 'contract.test/cost:1');
    t.true(Number(image?.size) >= 12 * MIB && Number(image?.size) < 16 * MIB, `listed with ${image?.size} bytes`);

    await scene.removeImage('contract.test/cost:1');
    t.true(before - scene.available < SLACK, `${before - scene.available} bytes not free at return`);
    t.is(await imageNamed(scene, 'contract.test/cost:1'), undefined);
  },

  'removing an image frees only the layers that no other image has': async (t, scene) => {
    await scene.image('contract.test/one:1', [layer('common', 8), layer('one', 4)]);
    await scene.image('contract.test/other:1', [layer('common', 8), layer('other', 4)]);
    const before = scene.available;
    await scene.removeImage('contract.test/one:1');
    const freed = scene.available - before;
    t.true(freed > 2 * 4 * MIB - SLACK && freed < 2 * 4 * MIB + SLACK, `${freed} bytes freed, 4 MiB unshared`);
    await scene.removeImage('contract.test/other:1');
    t.true(scene.available - before > 2 * 16 * MIB - 2 * SLACK, 'the common layer goes with its last image');
  },

  'a verbose status tells labels and layers of an image, and nothing of one that is not there': async (t, scene) => {
    const labels = { keep: 'yes' };
    await scene.image('contract.test/labelled:1', [layer('labelled-a', 1), layer('labelled-b', 1)], labels);
    const ask = async (name: string) =>
      call(scene.under.images, ImageServiceService.imageStatus, { image: imageSpec(name), verbose: true });
    const config = imageConfigOf((await ask('contract.test/labelled:1')).info);
    t.is(config?.labels['keep'], 'yes');
    t.is(new Set(config?.layers).size, 3);
    t.not(config?.builtAt, null);
    t.is(imageConfigOf((await ask('contract.test/nowhere:1')).info), null);
  },

  'removing an image in use succeeds: its container goes on, and the rest is freed with the container': async (
    t,
    scene,
  ) => {
    const id = await scene.image('contract.test/used:1', [layer('used', 12)]);
    const pod = await scene.pod('image-in-use');
    const container = await scene.container(pod, { image: 'contract.test/used:1', script: POLITE });
    const before = scene.available;
    await scene.removeImage('contract.test/used:1');
    const freed = scene.available - before;
    t.true(
      freed > 12 * MIB - SLACK && freed < 12 * MIB + 2 * SLACK,
      `${freed} bytes freed: the blob and not the snapshot`,
    );

    const listed = await scene.listed(container);
    t.is(listed?.state, ContainerState.CONTAINER_RUNNING);
    t.is(listed?.imageRef, id, 'it still names its image');
    const again = await outcomeOf(scene.container(pod, { image: 'contract.test/used:1', script: POLITE }));
    t.is(again.code, status.NOT_FOUND);

    await scene.removePod(pod.sandboxId);
    await scene.untilAvailable(before + 2 * 12 * MIB - SLACK);
  },

  'a dead container still names its image, also after that image was removed': async (t, scene) => {
    const id = await scene.image('contract.test/of-dead:1', [layer('of-dead', 1)]);
    const dead = await scene.deadContainer(await scene.pod('dead-names-image'), {
      image: 'contract.test/of-dead:1',
      script: 'exit 3',
    });
    await scene.removeImage('contract.test/of-dead:1');
    const [listed, found] = [await scene.listed(dead), await scene.status(dead)];
    t.is(listed?.imageRef, id);
    t.is(listed?.image?.image, 'contract.test/of-dead:1');
    t.is(listed?.imageId, scene.under.traits.imageId ? id : '');
    t.is(found.imageId, scene.under.traits.imageId ? id : '');
    t.is(found.exitCode, 3);
    // Not finished after started: containerd 1.6 stamps the start of a quick process after its end.
    t.true(found.finishedAt >= found.createdAt && found.startedAt >= found.createdAt && found.createdAt > 0n);
  },

  'removing an image also frees what earlier container removals left pending': async (t, scene) => {
    await scene.image('contract.test/collector:1', [layer('collector', 4)]);
    const pod = await scene.pod('collector');
    const before = scene.available;
    const dead = await scene.deadContainer(pod, { script: writing(8, 'exit 0') });
    await scene.removeContainer(dead);
    await scene.removeImage('contract.test/collector:1');
    t.true(
      scene.available - before > 2 * 4 * MIB - SLACK,
      `${scene.available - before} bytes more than before the container`,
    );
  },

  'the status of an absent image is no error and names no image': async (t, scene) => {
    const { image } = await call(scene.under.images, ImageServiceService.imageStatus, {
      image: imageSpec('contract.test/absent:1'),
      verbose: false,
    });
    t.is(image, undefined);
  },

  'only a runtime that pins says so, and only of the sandbox image': async (t, scene) => {
    const { images } = await call(scene.under.images, ImageServiceService.listImages, { filter: undefined });
    const pinned = images.filter((image) => image.pinned).flatMap((image) => image.repoTags);
    t.deepEqual(pinned, scene.under.traits.pins ? [scene.under.sandboxImage] : []);
    t.true(images.some((image) => image.repoTags.includes(scene.under.sandboxImage)));
  },

  'the image filesystem is a directory on the small disk, and its use follows with a delay': async (t, scene) => {
    const info = (): Promise<ImageFsInfoResponse> => call(scene.under.images, ImageServiceService.imageFsInfo, {});
    const sampledSince = (sinceMs: number): Promise<bigint> =>
      waitFor('a fresh sample', 15_000, async () => {
        const own = (await info()).imageFilesystems[0];
        return own !== undefined && own.timestamp >= BigInt(sinceMs) * 1_000_000n ? own.usedBytes?.value : undefined;
      });
    const answer = await info();
    const path = answer.imageFilesystems[0]?.fsId?.mountpoint ?? '';
    const containers = answer.containerFilesystems.map((filesystem) => filesystem.fsId?.mountpoint ?? '');
    const { diskPath, traits } = scene.under;
    t.is(statSync(scene.fromHere(path)).dev, statSync(diskPath).dev);
    t.true(statSync(scene.fromHere(path)).isDirectory());
    t.is(containers.length, traits.splitDisks ? 1 : 0);
    for (const other of containers) {
      t.not(other, path);
      t.not(statSync(scene.fromHere(other)).dev, statSync(diskPath).dev, 'split disks are different devices');
      t.true(statfsSync(scene.fromHere(other)).blocks > 0);
    }
    await scene.image('contract.test/counted:1', [layer('counted', 8)]);
    const withImage = await sampledSince(Date.now());
    await scene.removeImage('contract.test/counted:1');
    const without = await sampledSince(Date.now());
    t.true(
      withImage - without > BigInt(8 * MIB - SLACK),
      `${withImage} bytes with an image of 8 MiB, ${without} without`,
    );
  },

  'an image used as a volume: statuses name it, lists do not, and its files stay until the pod goes': async (
    t,
    scene,
  ) => {
    const id = await scene.image('contract.test/volume:1', [layer('volume', 12)]);
    const pod = await scene.pod('image-volume');
    const mount = {
      containerPath: '/model',
      hostPath: '',
      readonly: true,
      selinuxRelabel: false,
      propagation: 0,
      recursiveReadOnly: false,
      image: imageSpec(id),
      imageSubPath: '',
    } as const;
    if (!scene.under.traits.imageVolumes) {
      const outcome = await outcomeOf(scene.container(pod, { script: POLITE, mounts: [mount] }));
      t.is(outcome.code, status.UNKNOWN, 'a runtime that does not know the field fails to mount nothing');
      return;
    }
    const container = await scene.container(pod, { script: POLITE, mounts: [mount] });
    const found = await scene.status(container);
    t.deepEqual(
      found.mounts.flatMap((each) => (each.image === undefined ? [] : [each.image.image])),
      [id],
    );
    t.not((await scene.listed(container))?.imageRef, id);

    const before = scene.available;
    await scene.removeImage(id);
    const freed = scene.available - before;
    t.true(
      freed > 12 * MIB - SLACK && freed < 12 * MIB + 2 * SLACK,
      `${freed} bytes freed: the blob and not the snapshot`,
    );
    t.is((await scene.listed(container))?.state, ContainerState.CONTAINER_RUNNING);
    await scene.removePod(pod.sandboxId);
    await scene.untilAvailable(before + 2 * 12 * MIB - SLACK);
  },

  'without the sandbox image no pod can be run, and with it again they can': async (t, scene) => {
    const { sandboxImage, runtime, images } = scene.under;
    const { image } = await call(images, ImageServiceService.imageStatus, {
      image: imageSpec(sandboxImage),
      verbose: false,
    });
    t.truthy(image, 'it is there, pinned or not');
    const ready = await call(runtime, RuntimeServiceService.status, { verbose: false });
    t.true(ready.status?.conditions.find((condition) => condition.type === 'RuntimeReady')?.status);
    await t.notThrowsAsync(scene.pod('with-sandbox-image'));
  },
};

async function imageNamed(scene: Scene, name: string): Promise<{ readonly size: bigint } | undefined> {
  const { images } = await call(scene.under.images, ImageServiceService.listImages, { filter: undefined });
  return images.find((image) => image.repoTags.includes(name));
}
