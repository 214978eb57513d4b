import type { Bytes, Instant, Milliseconds } from '../units/units.js';
import type { ImageNews } from './image-text.js';
import type { LayoutQuirk } from './kubelet-quirks.js';
import type { FsLayout } from './layout.js';
import type { StorageViolation } from './local-storage.js';
import type { Clamped, Observation, Sight, UnknownReason } from './observe.js';
import type { EvictedPodStatus } from './pod-status.js';
import type { Standing } from './rank.js';
import type { Remembered } from './remembered.js';
import type { FilesystemName, NodeCondition, Resource, Signal } from './signal.js';
import type { Threshold } from './threshold.js';
import type { Forecast } from './time-to-full.js';
import type { Warning } from './warning.js';

/** What a removal takes away. */
export type RemovalKind = 'container' | 'sandbox' | 'image' | 'pod-logs' | 'pod-volumes';

/** One thing that is or would be removed. */
export interface RemovalSubject {
  readonly what: RemovalKind;
  readonly id: string;
  /** Name for people: `namespace/pod/container`, or an image's tag. */
  readonly label: string;
  /** Why it goes. */
  readonly reason: string;
  /** Bytes that the runtime says it holds; null = it does not say. Never what its removal frees. */
  readonly claimed: Bytes | null;
}

/** Available amounts of the signals at stake, in one look. */
export type Availability = Readonly<Partial<Record<Signal, number>>>;

/** What must be measured before a reclaim is done: each signal at stake with its target. */
export interface Goal {
  readonly signal: Signal;
  readonly line: number;
  readonly target: number;
}

/** What became of a collection. */
export type ReclaimOutcome =
  /** Line plus minimum reclaim was measured again. */
  | 'reached'
  /** Everything that may go has gone, and it was not enough. */
  | 'exhausted'
  /** Removals succeeded, and five in a row changed nothing that can be measured. */
  | 'no-effect'
  /** The runtime could not be asked: what cannot be listed cannot be collected. */
  | 'runtime-failed'
  /** Nobody answers at the runtime's socket. */
  | 'runtime-lost'
  /** The daemon ends. */
  | 'aborted';

/** How the end of a pod went; only `gone` is an eviction. */
export type KillOutcome =
  | { readonly kind: 'gone' }
  /** Stopped as far as the runtime says; its remains could not be removed. */
  | { readonly kind: 'remains'; readonly message: string }
  /** Its processes are gone, and the runtime has not recorded it: on a full disk it has no room to. It tries again by itself. */
  | { readonly kind: 'unrecorded'; readonly message: string }
  /** Still running when the time was up; where nobody sees its processes it may be dead and its exit not recorded. */
  | { readonly kind: 'still-running'; readonly message: string }
  /** The runtime refused. */
  | { readonly kind: 'failed'; readonly message: string }
  /** The runtime could not be asked what became of it, and may not have been told: no fault of the pod's, and no eviction. */
  | { readonly kind: 'unverified'; readonly message: string };

/** Why ballast was given up: the disk was full, or the runtime found no room to record a removal or the end of a process. */
export type BallastReason = 'disk-full' | 'removal-failed' | 'stop-hangs';

/** What is wrong with the store. */
export type StoreTrouble =
  /** It cannot be read, now or for good: the daemon goes on as if it had no past. */
  | 'unreadable'
  /** Entries were not understood and are passed over. */
  | 'not-understood'
  /** What lay in its place was renamed, and a new store begun. */
  | 'set-aside'
  | 'full'
  | 'not-writing';

/** A pod in an event. */
export interface PodName {
  readonly uid: string;
  readonly label: string;
}

/**
 * The story of the daemon. Log, ledger and metrics read nothing else, and the state is a fold of it. Each event carries the
 * numbers that it was decided from.
 */
export type EvictionEvent = { readonly at: Instant } & (
  | { readonly kind: 'observed'; readonly sight: Sight; readonly layout: FsLayout }
  | {
      readonly kind: 'layout-changed';
      readonly from: FsLayout | null;
      readonly to: FsLayout;
      readonly quirk?: LayoutQuirk;
    }
  /** The kubelet's own refusal of a layout, with its feature for it switched off; the pass ends. */
  | { readonly kind: 'layout-refused'; readonly layout: FsLayout }
  /** A look that counts as none at all; the pass ends and nothing moves. */
  | { readonly kind: 'look-failed'; readonly message: string }
  | { readonly kind: 'notifiers-updated' }
  /** So many pods with storage limits of their own were measured; null = they could not be. */
  | { readonly kind: 'storage-limits-checked'; readonly pods: number | null }
  | { readonly kind: 'notifier-failed'; readonly notifier: string; readonly message: string }
  /** The kubelet's node event `EvictionThresholdMet`, sent by each pass that acts on a threshold. */
  | { readonly kind: 'threshold-served'; readonly threshold: Threshold; readonly resource: Resource }
  | { readonly kind: 'storage-limit-exceeded'; readonly pod: PodName; readonly violation: StorageViolation }
  | {
      readonly kind: 'storage-limit-served';
      readonly pod: PodName;
      readonly violation: StorageViolation;
      readonly graceSeconds: number;
      readonly status: EvictedPodStatus;
      readonly outcome: KillOutcome;
      readonly took: Milliseconds;
    }
  | { readonly kind: 'layout-unknown'; readonly message: string; readonly kept: FsLayout | null }
  | { readonly kind: 'image-path-fallback'; readonly path: string; readonly used: string }
  | {
      readonly kind: 'signal-unknown';
      readonly signal: Signal;
      readonly reason: UnknownReason;
      readonly detail: string;
    }
  | {
      readonly kind: 'signal-unknown-for-long';
      readonly signal: Signal;
      readonly reason: UnknownReason;
      readonly detail: string;
      readonly since: Instant;
    }
  | { readonly kind: 'signal-known'; readonly signal: Signal; readonly unknownFor: Milliseconds }
  | { readonly kind: 'available-above-capacity'; readonly clamped: Clamped }
  | {
      readonly kind: 'line-above-capacity';
      readonly threshold: Threshold;
      readonly line: number;
      readonly capacity: number;
    }
  | {
      readonly kind: 'threshold-met' | 'threshold-cleared';
      readonly threshold: Threshold;
      readonly observation: Observation;
      readonly line: number;
      readonly target: number;
    }
  | {
      /** Told anew each time that the time to full has halved. */
      readonly kind: 'will-be-full';
      readonly signal: Signal;
      readonly observation: Observation;
      readonly forecast: Forecast;
    }
  | { readonly kind: 'fills-no-more'; readonly signal: Signal }
  | {
      /** Garbage is collected before any line is met, as the operator asked for; no pod goes for it. */
      readonly kind: 'collecting-ahead';
      readonly signal: Signal;
      readonly forecast: Forecast;
      /** What was asked for: collect when full within this. */
      readonly within: Milliseconds;
    }
  | { readonly kind: 'condition-on' | 'condition-off'; readonly condition: NodeCondition }
  | {
      readonly kind: 'reclaim-started';
      readonly threshold: Threshold;
      readonly resource: Resource;
      readonly goals: readonly Goal[];
      readonly available: Availability;
      readonly steps: readonly string[];
    }
  | {
      /** The plan of one collector, before anything of it is done: it may end early, and never goes beyond. */
      readonly kind: 'reclaim-planned';
      readonly what: RemovalKind;
      readonly subjects: readonly RemovalSubject[];
    }
  | {
      readonly kind: 'removed';
      readonly subject: RemovalSubject;
      readonly availableBefore: Availability;
      readonly availableAfter: Availability;
      readonly took: Milliseconds;
    }
  | {
      readonly kind: 'removal-failed';
      readonly subject: RemovalSubject;
      readonly message: string;
      /** The runtime said that it removed it, and still lists it. */
      readonly isStillListed?: true;
      readonly took: Milliseconds;
    }
  | { readonly kind: 'removal-skipped'; readonly subject: RemovalSubject; readonly why: string }
  | {
      readonly kind: 'batch-measured';
      readonly removals: number;
      readonly claimed: Bytes | null;
      readonly availableBefore: Availability;
      readonly availableAfter: Availability;
      readonly waited: Milliseconds;
    }
  | ImageNews
  /** The runtime could not be made to free at once what removed containers held: it is waited for. */
  | { readonly kind: 'space-not-freed'; readonly message: string }
  | { readonly kind: 'list-failed'; readonly what: string; readonly message: string }
  | {
      readonly kind: 'reclaim-finished';
      readonly threshold: Threshold;
      readonly outcome: ReclaimOutcome;
      readonly goals: readonly Goal[];
      readonly availableBefore: Availability;
      readonly availableAfter: Availability;
      readonly claimed: Bytes;
      readonly removed: Readonly<Partial<Record<RemovalKind, number>>>;
      readonly took: Milliseconds;
    }
  | {
      readonly kind: 'would-remove';
      readonly subject: RemovalSubject;
      /** Past the cut line: only to replace what fails. */
      readonly onlyIfNeeded: boolean;
    }
  | {
      readonly kind: 'would-evict';
      readonly standing: Standing;
      readonly threshold: Threshold;
      readonly onlyIfNeeded: boolean;
    }
  | {
      readonly kind: 'eviction-decided';
      readonly pod: PodName;
      readonly threshold: Threshold;
      readonly observation: Observation;
      readonly line: number;
      readonly target: number;
      readonly ranking: readonly Standing[];
      readonly grace: Milliseconds;
      /** What the kubelet's manager would hand to its pod worker; absent in the reclaimd profile. */
      readonly graceOverrideSeconds?: number;
      readonly message: string;
      /** What the pod's status is to say; absent where nobody keeps it. */
      readonly status?: EvictedPodStatus;
      /** What the event of it is annotated with; absent where nobody keeps it. */
      readonly annotations?: Readonly<Record<string, string>>;
    }
  | {
      /** A hard line was missed while a pod ended with a soft grace: the rest of its grace is cut. */
      readonly kind: 'eviction-hastened';
      readonly pod: PodName;
      readonly threshold: Threshold;
    }
  /** A pod that was told to end is still there when it should be gone; it is looked at again until it is. */
  | { readonly kind: 'pod-lingers'; readonly pod: PodName; readonly outcome: KillOutcome }
  | {
      /** The runtime cannot record the end of a pod, as the disk is full: what was done so that it can. */
      readonly kind: 'stop-hangs';
      readonly pod: PodName;
      readonly filesystem: FilesystemName;
      readonly available: number;
      /** `nothing`: there was nothing to give up, so the runtime is waited for. */
      readonly freed: 'ballast' | 'garbage' | 'nothing';
    }
  | {
      /** The pass ends before the pod: what is still to come from it is waited for in the next ones. */
      readonly kind: 'kill-outstanding';
      readonly pod: PodName;
      readonly signal: Signal;
      readonly expected: number | null;
      readonly availableBefore: number;
      readonly waitUntil: Instant;
    }
  | {
      readonly kind: 'pod-killed';
      readonly pod: PodName;
      readonly signal: Signal;
      readonly expected: number | null;
      readonly availableBefore: number;
      readonly availableAfter: number;
      readonly waitUntil: Instant;
      readonly outcome: KillOutcome;
      readonly took: Milliseconds;
    }
  | {
      readonly kind: 'eviction-measured';
      readonly pod: PodName;
      readonly signal: Signal;
      readonly expected: number | null;
      readonly availableBefore: number;
      /** Null when the signal could not be seen until the wait was over. */
      readonly availableAfter: number | null;
      readonly missing: number;
      readonly endsSeries: boolean;
      readonly took: Milliseconds;
    }
  | {
      readonly kind: 'helpless';
      readonly reason: string;
      /** Whether it is that nobody may go or is worth it, and that was not said before. */
      readonly nobody?: true;
      readonly threshold: Threshold;
      readonly observation: Observation;
    }
  /** A pod goes before anything is collected: it fills the disk so fast that all garbage would last seconds only. */
  | {
      readonly kind: 'writer-goes-first';
      readonly pod: PodName;
      readonly signal: Signal;
      /** Bytes that all of it together may bring, at most. */
      readonly garbage: number;
      /** Bytes that the disk loses in a second. */
      readonly fillRate: number;
    }
  /** A pod is said to use more than its filesystem has in use: no number, so that its use counts as unknown. */
  | {
      readonly kind: 'usage-impossible';
      readonly code: 'IMPOSSIBLE_USAGE';
      readonly pod: PodName;
      readonly signal: Signal;
      readonly usage: number;
      readonly inUse: number;
    }
  | {
      readonly kind: 'ballast-laid';
      readonly filesystem: FilesystemName;
      readonly directory: string;
      readonly held: Bytes;
      /** An earlier run has left it. */
      readonly adopted: boolean;
      readonly took: Milliseconds;
    }
  | {
      readonly kind: 'ballast-released';
      readonly filesystem: FilesystemName;
      readonly directory: string;
      readonly reason: BallastReason;
      readonly held: Bytes;
      /** Null when the disk could not be seen. */
      readonly availableBefore: number | null;
      readonly availableAfter: number | null;
      readonly took: Milliseconds;
    }
  | {
      readonly kind: 'ballast-failed';
      readonly filesystem: FilesystemName;
      readonly directory: string;
      readonly doing: 'find' | 'lay' | 'release';
      readonly message: string;
    }
  /** What an earlier life of the daemon has saved. `images`: so many whose last use is known. */
  | { readonly kind: 'restored'; readonly remembered: Remembered; readonly images: number }
  /** Something about the store; nothing that the daemon does depends on it, but that it remembers after a restart. */
  | { readonly kind: 'store-trouble'; readonly trouble: StoreTrouble; readonly message: string }
  | { readonly kind: 'store-mended' }
  | { readonly kind: 'kubelet-beside'; readonly evicts: boolean }
  | { readonly kind: 'runtime-lost'; readonly message: string }
  | { readonly kind: 'runtime-back'; readonly name: string; readonly version: string; readonly downFor: Milliseconds }
  /** What pods are said to use was held against what is in use at all. */
  | { readonly kind: 'usage-checked' }
  /** What is said once when its state begins; see `Warning`. */
  | { readonly kind: 'warning'; readonly warning: Warning }
  | { readonly kind: 'pass-failed'; readonly message: string }
);

/** The event of one kind. */
export type EventOf<Kind extends EvictionEvent['kind'], Each = EvictionEvent> = Each extends {
  readonly kind: infer Kinds;
}
  ? Kind extends Kinds
    ? Each
    : never
  : never;

/** Filesystems in the order they are shown. */
export const FILESYSTEMS = ['nodefs', 'imagefs', 'containerfs'] as const satisfies readonly FilesystemName[];
