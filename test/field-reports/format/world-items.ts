import * as v from 'valibot';
import { AGO, BYTES, COUNT, POD_NAME, STORAGE, TEXT } from './common.js';

export const IMAGE = v.strictObject({
  id: TEXT,
  size: COUNT,
  tags: v.optional(v.array(TEXT), []),
  digests: v.optional(v.array(TEXT), []),
  pinned: v.optional(v.boolean(), false),
  unique: v.optional(COUNT),
  inodes: v.optional(COUNT, 0),
  seenAgo: v.optional(AGO, '1000h'),
  usedAgo: v.optional(v.union([v.literal('never'), AGO]), 'never'),
});

export const SANDBOX = v.strictObject({
  id: TEXT,
  pod: POD_NAME,
  state: v.picklist(['ready', 'notready']),
  createdAgo: v.optional(AGO, '1h'),
  attempt: v.optional(COUNT, 0),
});

export const CONTAINER = v.pipe(
  v.strictObject({
    id: TEXT,
    pod: v.union([v.literal(''), POD_NAME]),
    name: v.optional(TEXT),
    image: TEXT,
    state: v.picklist(['created', 'running', 'exited', 'unknown']),
    rootfs: v.optional(BYTES, { bytes: 0 }),
    logs: v.optional(BYTES, { bytes: 0 }),
    logFiles: v.optional(v.array(v.strictObject({ name: TEXT, bytes: COUNT })), []),
    inodesUsed: v.optional(COUNT, 0),
    deletedOpen: v.optional(BYTES, { bytes: 0 }),
    createdAgo: v.optional(AGO),
    finishedAgo: v.optional(AGO),
    limit: v.optional(STORAGE),
  }),
  v.check(
    ({ state, finishedAgo }) => finishedAgo === undefined || state === 'exited',
    'only an exited one has finished',
  ),
);

const VOLUME = v.strictObject({
  name: TEXT,
  type: v.picklist(['emptyDir', 'hostPath']),
  medium: v.optional(v.picklist(['', 'Memory']), ''),
  bytes: v.optional(COUNT, 0),
  inodes: v.optional(COUNT, 0),
  sizeLimit: v.optional(COUNT),
});

const POD_ENTRIES = {
  name: POD_NAME,
  uid: TEXT,
  priority: v.optional(v.pipe(v.number(), v.integer()), 0),
  phase: v.optional(v.picklist(['Pending', 'Running', 'Succeeded', 'Failed']), 'Running'),
  static: v.optional(v.boolean(), false),
  mirror: v.optional(v.boolean(), false),
  critical: v.optional(v.boolean(), false),
  annotations: v.optional(v.record(v.string(), v.string()), {}),
  request: v.optional(STORAGE),
  limit: v.optional(STORAGE),
  terminationGrace: v.optional(COUNT, 30),
  statsMissing: v.optional(v.boolean(), false),
  imagesWanted: v.optional(v.array(TEXT), []),
  terminationFiles: v.optional(COUNT, 0),
  volumes: v.optional(v.array(VOLUME), []),
};

export const POD = v.strictObject(POD_ENTRIES);
export const ADMITTED_POD = v.strictObject({
  ...POD_ENTRIES,
  owner: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z]+\/.+$/))),
});

export const LOG_DIR = v.strictObject({
  dir: v.pipe(v.string(), v.regex(/^[^/]+$/)),
  bytes: v.optional(COUNT, 0),
  ageMin: v.pipe(v.number(), v.minValue(0)),
  symlinkTo: v.optional(TEXT),
});

export type ImageItem = v.InferOutput<typeof IMAGE>;
export type SandboxItem = v.InferOutput<typeof SANDBOX>;
export type ContainerItem = v.InferOutput<typeof CONTAINER>;
export type PodItem = v.InferOutput<typeof POD>;
export type AdmittedPodItem = v.InferOutput<typeof ADMITTED_POD>;
export type VolumeItem = v.InferOutput<typeof VOLUME>;
export type LogDirItem = v.InferOutput<typeof LOG_DIR>;
