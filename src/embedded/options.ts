import type { ContainerConfig, PodSandboxConfig } from '../proto/generated/cri.js';

/** The runtimes that the embedded one can behave as. */
export type Behaviour = 'containerd-1.6' | 'containerd-2' | 'cri-o';

/** What differs between runtimes and matters to an eviction manager. */
export interface BehaviourTraits {
  /** Fills `pinned` for the sandbox image. */
  readonly pins: boolean;
  /** Has GetContainerEvents. */
  readonly events: boolean;
  /** Has the Stream* lists. */
  readonly streams: boolean;
  /** Has RuntimeConfig. */
  readonly runtimeConfig: boolean;
  /** StopContainer and StopPodSandbox of an unknown id succeed (else NOT_FOUND). */
  readonly stopUnknownSucceeds: boolean;
  /** Container.image_id is filled. */
  readonly imageId: boolean;
  /** Mount.image works. */
  readonly imageVolumes: boolean;
  /** ImageFsInfo names a container filesystem on a device of its own. */
  readonly splitDisks: boolean;
  readonly runtimeName: string;
  readonly runtimeVersion: string;
}

/** The traits of each behaviour, as measured on the real runtimes; `cri-o` stands for split disks and the plain lists. */
export const BEHAVIOURS = {
  'containerd-1.6': {
    pins: false,
    events: false,
    streams: false,
    runtimeConfig: false,
    stopUnknownSucceeds: false,
    imageId: false,
    imageVolumes: false,
    splitDisks: false,
    runtimeName: 'containerd',
    runtimeVersion: '1.6.20-embedded',
  },
  'containerd-2': {
    pins: true,
    events: true,
    streams: true,
    runtimeConfig: true,
    stopUnknownSucceeds: true,
    imageId: true,
    imageVolumes: true,
    splitDisks: false,
    runtimeName: 'containerd',
    runtimeVersion: '2.4.0-embedded',
  },
  'cri-o': {
    pins: true,
    events: false,
    streams: false,
    runtimeConfig: true,
    stopUnknownSucceeds: true,
    imageId: true,
    imageVolumes: true,
    splitDisks: true,
    runtimeName: 'cri-o',
    runtimeVersion: '1.34.0-embedded',
  },
} as const satisfies Record<Behaviour, BehaviourTraits>;

/** A layer of an image. Layers with equal arguments have equal bytes, so images share them. */
export interface LayerContent {
  /** Chooses the bytes. */
  readonly seed: string;
  /** Bytes of one incompressible file; 0 for none. */
  readonly bytes: number;
  /** That many one-byte files beside it: eats inodes. */
  readonly files?: number;
}

/** An image to make known to the runtime. */
export interface EmbeddedImage {
  readonly name: string;
  readonly layers: readonly LayerContent[];
  /** What a container of it runs when it is not told; forever asleep without. */
  readonly command?: readonly string[];
  /** Labels of its configuration; none without. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** How the disk under the runtime comes about. `auto`: the best that this process may have. */
export type DiskMeans = 'auto' | 'mounted' | 'namespace' | 'accounted';

/** The small disks. */
export interface DiskOptions {
  readonly filesystem?: 'tmpfs' | 'ext4' | 'xfs';
  /** Bytes of each disk; 512 MiB unless said. */
  readonly sizeBytes?: number;
  /** Inodes of each disk; one for each 16 KiB unless said. XFS makes its own. */
  readonly inodes?: number;
  readonly means?: DiskMeans;
  /**
   * `shared`: everything on one disk. `image-disk`: images and writable layers on one, volumes and logs on another.
   * `split`: images on one; layers, volumes and logs on another. By default what the behaviour says.
   */
  readonly layout?: 'shared' | 'image-disk' | 'split';
}

/** Where time comes from; the real clock unless said. Milliseconds since the Unix epoch. */
export type Now = () => number;

/** Options of `startEmbeddedRuntime`. */
export interface EmbeddedRuntimeOptions {
  readonly behaviour?: Behaviour;
  readonly disk?: DiskOptions;
  /** Path of the socket; inside the run's own private directory unless said. */
  readonly socketPath?: string;
  /** Under which directory the run's own directory is made; the system's temporary directory unless said. */
  readonly baseDirectory?: string;
  /** Chooses ids, list orders and delays. */
  readonly seed?: number;
  readonly now?: Now;
  /** Name of the image that every pod sandbox needs; imported at the start. */
  readonly sandboxImage?: string;
  /** Milliseconds between two refreshes of the cached statistics; 10,000 as in containerd. */
  readonly statsCollectPeriodMs?: number;
  /** After how many milliseconds the space of a removed container comes back: fixed, or from a range. */
  readonly removalDelayMs?: number | { readonly from: number; readonly to: number };
  /** On a full disk the end of a process cannot be stored (`stuck`, as on XFS and tmpfs), or it can (`stored`). */
  readonly stopOnFullDisk?: 'stored' | 'stuck';
  /** First delay before storing an end is tried again; doubles up to 17 s. 1,000 as in containerd. */
  readonly exitRetryMs?: number;
  /** How long importing or pulling an image takes at least, in milliseconds. */
  readonly pullMs?: number;
  /** Fabricated entries without real bytes, for benchmarks of long lists. */
  readonly preload?: { readonly containers?: number; readonly images?: number };
}

/** Annotations by which a container asks for a program of the embedded runtime instead of a command. */
export const ANNOTATIONS = {
  /** Writes that many bytes each second until it is stopped. */
  writeBytesPerSecond: 'embedded.reclaimd/write-bytes-per-second',
  /** Creates that many one-byte files each second until it is stopped. */
  writeFilesPerSecond: 'embedded.reclaimd/write-files-per-second',
  /** Stops writing after that many bytes (the container goes on). */
  writeLimitBytes: 'embedded.reclaimd/write-limit-bytes',
  /** `layer` (default), `log`, `empty-dir` (the first mount), or an absolute path in the container. */
  writeTo: 'embedded.reclaimd/write-to',
  /** `exit` (default) or `ignore`: what the program does about SIGTERM. */
  onTerm: 'embedded.reclaimd/on-term',
} as const;

/** A pod for `startPod`. */
export interface EmbeddedPod {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly containers: readonly EmbeddedContainer[];
}

/** A container of a pod for `startPod`. */
export interface EmbeddedContainer {
  readonly name: string;
  readonly image: string;
  readonly attempt?: number;
  readonly command?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
  /** Writes that many bytes per second. */
  readonly writeBytesPerSecond?: number;
  /** Creates that many files per second. */
  readonly writeFilesPerSecond?: number;
  readonly writeLimitBytes?: number;
  readonly writeTo?: 'layer' | 'empty-dir' | 'log';
  readonly onTerm?: 'exit' | 'ignore';
  /** False leaves it created. */
  readonly start?: boolean;
}

/** A pod that `startPod` made. */
export interface StartedPod {
  readonly sandboxId: string;
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** By container name. */
  readonly containerIds: Readonly<Record<string, string>>;
  /** The directory on the node disk that plays the emptyDir, mounted at /cache in each container. */
  readonly emptyDir: string;
  readonly logDirectory: string;
  readonly sandboxConfig: PodSandboxConfig;
  readonly containerConfigs: readonly ContainerConfig[];
}
