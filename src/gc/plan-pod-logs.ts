import { elapsed, type Instant, milliseconds } from '../units/units.js';
import type { PodAnswers } from './inventory.js';
import type { OwnerScope } from './owner-scope.js';

/** Why an entry of the pod log root goes or stays. */
export interface JudgedLogs {
  readonly name: string;
  readonly goes: boolean;
  readonly why: string;
}

/** What judging entries that nobody may own is made from. */
export interface OrphanLogsInput {
  readonly entries: readonly {
    readonly name: string /** By the wall clock; null = unknown. */;
    readonly changedAt: Instant | null;
  }[];
  /** Uids of which pods or the runtime know anything. */
  readonly known: ReadonlySet<string>;
  /** A kubelet makes a pod's directory before anybody else knows the pod. */
  readonly kubeletRuns: boolean;
  readonly ownerScope: OwnerScope;
  /** The wall clock. */
  readonly now: Instant;
}

/** A directory of nobody goes when it was left alone for so long: whoever starts a pod makes its directory first. */
export const LEFT_ALONE_FOR = milliseconds(5 * 60_000);
/** A pod's uid: a UUID, or for a static pod 32 hexadecimal digits. `lost+found` and the like are none. */
const UID = /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/;

/** The uid of the pod whose logs an entry holds; null where the name is no pod's. */
export function uidOfLogs(name: string): string | null {
  const uid = name.slice(name.lastIndexOf('_') + 1);
  return UID.test(uid) ? uid : null;
}

/** The entries of pods that nobody knows, by name. Those that are somebody's are no candidates. */
export function judgeOrphanLogs(input: OrphanLogsInput): readonly JudgedLogs[] {
  return input.entries
    .filter(({ name }) => {
      const uid = uidOfLogs(name);
      return uid !== null && !input.known.has(uid);
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, changedAt }) => {
      const why = whyOrphanStays(changedAt, input);
      return { name, goes: why === null, why: why ?? 'its pod is gone' };
    });
}

function whyOrphanStays(
  changedAt: Instant | null,
  { kubeletRuns, ownerScope, now }: Omit<OrphanLogsInput, 'entries' | 'known'>,
): string | null {
  if (kubeletRuns) return 'a kubelet runs here and looks after its logs';
  if (ownerScope === 'images') return 'only images are to be removed (ownerScope)';
  // One from the future is of unknown age.
  if (changedAt === null || changedAt > now) return 'nobody can tell how old it is';
  return elapsed(changedAt, now) < LEFT_ALONE_FOR ? `it changed less than ${LEFT_ALONE_FOR / 1_000} s ago` : null;
}

/**
 * The entries of the pod log root that go: those of pods that are gone, whatever they are. The pod's uid is what follows the
 * last underscore of `namespace_name_uid` (formerly the whole name). Nothing while a source of pods is not ready.
 */
export function planPodLogs(entries: readonly string[], pods: PodAnswers): readonly string[] {
  if (!pods.allSourcesReady) return [];
  return entries.filter((entry) => pods.contentMayBeRemoved(entry.slice(entry.lastIndexOf('_') + 1)));
}
