import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { ImageServiceService, RuntimeServiceService } from '../../src/proto/generated/cri.js';
import { call } from '../lab/call.js';
import { fillDisk } from '../lab/disk.js';
import { waitFor } from '../lab/wait.js';
import { layer, MIB, outcomeOf, POLITE, SLACK, writing } from './contract-scene.js';
import type { Contract } from './cri-contract.js';

/** What still works when nothing can be written any more: all that reclaim needs. */
export const FULL_DISK_CONTRACT: Contract = {
  'on a full disk lists and statuses answer, images and dead containers can be removed, and nothing new can be made':
    async (t, scene) => {
      const { runtime, images, diskPath, traits } = scene.under;
      await scene.image('contract.test/ballast:1', [layer('ballast', 8)]);
      const pod = await scene.pod('full');
      const alive = await scene.container(pod, { script: POLITE });
      const dead = await scene.deadContainer(pod, { script: writing(4, 'exit 0') });
      const filler = join(diskPath, 'contract-filler');
      t.teardown(() => rmSync(filler, { force: true }));

      fillDisk(filler);
      const [containers, stats, fsInfo, list] = await Promise.all([
        scene.containers(),
        call(runtime, RuntimeServiceService.listContainerStats, { filter: undefined }),
        call(images, ImageServiceService.imageFsInfo, {}),
        call(images, ImageServiceService.listImages, { filter: undefined }),
      ]);
      t.true(containers.some(({ id }) => id === alive) && containers.some(({ id }) => id === dead));
      t.true(stats.stats.length >= 2 && fsInfo.imageFilesystems.length === 1 && list.images.length >= 3);
      t.is((await scene.status(alive)).id, alive);

      // With split disks the full one holds images only, and containers are made elsewhere.
      if (!traits.splitDisks) {
        // Space of what went before may still be coming back: the disk is filled until nothing more comes.
        const refused = (what: string, make: () => Promise<unknown>) =>
          waitFor(`a full disk refuse ${what}`, 10_000, async () => {
            fillDisk(filler);
            const outcome = await outcomeOf(make());
            return outcome.code === status.OK ? undefined : outcome;
          });
        let pods = 0;
        for (const outcome of [
          await refused('a container', () => scene.container(pod, { script: POLITE })),
          await refused('a pod', () => scene.pod(`full-${(pods += 1)}`)),
        ]) {
          t.is(outcome.code, status.UNKNOWN);
          t.regex(outcome.details, /no space left on device/);
        }
      }
      t.is((await outcomeOf(scene.removeContainer(dead))).code, status.OK);
      t.is(await scene.listed(dead), undefined);

      fillDisk(filler);
      const before = scene.available;
      t.is((await outcomeOf(scene.removeImage('contract.test/ballast:1'))).code, status.OK);
      t.true(scene.available - before > 2 * 8 * MIB - SLACK, 'its space is there at return');
      await t.notThrowsAsync(scene.container(pod, { script: POLITE }), 'with space things can be made again');
    },
};
