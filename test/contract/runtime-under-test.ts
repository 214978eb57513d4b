import type { ImageServiceClient, RuntimeServiceClient } from '../../src/proto/generated/cri.js';

/** A layer of a test image. Layers with equal arguments have equal bytes, so images share them. */
export type LayerSpec =
  /** A shell and the usual small tools. */
  | { readonly kind: 'busybox' }
  /** One incompressible file. */
  | { readonly kind: 'random'; readonly kib: number; readonly seed: string }
  /** Many one-byte files: eats inodes. */
  | { readonly kind: 'files'; readonly count: number; readonly seed: string };

/** A test image. */
export interface ImageSpec {
  readonly name: string;
  readonly layers: readonly LayerSpec[];
  readonly command?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** What the runtime is known to do differently by generation; the contract suite asserts each. */
export interface RuntimeTraits {
  /** Fills `pinned` for the sandbox image. */
  readonly pins: boolean;
  /** Has GetContainerEvents. */
  readonly events: boolean;
  /** Has the Stream* lists. */
  readonly streams: boolean;
  /** StopContainer and StopPodSandbox of an unknown id succeed (else NOT_FOUND). */
  readonly stopUnknownSucceeds: boolean;
  /** Container.image_id is filled. */
  readonly imageId: boolean;
  /** Mount.image (image volumes) works. */
  readonly imageVolumes: boolean;
  /** ImageFsInfo names container filesystems of their own (split disks). */
  readonly splitDisks: boolean;
  /** Can be made to free at once what removed containers held. */
  readonly freesOnDemand: boolean;
}

/** A running CRI runtime on a small disk of its own, real or embedded, as the contract and end-to-end tests see it. */
export interface RuntimeUnderTest {
  readonly title: string;
  readonly traits: RuntimeTraits;
  /** `unix:///…` */
  readonly endpoint: string;
  readonly runtime: RuntimeServiceClient;
  readonly images: ImageServiceClient;
  /** A directory on the small disk that images and writable layers fill; statfs it. */
  readonly diskPath: string;
  readonly sandboxImage: string;
  /** Makes the image known to the runtime; resolves to its id. */
  importImage(image: ImageSpec): Promise<string>;
  /** Kills the runtime without warning and starts it again on the same disk; containers live on. */
  restart(): Promise<void>;
  close(): Promise<void>;
}
