import type { PodRecord } from '../../ports/pods.js';
import type { PodFacts } from './pod-object.js';

/** Which manifest each static pod of the runtime was made from, and the manifests that cannot be told apart. */
export interface StaticMatch {
  /** By the pod's uid. */
  readonly facts: ReadonlyMap<string, PodFacts>;
  /** `namespace/name` that several manifests claim; none of them is used. */
  readonly ambiguous: readonly string[];
}

/** Where a manifest without a namespace puts its pod. */
const DEFAULT_NAMESPACE = 'default';

/**
 * Finds the manifest of each static pod. The kubelet runs a manifest's pod as `<name>-<node>`, the node's name in lower case, and
 * under a uid that is the manifest's own or a hash over the decoded object in a form of Go's, which nobody else can make. So:
 * the uid where the manifest has one, else namespace and name among the pods from files (`kubernetes.io/config.source=file`). The
 * node's name is not asked for, since the kubelet may have been given another than the host's: it is the ending that
 * explains most pods, all of one node having the same; between equals the shortest, so that `etcd-events-n1` is of `etcd-events`.
 */
export function matchStatic(pods: readonly PodRecord[], manifests: readonly PodFacts[]): StaticMatch {
  const facts = new Map<string, PodFacts>();
  const byUid = new Map(
    manifests.flatMap((each) => (each.uid === null || each.uid === '' ? [] : [[each.uid, each] as const])),
  );
  const byName = groupByName(manifests);
  const unmatched: PodRecord[] = [];
  for (const pod of pods) {
    const known = byUid.get(pod.uid);
    if (known !== undefined) facts.set(pod.uid, known);
    else if (pod.source === 'file') unmatched.push(pod);
  }
  const ending = commonEnding(unmatched, manifests);
  const ambiguous = new Set<string>();
  for (const { uid, namespace, name } of unmatched) {
    if (ending === null || !name.endsWith(ending)) continue;
    const key = `${namespace}/${name.slice(0, -ending.length)}`;
    const [only, ...others] = byName.get(key) ?? [];
    if (others.length > 0) ambiguous.add(key);
    else if (only !== undefined) facts.set(uid, only);
  }
  return { facts, ambiguous: [...ambiguous] };
}

function groupByName(manifests: readonly PodFacts[]): ReadonlyMap<string, readonly PodFacts[]> {
  const groups = new Map<string, PodFacts[]>();
  for (const each of manifests) {
    // One with a uid of its own is found by that alone.
    if (each.uid !== null && each.uid !== '') continue;
    const key = keyOf(each);
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return groups;
}

function keyOf({ namespace, name }: PodFacts): string {
  return `${namespace === null || namespace === '' ? DEFAULT_NAMESPACE : namespace}/${name}`;
}

/** `-<node>`, or null when no pod has a manifest. */
function commonEnding(pods: readonly PodRecord[], manifests: readonly PodFacts[]): string | null {
  const keys = new Set(manifests.map(keyOf));
  const votes = new Map<string, number>();
  for (const { namespace, name } of pods) {
    for (let at = name.lastIndexOf('-'); at > 0; at = name.lastIndexOf('-', at - 1)) {
      if (keys.has(`${namespace}/${name.slice(0, at)}`))
        votes.set(name.slice(at), (votes.get(name.slice(at)) ?? 0) + 1);
    }
  }
  const [best] = [...votes].toSorted(([a, ofA], [b, ofB]) => ofB - ofA || a.length - b.length);
  return best?.[0] ?? null;
}
