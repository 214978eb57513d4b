import type { PodRecord, PodSource, PodsPort } from '../../ports/pods.js';
import type { ContainerRecord, SandboxRecord } from '../../ports/runtime.js';
import { sorted } from '../../units/sorted.js';
import { type Milliseconds, milliseconds } from '../../units/units.js';

/** Where the kubelet took the pod from; it writes this into every pod it runs, so that it is on the sandbox. */
const CONFIG_SOURCE = 'kubernetes.io/config.source';
/** Marks the API server's copy of a static pod. */
const CONFIG_MIRROR = 'kubernetes.io/config.mirror';
/** Seconds, on the containers: the pod's own `terminationGracePeriodSeconds` (kubelet, `kuberuntime/labels.go`). */
const TERMINATION_GRACE = 'io.kubernetes.pod.terminationGracePeriod';

/** The kubelet's mark on a sandbox. One without it was made by hand: no pod, though CRI makes it name one. */
const POD_UID = 'io.kubernetes.pod.uid';

const SOURCES: readonly PodSource[] = ['api', 'file', 'http'];

interface Parts {
  readonly sandboxes: SandboxRecord[];
  readonly containers: ContainerRecord[];
}

/**
 * Pods as the runtime alone knows them, for nodes where nobody else can be asked. What CRI does not tell (priority,
 * requests) is `null`. Containers and sandboxes without the kubelet's labels are of no pod.
 */
export function criPods(): PodsPort {
  return {
    async list(containers, sandboxes) {
      const byUid = new Map<string, Parts>();
      const partsOf = (uid: string): Parts => {
        const known = byUid.get(uid);
        if (known !== undefined) return known;
        const parts: Parts = { sandboxes: [], containers: [] };
        byUid.set(uid, parts);
        return parts;
      };
      const liveSandboxes = new Set<string>();
      for (const container of containers) {
        if (container.state !== 'exited') liveSandboxes.add(container.sandboxId);
        if (container.pod !== null) partsOf(container.pod.uid).containers.push(container);
      }
      for (const sandbox of sandboxes) {
        const isOfKubelet = sandbox.labels[POD_UID] !== undefined || byUid.has(sandbox.pod.uid);
        if (isOfKubelet) partsOf(sandbox.pod.uid).sandboxes.push(sandbox);
      }
      return [...byUid].map(([uid, parts]) => podRecord(uid, parts, liveSandboxes));
    },
  };
}

function podRecord(uid: string, parts: Parts, liveSandboxes: ReadonlySet<string>): PodRecord {
  // Newest first: a pod whose sandbox was made again is described by the last one.
  const sandboxes = sorted(parts.sandboxes, byAttempt);
  const containers = sorted(parts.containers, byCreation);
  const sandbox = sandboxes[0];
  const identity = sandbox?.pod ?? containers[0]?.pod;
  const annotations = sandbox?.annotations ?? {};
  return {
    uid,
    namespace: identity?.namespace ?? '',
    name: identity?.name ?? '',
    source: SOURCES.find((source) => source === annotations[CONFIG_SOURCE]) ?? null,
    isMirror: annotations[CONFIG_MIRROR] !== undefined,
    priority: null,
    storageRequest: null,
    memoryRequest: null,
    terminationGrace: graceOf(containers),
    isFinished: isFinished(parts, liveSandboxes),
    containers,
    sandboxes,
    annotations,
    labels: sandbox?.labels ?? {},
  };
}

/** Nothing of it is up, not even a container that somebody else put into its sandbox: removing that would kill it. */
function isFinished(parts: Parts, liveSandboxes: ReadonlySet<string>): boolean {
  return (
    parts.sandboxes.every((sandbox) => sandbox.state === 'notready' && !liveSandboxes.has(sandbox.id)) &&
    parts.containers.every((container) => container.state === 'exited')
  );
}

/** A grace that is no whole number of seconds from 0 up is unknown, as a missing one is. */
function graceOf(containers: readonly ContainerRecord[]): Milliseconds | null {
  for (const { annotations } of containers) {
    const text = annotations[TERMINATION_GRACE];
    if (text !== undefined && /^\d{1,12}$/.test(text)) return milliseconds(Number(text) * 1000);
  }
  return null;
}

/** A later attempt is newer, whatever its clock said. */
function byAttempt(a: SandboxRecord, b: SandboxRecord): number {
  return b.attempt - a.attempt || b.createdAt - a.createdAt;
}

/** Attempts count per container name, so that only the time orders all containers of a pod. */
function byCreation(a: ContainerRecord, b: ContainerRecord): number {
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt ? -1 : 1;
  return b.attempt - a.attempt;
}
