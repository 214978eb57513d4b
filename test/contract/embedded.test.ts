import test from 'ava';
import { startEmbeddedRuntime } from '../../src/embedded/embedded-runtime.js';
import type { EmbeddedRuntimeOptions } from '../../src/embedded/options.js';
import { contractTests } from './cri-contract.js';
import { openEmbedded } from './embedded-under-test.js';

/** Each behaviour on a disk of another kind; ext4 and xfs only where this user may mount them. */
const CASES: readonly EmbeddedRuntimeOptions[] = [
  { behaviour: 'containerd-1.6', disk: { filesystem: 'ext4', sizeBytes: 192 << 20 } },
  { behaviour: 'containerd-2', disk: { filesystem: 'tmpfs', sizeBytes: 192 << 20 } },
  { behaviour: 'cri-o', disk: { filesystem: 'tmpfs', sizeBytes: 192 << 20 } },
];

const probe = await startEmbeddedRuntime();
const { kind } = probe.disks.image;
const description = probe.describe();
await probe.close();

for (const options of CASES) {
  const title = `embedded ${options.behaviour}`;
  if (kind === 'accounted') {
    // The contract is judged by statfs, which knows nothing of a disk that only exists in an account.
    test.skip(`${title} (needs a mount or a user namespace: ${description})`, (t) => t.fail());
  } else {
    contractTests(title, () => openEmbedded({ ...options, statsCollectPeriodMs: 500 }));
  }
}
