import { join } from 'node:path';
import type { ContainerConfig, ContainerState, PodSandboxConfig, PodSandboxState } from '../proto/generated/cri.js';
import type { StoredLayer } from './content-store.js';
import type { ContainerProcess } from './process.js';
import type { Latch } from './waiting.js';

/** An image that the runtime knows. */
export interface ImageRecord {
  readonly id: string;
  readonly layers: readonly StoredLayer[];
  readonly size: number;
  readonly command: readonly string[];
  /** Absent = none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Names that lead to it; an image may lose its name to another. */
  tags: readonly string[];
}

/** A pod sandbox. */
export interface SandboxRecord {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAt: bigint;
  state: PodSandboxState;
  /** Whether its files were made on the disk. */
  readonly directory: string | null;
}

/** What was last sampled of a container's writable layer; timestamp 0 before the first sample. */
export interface LayerSample {
  readonly timestamp: bigint;
  readonly bytes: bigint;
  readonly inodes: bigint;
}

/** A container. */
export interface ContainerRecord {
  readonly id: string;
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  readonly imageId: string;
  readonly layers: readonly string[];
  readonly command: readonly string[];
  /** The layers of the images it mounts as volumes. */
  readonly volumeLayers: readonly string[];
  readonly createdAt: bigint;
  /** Null for a fabricated one. */
  readonly directory: string | null;
  readonly logPath: string;
  state: ContainerState;
  startedAt: bigint;
  finishedAt: bigint;
  exitCode: number;
  process: ContainerProcess | null;
  /** Opens when storing the end of the process was tried for the first time. */
  readonly endTried: Latch;
  /** Opens when the end of the process is stored and the state says EXITED. */
  readonly ended: Latch;
  /** The process is gone and its end could not be stored. */
  endUnstored: boolean;
  /** A StopContainer has given up waiting for that; later ones answer OK at once. */
  stopGaveUp: boolean;
  removing: boolean;
  sample: LayerSample;
}

/** Where the writable layer of a container lies under its directory. */
export function layerOf(directory: string): string {
  return join(directory, 'layer');
}

/** The number of nanoseconds since the epoch, as CRI tells time. */
export function nanoseconds(milliseconds: number): bigint {
  return BigInt(Math.round(milliseconds * 1000)) * 1000n;
}
