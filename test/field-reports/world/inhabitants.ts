import type { Instant } from '../../../src/units/units.js';
import type { ContainerItem, LogDirItem, PodItem, SandboxItem } from '../format/world-items.js';

/** A pod as its objects name it. */
export interface PodIdentity {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** A file in a container's log directory. */
export interface LogFile {
  /** As the scenario names it; on the disk the current log has the number of the attempt. */
  readonly givenName: string;
  readonly path: string;
  readonly bytes: number;
}

export interface LivingSandbox {
  readonly item: SandboxItem;
  readonly pod: PodIdentity;
  readonly createdAt: Instant;
}

export interface LivingContainer {
  readonly item: ContainerItem;
  readonly pod: PodIdentity | null;
  readonly name: string;
  readonly attempt: number;
  state: ContainerItem['state'];
  readonly sandboxId: string;
  readonly createdAt: Instant;
  readonly finishedAt: Instant | null;
  /** Empty for a container without a pod. */
  readonly logPath: string;
  logFiles: readonly LogFile[];
}

export interface LivingPod {
  readonly item: PodItem;
  readonly identity: PodIdentity;
  phase: PodItem['phase'];
  volumes: PodItem['volumes'];
  /** Names of termination message files that earlier attempts left, by container. */
  terminationFiles: ReadonlyMap<string, readonly string[]>;
}

export interface LivingLogDir {
  readonly item: LogDirItem;
  readonly changedAt: Instant;
}

/** Namespace and name of `namespace/name`. */
export function splitName(name: string): { readonly namespace: string; readonly name: string } {
  const at = name.indexOf('/');
  return { namespace: name.slice(0, at), name: name.slice(at + 1) };
}

/** The directory of a pod's logs. */
export function logDirOf({ namespace, name, uid }: PodIdentity): string {
  return `${namespace}_${name}_${uid}`;
}
