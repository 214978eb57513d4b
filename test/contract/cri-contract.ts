import test, { type ExecutionContext } from 'ava';
import { CONTAINER_CONTRACT } from './containers-contract.js';
import { APP, Scene } from './contract-scene.js';
import { FULL_DISK_CONTRACT } from './full-disk-contract.js';
import { IMAGE_CONTRACT } from './images-contract.js';
import { LIST_CONTRACT } from './lists-contract.js';
import type { RuntimeUnderTest } from './runtime-under-test.js';

/** A promise of runtimes that reclaim relies on: a title that says it, and the test of it. */
export type Contract = Readonly<Record<string, (t: ExecutionContext, scene: Scene) => Promise<void>>>;

/**
 * Declares the tests of what reclaim relies on, judged by the disk itself and by CRI's answers. The tests run one after
 * the other on one runtime, which is opened by the first of them and closed after the last.
 */
export function contractTests(title: string, open: () => Promise<RuntimeUnderTest>): void {
  let opened: Promise<RuntimeUnderTest> | null = null;
  const openOnce = async (): Promise<RuntimeUnderTest> => {
    const under = await open();
    await under.importImage({ name: APP, layers: [{ kind: 'busybox' }] });
    return under;
  };
  for (const contract of [IMAGE_CONTRACT, CONTAINER_CONTRACT, LIST_CONTRACT, FULL_DISK_CONTRACT]) {
    for (const [promise, check] of Object.entries(contract)) {
      test.serial(`${title}: ${promise}`, async (t) => {
        opened ??= openOnce();
        await check(t, new Scene(t, await opened));
      });
    }
  }
  test.after.always(`${title}: closed`, async () => {
    await (await opened)?.close();
  });
}
