import type { ContainerRecord, SandboxRecord } from '../../../src/ports/runtime.js';
import { instant } from '../../../src/units/units.js';

/** A sandbox of the pod `default/<name>` with the uid `uid-<name>`, as the kubelet makes it. */
export function sandboxOf(
  name: string,
  facts: Partial<SandboxRecord> & { readonly source?: string } = {},
): SandboxRecord {
  const { source = 'api', ...rest } = facts;
  const pod = { uid: `uid-${name}`, namespace: 'default', name };
  return {
    id: `sandbox-${name}`,
    pod,
    attempt: 0,
    state: 'ready',
    createdAt: instant(1_000),
    runtimeHandler: '',
    labels: { 'io.kubernetes.pod.uid': pod.uid },
    annotations: { 'kubernetes.io/config.source': source },
    ...rest,
  };
}

/** A container of that pod. */
export function containerOf(name: string, facts: Partial<ContainerRecord> = {}): ContainerRecord {
  return {
    id: `container-${name}`,
    sandboxId: `sandbox-${name}`,
    name: 'app',
    attempt: 0,
    state: 'running',
    createdAt: instant(1_000),
    imageId: '',
    imageRef: '',
    image: 'app:1',
    runtimeHandler: '',
    pod: { uid: `uid-${name}`, namespace: 'default', name },
    labels: {},
    annotations: { 'io.kubernetes.pod.terminationGracePeriod': '45' },
    ...facts,
  };
}
