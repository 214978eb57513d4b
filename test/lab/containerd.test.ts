import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, statfsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { ContainerState } from '../../src/proto/generated/cri.js';
import { startContainerd } from './containerd.js';
import { availableBytes, fillDisk } from './disk.js';
import { describeLeftovers, findLeftovers } from './leftovers.js';
import { type Generation, partsFor } from './parts.js';
import { listContainers, listImageTags, runContainer, runPod, runToEnd, writerCommand } from './pods.js';
import { withParts } from './real-test.js';
import { waitFor } from './wait.js';

const BUSYBOX = { name: 'local.test/app:1', layers: [{ kind: 'busybox' }] } as const;
const CASES = [
  ['1.6', 'ext4'],
  ['2.4', 'ext4'],
  ['2.4', 'xfs'],
  ['2.4', 'tmpfs'],
] as const satisfies readonly (readonly [Generation, 'ext4' | 'xfs' | 'tmpfs'])[];

for (const [generation, filesystem] of CASES) {
  const title = `containerd ${generation} on ${filesystem}`;
  withParts(title, partsFor(generation, filesystem), () => {
    test.serial(`${title} runs pods on a small disk, survives its own death, and leaves nothing behind`, async (t) => {
      t.timeout(120_000);
      const sizeMiB = filesystem === 'xfs' ? 320 : 128;
      const lab = await startContainerd({ generation, filesystem, sizeMiB });
      try {
        await lab.importImage(BUSYBOX);
        t.deepEqual(await listImageTags(lab), [BUSYBOX.name, lab.sandboxImage].sort());
        const { blocks, bsize } = statfsSync(lab.diskPath);
        t.true(blocks * bsize <= sizeMiB * 1024 * 1024, 'the disk is the small one');

        const pod = await runPod(lab, { name: 'web' });
        const before = availableBytes(lab.diskPath);
        const dead = await runToEnd(lab, pod, { name: 'job', image: BUSYBOX.name, command: writerCommand(8_192) });
        // Not the whole 8 MiB: meanwhile XFS may give back what it had set aside for files that have been closed since.
        t.true(before - availableBytes(lab.diskPath) >= 6 << 20, 'writable layers are on it');
        const alive = await runContainer(lab, pod, { name: 'server', image: BUSYBOX.name });

        await lab.restart();
        const states = new Map((await listContainers(lab)).map(({ id, state }) => [id, state]));
        t.is(states.get(dead), ContainerState.CONTAINER_EXITED);
        t.is(states.get(alive), ContainerState.CONTAINER_RUNNING);

        fillDisk(`${lab.diskPath}/filler`, 4 << 20);
        t.true(availableBytes(lab.diskPath) <= 5 << 20);
      } catch (error) {
        t.log(lab.log().slice(-3_000));
        throw error;
      } finally {
        // Throws when a process, mount or loop device is left.
        await lab.close();
      }
      t.false(existsSync(lab.paths.work));
    });
  });
}

withParts('death of the starter', partsFor('2.4', 'ext4'), () => {
  test.serial(
    'the death of the process that started a runtime ends the runtime, its mounts and its loop device',
    async (t) => {
      const module = fileURLToPath(new URL('./containerd.js', import.meta.url));
      const program = `
      const { startContainerd } = await import(${JSON.stringify(module)});
      const lab = await startContainerd({ generation: '2.4', filesystem: 'ext4', sizeMiB: 64 });
      console.log(lab.paths.work);
    `;
      const starter = spawn(process.execPath, ['--input-type=module', '--eval', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [directory] = (await once(createInterface({ input: starter.stdout }), 'line')) as [string];
      const owned = { directory, processes: [] };
      t.true(findLeftovers(owned).length > 0, 'it is there');
      starter.kill('SIGKILL');
      await waitFor(
        'everything go',
        10_000,
        () => findLeftovers(owned).length === 0 || undefined,
        () => describeLeftovers(owned),
      );
      t.pass();
      rmSync(directory, { recursive: true });
    },
  );
});
