import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { GcEvent } from '../../src/gc/gc-event.js';
import { APP, MIB, openNode, startDaemon } from './daemon-scene.js';

for (const profile of ['kubelet', 'reclaimd'] as const) {
  test.serial(`gc.afterCollection: what an operator's program is told after a periodic run (${profile})`, async (t) => {
    const node = await openNode(t);
    const { embedded, runtime } = node;
    await embedded.importImage({ name: 'old/a:1', layers: [{ seed: 'a', bytes: 8 * MIB }] });
    await embedded.startPod({ name: 'web', containers: [{ name: 'server', image: APP }] });
    const directory = mkdtempSync(join(tmpdir(), 'hook-'));
    t.teardown(() => rmSync(directory, { recursive: true }));
    const file = join(directory, 'told');
    const daemon = startDaemon(t, node, [
      `--profile=${profile}`,
      '--image-gc-high-threshold=2',
      '--image-gc-low-threshold=1',
      '--after-image-collection=/bin/sh',
      '--after-image-collection=-c',
      `--after-image-collection=cat > ${file}.part && mv ${file}.part ${file}`,
    ]);
    const isRemoval = (event: GcEvent) => event.kind === 'collected' && event.subject.what === 'image';
    await daemon.gcEvent(
      (event) => event.kind === 'hook-ran' && daemon.gc.slice(0, daemon.gc.indexOf(event)).some(isRemoval),
    );
    t.true(existsSync(file));
    const left = (await runtime.listImages()).map(({ id }) => id).toSorted();
    const { tells, images } = JSON.parse(readFileSync(file, 'utf8')) as { tells: string; images: string[] }; // As it is written.
    t.is(tells, profile === 'kubelet' ? 'looked-at-and-kept' : 'left-on-node');
    // To the letter: the images in use, which nobody looks at, are not among those that were kept.
    if (profile === 'kubelet') t.false(images.some((id) => left.includes(id)));
    else t.deepEqual(images.toSorted(), left);
    t.is(left.length, 2, 'what runs, and what sandboxes run on');
  });
}
