import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The two generations of containerd under test: Debian's, and the current one. */
export type Generation = '1.6' | '2.4';

/** Where each generation's programs lie. */
export interface ContainerdPrograms {
  readonly containerd: string;
  readonly ctr: string;
  /** Directory of the runc shim; it must be on the daemon's PATH. */
  readonly shimDirectory: string;
}

/** Version of the current generation; the programs of each version have a directory of their own in the cache. */
const CONTAINERD_2 = '2.4.2';

const CACHE = join(process.env['RECLAIMD_PARTS_DIR'] ?? '/var/cache/reclaimd-parts', `containerd-${CONTAINERD_2}`);

export const PROGRAMS = {
  '1.6': { containerd: '/usr/bin/containerd', ctr: '/usr/bin/ctr', shimDirectory: '/usr/bin' },
  '2.4': { containerd: join(CACHE, 'containerd'), ctr: join(CACHE, 'ctr'), shimDirectory: CACHE },
} as const satisfies Record<Generation, ContainerdPrograms>;

/** What a test may need of the machine it runs on. */
export type Part =
  | 'root'
  | 'namespaces'
  | 'loop devices'
  | 'containerd 1.6'
  | 'containerd 2.4'
  | 'runc'
  | 'busybox'
  | 'mkfs.ext4'
  | 'mkfs.xfs';

interface PartRow {
  /** How to get it. */
  readonly remedy: string;
  readonly isThere: () => boolean;
}

const INSTALL = 'run "node scripts/install-parts.mjs" as root';

const PARTS: Readonly<Record<Part, PartRow>> = {
  root: { remedy: 'run the tests as root', isThere: () => process.getuid?.() === 0 },
  namespaces: {
    remedy: 'allow mount and pid namespaces (util-linux: unshare, nsenter)',
    isThere: () => onPath('nsenter') && succeeds('unshare', ['--mount', '--pid', '--fork', 'true']),
  },
  'loop devices': {
    remedy: 'make /dev/loop-control available',
    isThere: () => existsSync('/dev/loop-control') && succeeds('losetup', ['-f']),
  },
  'containerd 1.6': { remedy: `${INSTALL} (Debian package containerd)`, isThere: () => hasPrograms('1.6') },
  'containerd 2.4': {
    remedy: `${INSTALL} (go install of ${CONTAINERD_2} into ${CACHE})`,
    isThere: () => hasPrograms('2.4'),
  },
  runc: { remedy: `${INSTALL} (Debian package runc)`, isThere: () => isExecutable(RUNC) },
  busybox: { remedy: `${INSTALL} (Debian package busybox-static)`, isThere: () => isExecutable('/bin/busybox') },
  'mkfs.ext4': { remedy: `${INSTALL} (Debian package e2fsprogs)`, isThere: () => onPath('mkfs.ext4') },
  'mkfs.xfs': { remedy: `${INSTALL} (Debian package xfsprogs)`, isThere: () => onPath('mkfs.xfs') },
};

/** Where Debian puts runc. */
export const RUNC = '/usr/sbin/runc';

/** The parts that a containerd of this generation on a disk of this kind needs. */
export function partsFor(generation: Generation, filesystem: 'ext4' | 'xfs' | 'tmpfs'): readonly Part[] {
  const disk: Record<typeof filesystem, readonly Part[]> = {
    ext4: ['loop devices', 'mkfs.ext4'],
    xfs: ['loop devices', 'mkfs.xfs'],
    tmpfs: [],
  };
  return ['root', 'namespaces', `containerd ${generation}`, 'runc', 'busybox', ...disk[filesystem]];
}

/** What is not there, each with how to get it; empty when all is. */
export function missingParts(needed: readonly Part[]): readonly string[] {
  // A user who is not root cannot find out about these.
  const askable = needed.filter((part) => isThere('root') || (part !== 'namespaces' && part !== 'loop devices'));
  return askable.filter((part) => !isThere(part)).map((part) => `${part}: ${PARTS[part].remedy}`);
}

// Asking starts processes; the answer does not change while the tests run.
const known = new Map<Part, boolean>();

function isThere(part: Part): boolean {
  const answer = known.get(part) ?? PARTS[part].isThere();
  known.set(part, answer);
  return answer;
}

function hasPrograms(generation: Generation): boolean {
  const { containerd, ctr, shimDirectory } = PROGRAMS[generation];
  return [containerd, ctr, join(shimDirectory, 'containerd-shim-runc-v2')].every(isExecutable);
}

// A user's PATH often leaves out the folders of the system's tools.
function onPath(name: string): boolean {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders.some((folder) => isExecutable(join(folder, name)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function succeeds(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
