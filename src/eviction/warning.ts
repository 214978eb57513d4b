import type { FilesystemName, NodeCondition, Signal } from './signal.js';
import { SIGNALS } from './signal.js';

/** The code that a warning of the running daemon carries, so that an alert can be tied to it. Each has one meaning. */
export type WarningCode =
  | 'ADMISSION_REJECTED'
  | 'AVAILABLE_ABOVE_CAPACITY'
  | 'IMAGEFS_NOT_WATCHED'
  | 'IMAGEFS_PATH_FALLBACK'
  | 'IMAGE_GC_INSUFFICIENT'
  | 'IMAGE_REF_UNRESOLVED'
  | 'IMAGE_STILL_PRESENT'
  | 'IMPOSSIBLE_USAGE'
  | 'INVALID_CAPACITY'
  | 'NO_EVICTABLE_POD'
  | 'NO_OBSERVATION'
  | 'PROTECTED_IMAGES_HOLD_SPACE'
  | 'PROTECT_PATTERN_UNUSED'
  | 'REMOVALS_DO_NOT_HELP'
  | 'REMOVE_FAILED'
  | 'RUNTIME_TIMEOUT'
  | 'SIGNAL_NOT_APPLICABLE'
  | 'SOFT_NOT_ABOVE_HARD'
  | 'SPACE_UNACCOUNTED'
  | 'THRESHOLD_ABOVE_CAPACITY'
  | 'THRESHOLD_MOST_OF_DISK'
  | 'USAGE_NOT_EXPLAINED'
  | 'USAGE_NOT_OWNED_BY_PODS';

/** An object that could not be removed, and what was said of it. */
export interface FailedRemoval {
  readonly id: string;
  readonly label: string;
  readonly message: string;
}

/** What is said once when its state begins, with the numbers that say so. */
export type Warning =
  | { readonly code: 'REMOVE_FAILED'; readonly what: string; readonly failures: readonly FailedRemoval[] }
  | {
      readonly code: 'AVAILABLE_ABOVE_CAPACITY';
      readonly filesystem: FilesystemName;
      readonly available: number;
      readonly capacity: number;
    }
  | { readonly code: 'IMAGE_STILL_PRESENT'; readonly id: string; readonly label: string }
  | { readonly code: 'REMOVALS_DO_NOT_HELP'; readonly removals: number }
  | { readonly code: 'RUNTIME_TIMEOUT'; readonly call: string; readonly message: string }
  | {
      readonly code: 'IMAGE_GC_INSUFFICIENT';
      readonly unit: 'bytes' | 'inodes';
      readonly wanted: number;
      readonly freed: number;
      /** Images that are listed, and those of them that are in use. */
      readonly images: number;
      readonly inUse: number;
    }
  | { readonly code: 'SIGNAL_NOT_APPLICABLE'; readonly signal: Signal }
  | {
      readonly code: 'SOFT_NOT_ABOVE_HARD';
      readonly signal: Signal;
      readonly soft: number;
      readonly hard: number;
    }
  | {
      readonly code: 'THRESHOLD_MOST_OF_DISK';
      readonly signal: Signal;
      /** As configured. */
      readonly limit: string;
      readonly line: number;
      readonly capacity: number;
    }
  | {
      readonly code: 'IMAGEFS_NOT_WATCHED';
      /** Those that no threshold is set for. */
      readonly signals: readonly Signal[];
      readonly available: number;
      readonly capacity: number;
      readonly isNearlyFull: boolean;
    }
  /** Pods would have to go; those that may hold less than half of what is missing. */
  | {
      readonly code: 'USAGE_NOT_OWNED_BY_PODS';
      readonly signal: Signal;
      readonly held: number;
      readonly missing: number;
      readonly pods: number;
    }
  /** Pods would have to go; images, layers, logs and volumes make less than half of what is in use. */
  | {
      readonly code: 'USAGE_NOT_EXPLAINED';
      readonly filesystem: FilesystemName;
      readonly used: number;
      readonly unexplained: number;
      /** Of these, files without a name that are still open. */
      readonly deletedOpen: number;
    }
  /** Pods would have to go; the runtime counts far more as used than it lists. */
  | {
      readonly code: 'SPACE_UNACCOUNTED';
      readonly reported: number;
      readonly listed: number;
      readonly used: number;
    }
  | {
      readonly code: 'ADMISSION_REJECTED';
      readonly owner: string;
      readonly pods: number;
      readonly conditions: readonly NodeCondition[];
    };

/** A warning as a sentence for people. Measured amounts stand in it as plain integers, so that they can be searched for. */
export function warningText(warning: Warning): string {
  switch (warning.code) {
    case 'REMOVE_FAILED':
      return `${warning.failures.length} ${warning.what} could not be removed and ${warning.failures.length === 1 ? 'is' : 'are'} left alone for now: ${failuresText(warning.failures)}`;
    case 'AVAILABLE_ABOVE_CAPACITY':
      return `${warning.filesystem} reports ${warning.available} bytes available, more than its capacity of ${warning.capacity}; taken as that`;
    case 'IMAGE_STILL_PRESENT':
      return `the runtime said that it removed image ${warning.label} (${warning.id}), and it is still listed`;
    case 'REMOVALS_DO_NOT_HELP':
      return `${warning.removals} removals in a row changed nothing that can be measured, so the others are left alone`;
    case 'RUNTIME_TIMEOUT':
      return `the runtime did not answer ${warning.call} in time: ${warning.message}`;
    case 'IMAGE_GC_INSUFFICIENT':
      return (
        `collecting images was to free ${warning.wanted} ${warning.unit} and freed ${warning.freed}: ` +
        `of ${warning.images} images ${warning.inUse} are in use; something else fills the disk`
      );
    case 'SIGNAL_NOT_APPLICABLE':
      return `${warning.signal} has a threshold that can never be met: the filesystem counts no inodes`;
    case 'SOFT_NOT_ABOVE_HARD':
      return `the soft line of ${warning.signal}, ${warning.soft}, is not above the hard one, ${warning.hard}: the hard one always comes first`;
    case 'THRESHOLD_MOST_OF_DISK':
      return (
        `the threshold ${warning.signal} < ${warning.limit} is ${warning.line} of ${warning.capacity}, more than half of all there is: ` +
        'pods go while most of it is free'
      );
    case 'IMAGEFS_NOT_WATCHED':
      return (
        `images lie on a disk of their own that no threshold watches (${warning.signals.join(', ')} not set)` +
        (warning.isNearlyFull ? ` and it is nearly full: ${warning.available} of ${warning.capacity} bytes left` : '')
      );
    case 'USAGE_NOT_OWNED_BY_PODS':
      return (
        `${warning.missing} ${unitOf(warning.signal)} are missing and the ${warning.pods} pods that may go hold ${warning.held} together: ` +
        'the space is not theirs'
      );
    case 'USAGE_NOT_EXPLAINED':
      return (
        `of ${warning.used} bytes in use on ${warning.filesystem} files do not explain ${warning.unexplained}; ` +
        `${warning.deletedOpen} of these are deleted files that are still open`
      );
    case 'SPACE_UNACCOUNTED':
      return (
        `the runtime reports ${warning.reported} bytes in use and lists images and layers of ${warning.listed}: ` +
        'what it holds beside them may be leftovers'
      );
    case 'ADMISSION_REJECTED':
      return `refused ${warning.pods} ${warning.pods === 1 ? 'pod' : 'pods'} of ${warning.owner}: ${warning.conditions.length === 0 ? 'the node has not been looked at yet' : warning.conditions.join(', ')}`;
  }
}

/** How many objects a sentence names. */
const NAMED = 20;

function failuresText(failures: readonly FailedRemoval[]): string {
  const named = failures.slice(0, NAMED).map(({ id, message }) => `${id} (${message})`);
  return `${named.join('; ')}${failures.length > NAMED ? `; and ${failures.length - NAMED} more` : ''}`;
}

/** The unit of a signal, as it follows a number. */
export function unitOf(signal: Signal): string {
  return SIGNALS[signal].unit === 'bytes' ? 'bytes' : SIGNALS[signal].resource;
}
