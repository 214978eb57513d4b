import type { DiskSpec } from '../lab/disk.js';
import type { Generation } from '../lab/parts.js';

export const MIB = 1 << 20;

/** What the disk watched by the duel looks like: small enough to be filled in seconds, with the line at a fifth of it. */
export const DISK_MIB = 1_536;
export const LINE_PERCENT = 20;
/** How far above the line a run begins. */
export const HEADROOM = 60 * MIB;
/** How far below the line a writer that ends would take the disk, if nobody gave anything back: less than one image. */
export const SHORTFALL = 10 * MIB;
/** Unused images on the disk, and what each adds: its layer lies there twice, as a blob and unpacked. */
export const IMAGES = 30;
export const IMAGE_KIB = 10 * 1_024;
/** Of the images that hold inodes instead. */
export const IMAGE_FILES = 500;
export const INODES = 31_457;
export const HEADROOM_INODES = 1_200;
export const SHORTFALL_INODES = 250;
/** Grace of the soft line. */
export const SOFT_GRACE_MS = 10_000;

export type Profile = 'kubelet' | 'reclaimd';
export type Filesystem = 'ext4' | 'xfs';

/** Where a run takes place. */
export interface Stage {
  readonly runtime: Generation;
  readonly filesystem: Filesystem;
}

/** One row of the duel. */
export interface Scenario {
  readonly title: string;
  /** What lies on the disk of the runtime when the run begins. */
  readonly images: 'unused' | 'unused, of many files' | 'none';
  /** Dead containers of a finished pod. */
  readonly dead: { readonly count: number; readonly mib: number } | null;
  readonly writer: {
    readonly into: 'emptyDir' | 'writable layer';
    readonly speed: 'slow' | 'fast';
    /** Ends a little below the line, or goes on for ever. */
    readonly ends: boolean;
    /** Whether its pod is there before, or is started when the run begins. */
    readonly isYoung: boolean;
  };
  readonly resource: 'bytes' | 'inodes';
  readonly line: 'hard' | 'soft';
  readonly disks: 'one' | 'split';
  /** Below this age an unused image stays: the default of 2 min, or so short that all are old. */
  readonly minimumImageAge: '2m' | '1s';
  /** Pods that have to go: 1 where only the end of the writer helps. */
  readonly evictions: 0 | 1;
  readonly filesystems: readonly Filesystem[];
}

const BOTH = ['ext4', 'xfs'] as const;

const SLOW = { into: 'emptyDir', speed: 'slow', ends: true, isYoung: false } as const;
const ENDLESS = { ...SLOW, ends: false } as const;
const FAST = { ...ENDLESS, speed: 'fast' } as const;

const PLAIN = {
  images: 'unused',
  dead: null,
  writer: SLOW,
  resource: 'bytes',
  line: 'hard',
  disks: 'one',
  minimumImageAge: '1s',
  evictions: 0,
  filesystems: BOTH,
} as const satisfies Omit<Scenario, 'title'>;

const WRITER_ONLY = { ...PLAIN, images: 'none', writer: ENDLESS, evictions: 1 } as const;

/** All rows, in the order of the table. */
export const SCENARIOS: readonly Scenario[] = [
  { ...PLAIN, title: 'unused images suffice, slow' },
  { ...PLAIN, title: 'the same, first 2 min after a start', minimumImageAge: '2m' },
  { ...PLAIN, title: 'ten dead containers of 30 MiB, and images', dead: { count: 10, mib: 30 } },
  { ...PLAIN, title: 'one dead container of 300 MiB', images: 'none', dead: { count: 1, mib: 300 } },
  { ...WRITER_ONLY, title: 'only the writer helps, slow, its pod young', writer: { ...ENDLESS, isYoung: true } },
  { ...WRITER_ONLY, title: 'only the writer helps, slow, its pod older' },
  { ...WRITER_ONLY, title: 'writer in its writable layer, slow', writer: { ...ENDLESS, into: 'writable layer' } },
  { ...PLAIN, title: 'fast writer, images present', writer: FAST, evictions: 1 },
  { ...WRITER_ONLY, title: 'fast writer, no images', writer: FAST },
  {
    ...WRITER_ONLY,
    title: 'fast, writable layer, XFS',
    writer: { ...FAST, into: 'writable layer' },
    filesystems: ['xfs'],
  },
  { ...PLAIN, title: 'inodes, unused images suffice', images: 'unused, of many files', resource: 'inodes' },
  { ...PLAIN, title: 'soft line, grace 10 s, images suffice', line: 'soft' },
  { ...PLAIN, title: 'split disks, nodefs, slow', writer: ENDLESS, disks: 'split', evictions: 1 },
];

/** The disk that a scenario is played on, and what it is told apart by from others that are made beforehand. */
export function diskFor(scenario: Scenario, filesystem: Filesystem): DiskSpec {
  if (scenario.resource === 'bytes') return { filesystem, sizeMiB: DISK_MIB };
  return filesystem === 'ext4'
    ? { filesystem, sizeMiB: DISK_MIB, inodes: INODES }
    : { filesystem, sizeMiB: DISK_MIB, inodePercent: 1 };
}
