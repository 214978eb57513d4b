import * as v from 'valibot';
import { COUNT, DURATION, TEXT } from './common.js';
import { ADMITTED_POD, CONTAINER, IMAGE, LOG_DIR, POD, SANDBOX } from './world-items.js';

const PATH = v.pipe(v.string(), v.regex(/^\//));
const NOTE = { note: v.optional(v.string()) };

/** The truth of one filesystem, or the error that reading it fails with. */
const TRUTH = v.union([
  v.strictObject({ error: TEXT }),
  v.strictObject({ capacity: COUNT, available: COUNT, inodes: COUNT, inodesFree: COUNT }),
]);

const CRI_FILESYSTEM = v.strictObject({
  mountpoint: PATH,
  usedBytes: v.optional(COUNT),
  inodesUsed: v.optional(COUNT),
});

const IMAGE_FS_INFO = v.strictObject({
  imageFilesystems: v.array(CRI_FILESYSTEM),
  containerFilesystems: v.array(CRI_FILESYSTEM),
});

const FRACTIONS = v.record(v.string(), COUNT);

/** A call of the product, as scenarios name it. */
export const CALL = v.pipe(
  v.string(),
  v.regex(/^((RemoveContainer|RemovePodSandbox|RemoveImage|EvictPod|RunPodSandbox|PullImage):\S+|ReleaseBallast)$/),
);

/** Every operation but `fs`, whose keys are names of filesystems. */
const OPERATIONS = v.variant('op', [
  v.strictObject({ op: v.literal('start'), ...NOTE, variant: v.optional(TEXT) }),
  v.strictObject({ op: v.literal('restart'), ...NOTE }),
  v.pipe(
    v.strictObject({ op: v.literal('clock'), ...NOTE, advance: v.optional(DURATION), wallJump: v.optional(DURATION) }),
    v.check(
      ({ advance, wallJump }) => (advance === undefined) !== (wallJump === undefined),
      'one of advance and wallJump',
    ),
  ),
  v.strictObject({
    op: v.literal('world'),
    ...NOTE,
    images: v.optional(v.array(IMAGE)),
    sandboxes: v.optional(v.array(SANDBOX)),
    containers: v.optional(v.array(CONTAINER)),
    pods: v.optional(v.array(POD)),
    logDirs: v.optional(v.array(LOG_DIR)),
  }),
  v.strictObject({ op: v.literal('cri'), ...NOTE, ImageFsInfo: IMAGE_FS_INFO }),
  v.strictObject({
    op: v.literal('mounts'),
    ...NOTE,
    exists: v.record(PATH, TEXT),
    missing: v.optional(v.array(PATH), []),
    readOnly: v.optional(v.array(PATH), []),
  }),
  v.strictObject({ op: v.literal('statsCache'), ...NOTE, fs: TEXT, freezeFor: DURATION }),
  v.pipe(
    v.strictObject({
      op: v.literal('fault'),
      ...NOTE,
      call: v.pipe(v.string(), v.regex(/^[A-Z][A-Za-z]+(:\S+)?$/)),
      error: v.optional(TEXT),
      hang: v.optional(DURATION),
      times: v.union([v.literal('always'), v.pipe(v.number(), v.integer(), v.minValue(1))]),
      whileAvailableBelow: v.optional(FRACTIONS, {}),
    }),
    v.check(({ error, hang }) => error !== undefined || hang !== undefined, 'an error or a hang'),
  ),
  v.strictObject({
    op: v.literal('effect'),
    ...NOTE,
    call: CALL,
    frees: v.optional(FRACTIONS, {}),
    inodes: v.optional(FRACTIONS, {}),
    delay: v.optional(DURATION, '0s'),
    stillListed: v.optional(v.boolean(), false),
  }),
  v.strictObject({ op: v.literal('sync'), ...NOTE }),
  v.strictObject({ op: v.literal('imageGC'), ...NOTE }),
  v.strictObject({ op: v.literal('containerGC'), ...NOTE }),
  v.strictObject({ op: v.literal('admit'), ...NOTE, pod: ADMITTED_POD }),
]);

const FS = v.pipe(
  v.objectWithRest({ op: v.literal('fs'), ...NOTE }, TRUTH),
  v.transform(({ op, note: _, ...filesystems }) => ({ op, filesystems })),
);

/** One step of a scenario. */
export const STEP = v.lazy((input) =>
  typeof input === 'object' && input !== null && 'op' in input && input.op === 'fs' ? FS : OPERATIONS,
);

export type Step = v.InferOutput<typeof OPERATIONS> | v.InferOutput<typeof FS>;
export type StepOf<Op extends Step['op']> = Extract<Step, { readonly op: Op }>;
export type Truth = v.InferOutput<typeof TRUTH>;
export type CriFilesystems = v.InferOutput<typeof IMAGE_FS_INFO>;
