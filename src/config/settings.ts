import type { ProfileName } from '../eviction/policy.js';
import type { Threshold } from '../eviction/threshold.js';
import type { DiskReserve } from '../gc/disk-space.js';
import type { LogLimits } from '../gc/log-limits.js';
import type { OwnerScope } from '../gc/owner-scope.js';
import type { Bytes, Milliseconds } from '../units/units.js';

/** Which set of rules holds: ours, or the kubelet's with its quirks. */
export type Profile = ProfileName;

/** How much is logged; each level includes those after it. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** How a log line looks; `auto` is pretty on a terminal and JSON elsewhere. */
export type LogFormat = 'auto' | 'pretty' | 'json';

/** How many dead containers the periodic pass keeps. Mirrors the kubelet's container GC policy and its three flags. */
export interface ContainerGcSettings {
  /** Age since creation at which a dead container may go; an equal age is old enough. */
  readonly minAge: Milliseconds;
  /** Dead ones kept per pod and container name; null = no limit. */
  readonly maxPerPodContainer: number | null;
  /** Dead ones kept in all; null = no limit. */
  readonly maxContainers: number | null;
  /** Whose rules the periodic run follows: those of today, or those from before CRI. */
  readonly rules: 'current' | 'docker-era';
}

/** Where links to container logs lie: as the kubelet has them (`/var/log/containers` where pods log in `/var/log/pods`), nowhere, or elsewhere. */
export type LogLinksSetting =
  | { readonly kind: 'auto' }
  | { readonly kind: 'none' }
  | { readonly kind: 'path'; readonly path: string };

/** Which loops run without pressure. `auto`: on a node where no kubelet was seen, since a kubelet does the same. */
export interface PeriodicCollectionSettings {
  /** Dead containers, idle sandboxes, logs of gone pods, and the clean-up after a death. */
  readonly containers: 'auto' | 'never';
  /** Images by the marks and by age; `always`: beside a kubelet too. */
  readonly images: 'auto' | 'always' | 'never';
  readonly logRotation: 'auto' | 'never';
}

/** How container logs are rotated. */
export interface ContainerLogSettings {
  /** Null = they are not: the size was negative. */
  readonly limits: LogLimits | null;
  /** Rotations under way at a time. */
  readonly workers: number;
  /** The pause between two looks at all logs. */
  readonly monitorInterval: Milliseconds;
}

/** The cgroup that holds all pods, as a kubelet makes it. */
export interface PodsCgroupSettings {
  /** The cgroup below which it lies. */
  readonly root: string;
  /** Who names it; `auto` = it is not known, both names are tried. */
  readonly driver: 'auto' | 'systemd' | 'cgroupfs';
  /** Off: pods lie in the root itself. */
  readonly perQos: boolean;
  /** What follows from these: where it may lie below the root of a hierarchy; the first that exists counts. */
  readonly names: readonly string[];
}

/** The guard that refuses new pods while a disk is nearly full, as the kubelet had it before it evicted. */
export interface OutOfDiskSettings {
  /** What is held back, per filesystem; null = there is no guard. */
  readonly reserve: DiskReserve | null;
  /** How long OutOfDisk stays after its last change. */
  readonly transition: Milliseconds;
}

/** How often the disks are looked at. */
export interface SamplingSettings {
  /** The pause while everything is far from its line. */
  readonly slowest: Milliseconds;
  /** The pause when a line is near or the disk fills fast. */
  readonly fastest: Milliseconds;
  /** Bytes per second that a disk is taken to fill with as long as nothing else was measured. */
  readonly assumedFillRate: Bytes;
}

/** Where log lines go and what they look like. */
export interface LogSettings {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Absolute path; null = standard output. */
  readonly file: string | null;
}

/**
 * The effective configuration: every value is there, checked and in its unit. `loadSettings` makes it; nothing changes it.
 * Each field is described, with its default and the reason, in `config/README.md`.
 */
export interface Settings {
  readonly profile: Profile;
  /** `unix:///run/containerd/containerd.sock` or an absolute path; null = look for the usual sockets. */
  readonly runtimeEndpoint: string | null;
  readonly runtimeRequestTimeout: Milliseconds;
  /** The directory whose filesystem is nodefs. */
  readonly rootDir: string;
  /** Where the pods' log directories lie. */
  readonly podLogsDir: string;
  /** Absolute path of static pod manifests, a directory or a file; null = none is read. */
  readonly staticPodPath: string | null;
  /** `http://…` where a kubelet lists its pods; null = nobody is asked. */
  readonly podsFrom: string | null;
  /** Whether that may be another machine. */
  readonly podsFromAnywhere: boolean;
  /** Configured thresholds in the kubelet's order: hard, soft, then the allocatable copies. */
  readonly thresholds: readonly Threshold[];
  /** What is held against node allocatable; with `pods` hard memory thresholds were copied for the pods' cgroup. */
  readonly enforceNodeAllocatable: readonly string[];
  readonly podsCgroup: PodsCgroupSettings;
  /** Whether a pass is made at once when the use of memory crosses a memory line. */
  readonly kernelMemcgNotification: boolean;
  readonly outOfDisk: OutOfDiskSettings;
  /** Whether missing hard signals were filled in with their defaults. */
  readonly mergeDefaultEvictionSettings: boolean;
  /** How long a condition stays after its line was last missed. */
  readonly pressureTransitionPeriod: Milliseconds;
  /**
   * The cap on a pod's own grace when it is evicted softly; null = the pod's own holds. The profile has decided already what
   * an unset, a zero and a negative value mean: reclaimd reads null, 0 and null; the kubelet reads 0 in all three, and its
   * pod worker gives one second.
   */
  readonly maxPodGracePeriod: Milliseconds | null;
  /** `evictionMaxPodGracePeriod` as configured, in seconds; negative is possible; null = not set. */
  readonly configuredMaxPodGraceSeconds: number | null;
  /** Whether pods and containers over their own storage limit are evicted. */
  readonly localStorageCapacityIsolation: boolean;
  readonly imageMinimumGCAge: Milliseconds;
  /** Null = unused images do not go by age alone. */
  readonly imageMaximumGCAge: Milliseconds | null;
  /** Disk usage in percent at which the image pass begins; 100 = never. */
  readonly imageGCHighThresholdPercent: number;
  /** Disk usage in percent down to which the image pass frees. */
  readonly imageGCLowThresholdPercent: number;
  readonly containerGC: ContainerGcSettings;
  readonly periodicCollection: PeriodicCollectionSettings;
  readonly containerLogs: ContainerLogSettings;
  readonly containerLogLinksDir: LogLinksSetting;
  /** A program of the operator's with its arguments, run after images were collected; empty = none. */
  readonly afterImageCollection: readonly string[];
  /** Whether images are remembered by runtime handler too. */
  readonly runtimeHandlerAwareImages: boolean;
  /** Whether the runtime's container events are used as hints to look. */
  readonly usesRuntimeEvents: boolean;
  /** The image that sandboxes run on, as the runtime's configuration names it; null = the runtime's pinning must do. */
  readonly sandboxImage: string | null;
  /** Images removed at most in one periodic pass; null = no bound. */
  readonly maxRemovalsPerPass: number | null;
  /** Patterns of images that are never removed. */
  readonly protectedImages: readonly string[];
  /** Regular expressions of the same; checked, so each compiles with the flag `u`. */
  readonly protectedImageExpressions: readonly string[];
  /** Labels, `key` or `key=value`, that keep an image. */
  readonly protectedImageLabels: readonly string[];
  /** So many of each repository stay; 0 = none for that. */
  readonly imagesKeptPerRepository: number;
  /** Namespaces whose pods are never evicted for node pressure. */
  readonly protectedNamespaces: readonly string[];
  /** Priority from which pods are never evicted; null = the critical ones alone. */
  readonly protectedPriority: number | null;
  /** The annotation that keeps a pod when it says `true`; null = none does. */
  readonly protectedAnnotation: string | null;
  /** Whose garbage is removed. */
  readonly ownerScope: OwnerScope;
  /** Whether to work on a node where a kubelet evicts too. */
  /** Bytes kept on each watched disk only to be given up when it is full; null = none. */
  readonly ballast: Bytes | null;
  /** Absolute path of what is remembered over a restart; null = nothing is, as always under the kubelet's profile. */
  readonly stateFile: string | null;
  readonly evictBesideKubelet: boolean;
  readonly sampling: SamplingSettings;
  /** Garbage is collected ahead of any line when a filesystem will be full within this; null = never. */
  readonly collectWhenFullWithin: Milliseconds | null;
  readonly log: LogSettings;
}
