import { startContainerd } from '../lab/containerd.js';
import { partsFor } from '../lab/parts.js';
import { withParts } from '../lab/real-test.js';
import { contractTests } from './cri-contract.js';

for (const generation of ['1.6', '2.4'] as const) {
  const title = `containerd ${generation}`;
  withParts(title, partsFor(generation, 'ext4'), () => {
    contractTests(title, () => startContainerd({ generation, filesystem: 'ext4', sizeMiB: 256 }));
  });
}
