import * as v from 'valibot';
import type { Newcomer } from '../../../src/eviction/admission.js';
import {
  type Amounts,
  type ContainerSpec,
  localVolumeNames,
  type PodSpec,
  type VolumeSpec,
} from '../../../src/eviction/pod-spec.js';
import type { DiskUse, PodStats } from '../../../src/eviction/pod-stats.js';
import type { PodRecord, PodSource } from '../../../src/ports/pods.js';
import { milliseconds } from '../../../src/units/units.js';
import { AMOUNT, numberOf, quantityOf } from './eviction-notation.js';

const AMOUNTS = v.record(v.string(), AMOUNT);
const NOTHING = v.strictObject({});
const VOLUME = v.strictObject({
  name: v.string(),
  emptyDir: v.optional(v.strictObject({ sizeLimit: v.optional(AMOUNT), medium: v.optional(v.string(), '') })),
  configMap: v.optional(NOTHING),
  gitRepo: v.optional(NOTHING),
  hostPath: v.optional(NOTHING),
  secret: v.optional(NOTHING),
  persistentVolumeClaim: v.optional(NOTHING),
  used: v.optional(AMOUNT),
  usedInodes: v.optional(AMOUNT),
});
const CONTAINER = v.strictObject({
  name: v.string(),
  kind: v.optional(v.picklist(['regular', 'init', 'sidecar', 'ephemeral']), 'regular'),
  requests: v.optional(AMOUNTS, {}),
  limits: v.optional(AMOUNTS, {}),
  usage: v.optional(
    v.strictObject({
      rootfs: v.optional(AMOUNT),
      logs: v.optional(AMOUNT),
      rootfsInodes: v.optional(AMOUNT),
      logsInodes: v.optional(AMOUNT),
    }),
  ),
});

/** The keys of a pod; a step may overwrite any of them. */
export const POD_KEYS = {
  name: v.string(),
  namespace: v.optional(v.string()),
  priority: v.optional(v.nullable(v.number())),
  /** Of the only container, in cases that name none. */
  requests: v.optional(AMOUNTS),
  limits: v.optional(AMOUNTS),
  containers: v.optional(v.array(CONTAINER)),
  volumes: v.optional(v.array(VOLUME)),
  podRequests: v.optional(AMOUNTS),
  podLimits: v.optional(AMOUNTS),
  overhead: v.optional(AMOUNTS),
  usage: v.optional(
    v.nullable(
      v.strictObject({
        memoryWorkingSet: v.optional(AMOUNT),
        processes: v.optional(AMOUNT),
        /** Of the whole pod, in the unit that is ranked, in cases that name no containers. */
        rootfs: v.optional(AMOUNT),
        logs: v.optional(AMOUNT),
        localVolumes: v.optional(AMOUNT),
      }),
    ),
  ),
  noStats: v.optional(v.literal(true)),
  ephemeralStorageUsed: v.optional(AMOUNT),
  terminationGracePeriodSeconds: v.optional(v.number()),
  configSource: v.optional(v.picklist(['api', 'file', 'http'])),
  mirror: v.optional(v.literal(true)),
  tolerations: v.optional(
    v.array(
      v.strictObject({
        key: v.optional(v.string(), ''),
        operator: v.optional(v.picklist(['Exists', 'Equal']), 'Equal'),
        value: v.optional(v.string(), ''),
        effect: v.optional(v.string(), ''),
      }),
    ),
  ),
};
export const POD = v.strictObject(POD_KEYS);
/** A pod whose name plays no part. */
export const NAMELESS_POD = v.strictObject({ ...POD_KEYS, name: v.optional(v.string(), 'pod') });
export type WrittenPod = v.InferOutput<typeof POD>;

/** A pod of a case as the product knows pods, with what is measured of it; null = the stats know nothing of it. */
export interface CasePod {
  readonly record: PodRecord & { readonly spec: PodSpec };
  readonly stats: PodStats | null;
  isLocal(volume: string): boolean;
}

/** Reads a pod. `unit` is that of disk use told for the whole pod. */
export function casePod(pod: WrittenPod, unit: keyof DiskUse = 'bytes'): CasePod {
  const spec = specOf(pod);
  const local = localVolumeNames(spec);
  const source: PodSource | null = pod.configSource ?? null;
  return {
    record: {
      uid: `${pod.namespace ?? 'default'}/${pod.name}`,
      namespace: pod.namespace ?? 'default',
      name: pod.name,
      source,
      isMirror: pod.mirror ?? false,
      priority: pod.priority ?? null,
      storageRequest: null,
      memoryRequest: null,
      spec,
      terminationGrace:
        pod.terminationGracePeriodSeconds === undefined
          ? null
          : milliseconds(pod.terminationGracePeriodSeconds * 1_000),
      isFinished: false,
      containers: [],
      sandboxes: [],
      annotations: {},
      labels: {},
    },
    stats: pod.usage === null || pod.noStats === true ? null : statsOf(pod, unit),
    isLocal: (volume) => local.has(volume) || volume === WHOLE,
  };
}

/** A pod that asks to be let in. */
export function newcomerOf(pod: WrittenPod): Newcomer {
  return casePod(pod).record;
}

/** Stands for what a case tells of a pod as a whole. */
const WHOLE = '(whole pod)';

function specOf(pod: WrittenPod): PodSpec {
  const only = { name: WHOLE, kind: 'regular' as const, requests: pod.requests ?? {}, limits: pod.limits ?? {} };
  return {
    containers: (pod.containers ?? [only]).map(
      ({ name, kind, requests, limits }): ContainerSpec => ({
        name,
        kind,
        requests: amountsOf(requests),
        limits: amountsOf(limits),
      }),
    ),
    podRequests: amountsOf(pod.podRequests),
    podLimits: amountsOf(pod.podLimits),
    overhead: amountsOf(pod.overhead),
    volumes: (pod.volumes ?? []).map(volumeOf),
    tolerations: (pod.tolerations ?? []).map(({ key, operator, value, effect }) => ({
      key: key === '' ? null : key,
      operator,
      value,
      effect: effect === '' ? null : effect,
    })),
  };
}

function volumeOf(volume: v.InferOutput<typeof VOLUME>): VolumeSpec {
  const { name, emptyDir } = volume;
  if (emptyDir !== undefined) {
    const sizeLimit = emptyDir.sizeLimit === undefined ? null : quantityOf(emptyDir.sizeLimit);
    return { kind: 'emptyDir', name, medium: emptyDir.medium, sizeLimit };
  }
  const kind = (['configMap', 'gitRepo', 'hostPath'] as const).find((each) => volume[each] !== undefined);
  return { kind: kind ?? 'other', name };
}

function statsOf(pod: WrittenPod, unit: keyof DiskUse): PodStats {
  const { usage } = pod;
  const whole = (amount: string | number | undefined): DiskUse => ({
    bytes: null,
    inodes: null,
    [unit]: amount === undefined ? null : numberOf(amount),
  });
  const isToldAsWhole = pod.containers === undefined;
  return {
    memoryWorkingSet: numberOrNull(usage?.memoryWorkingSet),
    processes: numberOrNull(usage?.processes),
    ephemeralStorage: numberOrNull(pod.ephemeralStorageUsed),
    containers: isToldAsWhole
      ? [{ name: WHOLE, memoryWorkingSet: null, rootfs: whole(usage?.rootfs), logs: whole(usage?.logs) }]
      : (pod.containers ?? []).flatMap(({ name, usage: own }) =>
          own === undefined
            ? []
            : [
                {
                  name,
                  memoryWorkingSet: null,
                  rootfs: { bytes: numberOrNull(own.rootfs), inodes: numberOrNull(own.rootfsInodes) },
                  logs: { bytes: numberOrNull(own.logs), inodes: numberOrNull(own.logsInodes) },
                },
              ],
        ),
    volumes: [
      ...(usage?.localVolumes === undefined ? [] : [{ name: WHOLE, use: whole(usage.localVolumes) }]),
      ...(pod.volumes ?? [])
        .filter(({ used, usedInodes }) => used !== undefined || usedInodes !== undefined)
        .map(({ name, used, usedInodes }) => ({
          name,
          use: { bytes: numberOrNull(used), inodes: numberOrNull(usedInodes) },
        })),
    ],
  };
}

function amountsOf(written: Readonly<Record<string, string | number>> = {}): Amounts {
  return Object.fromEntries(Object.entries(written).map(([name, amount]) => [name, quantityOf(amount)]));
}

function numberOrNull(amount: string | number | undefined): number | null {
  return amount === undefined ? null : numberOf(amount);
}
