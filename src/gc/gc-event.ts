import type { RemovalKind, RemovalSubject } from '../eviction/event.js';
import type { ImageNews } from '../eviction/image-text.js';
import type { Warning } from '../eviction/warning.js';
import type { Instant, Milliseconds } from '../units/units.js';
import type { RoomAnswer } from './disk-space.js';

/** Why a node event is recorded. The names are interfaces: they are what the kubelet writes. */
export type NodeEventReason =
  | 'ContainerGCFailed'
  | 'ImageGCFailed'
  | 'FreeDiskSpaceFailed'
  | 'InvalidDiskCapacity'
  | 'InvalidImageID';

/** The step of `gc-step-failed` that is the operator's program after image collection. */
export const HOOK_STEP = 'the program after image collection';

/** What collecting takes away: beside what reclaiming does, links in the directory of container logs, and log files. */
export interface GcSubject extends Omit<RemovalSubject, 'what'> {
  readonly what: RemovalKind | 'log-link' | 'log';
}

/** How a run is logged: the number is the kubelet's verbosity. `error-first` may only mean that there are no statistics yet. */
export type RunLog = 'error' | 'error-first' | 'error-repeated' | 'info-1' | 'info-4';

/** The two periodic collectors. */
export type CollectorName = 'container' | 'image';

/** The label of `image_garbage_collected_total` that a removed image counts under. */
export type ImagePass = 'age' | 'space';

/** The story of periodic collecting, log rotation and clean-up after a death. */
export type GcEvent = { readonly at: Instant } & (
  | {
      readonly kind: 'collected';
      readonly subject: GcSubject;
      readonly took: Milliseconds;
      /** Null for all but images. */
      readonly countedAs: ImagePass | null;
    }
  | {
      readonly kind: 'not-collected';
      readonly subject: GcSubject;
      readonly message: string;
      /** The runtime said that it removed it, and still lists it. */
      readonly isStillListed?: true;
      readonly took: Milliseconds;
      readonly countedAs: ImagePass | null;
    }
  /** A last look showed that it must not go. */
  | { readonly kind: 'spared'; readonly subject: GcSubject; readonly why: string }
  /** A Warning event on the node object. */
  | { readonly kind: 'node-event'; readonly reason: NodeEventReason; readonly message: string }
  | {
      readonly kind: 'gc-run';
      readonly collector: CollectorName;
      readonly log: RunLog;
      /** Null after a success. */
      readonly message: string | null;
      readonly took: Milliseconds;
    }
  | { readonly kind: 'log-rotated'; readonly container: string; readonly path: string; readonly rotatedTo: string }
  | { readonly kind: 'log-not-rotated'; readonly container: string; readonly message: string }
  /** The operator's program after image collection has run. */
  | { readonly kind: 'hook-ran'; readonly program: string; readonly took: Milliseconds }
  /** The node condition OutOfDisk, told when it changes. */
  | {
      readonly kind: 'out-of-disk';
      readonly isOut: boolean;
      readonly answers: Readonly<Record<'runtime' | 'root', RoomAnswer>>;
    }
  /** More was asked for than a queue takes: periodic collecting catches up. */
  | { readonly kind: 'gc-dropped'; readonly what: string; readonly message: string }
  | ImageNews
  /** What is said once when its state begins; see `Warning`. */
  | { readonly kind: 'warning'; readonly warning: Warning }
  /** Something outside failed that ends this step and no more. */
  | { readonly kind: 'gc-step-failed'; readonly step: string; readonly message: string }
);
