/** One line of `/proc/self/mountinfo` (see proc_pid_mountinfo(5)), as far as we need it. */
export interface Mount {
  readonly id: number;
  readonly parent: number;
  /** `major:minor` of the superblock. On btrfs this is not what `stat` says of files on it. */
  readonly device: string;
  readonly mountPoint: string;
  readonly type: string;
  readonly source: string;
  readonly readOnly: boolean;
  /** Options of the filesystem itself; of an overlay they name its directories. */
  readonly superOptions: string;
}

/** The mounts that this process sees. */
export interface MountTable {
  readonly mounts: readonly Mount[];
  readonly children: ReadonlyMap<number, readonly Mount[]>;
  readonly root: Mount | null;
}

/**
 * Filesystems whose calls are answered by this kernel from a local disk or from memory. Whatever is not named here may
 * depend on a server or a daemon that can stop answering, and is never asked from within this process.
 */
const LOCAL_TYPES: ReadonlySet<string> = new Set(
  (
    'ext2 ext3 ext4 xfs btrfs zfs bcachefs f2fs jfs nilfs2 reiserfs minix vfat msdos exfat ntfs3 hfs hfsplus udf iso9660 ' +
    'squashfs erofs cramfs romfs overlay aufs tmpfs ramfs rootfs devtmpfs hugetlbfs proc sysfs devpts mqueue cgroup cgroup2 ' +
    'securityfs debugfs tracefs bpf pstore efivarfs configfs fusectl binfmt_misc nsfs selinuxfs rpc_pipefs'
  ).split(' '),
);

/** Whether a look at this mount needs nobody but the local kernel. */
export function isLocal(mount: Mount): boolean {
  return LOCAL_TYPES.has(mount.type);
}

/** Reads the text of mountinfo. Lines that do not follow the format are left out: one odd mount must not blind us to the others. */
export function parseMountTable(text: string): MountTable {
  const mounts = text.split('\n').flatMap((line) => parseLine(line) ?? []);
  const ids = new Set(mounts.map(({ id }) => id));
  const children = new Map<number, Mount[]>();
  for (const mount of mounts) {
    if (mount.parent === mount.id) continue;
    const siblings = children.get(mount.parent);
    if (siblings === undefined) children.set(mount.parent, [mount]);
    else siblings.push(mount);
  }
  const isTop = (mount: Mount) => mount.mountPoint === '/' && (mount.parent === mount.id || !ids.has(mount.parent));
  return { mounts, children, root: mounts.find(isTop) ?? null };
}

/**
 * The mount that an absolute, normalised path lies on; `null` when the table is empty. The path is not touched, so that it
 * may be missing (its nearest parent counts) or on a mount that hangs. Symbolic links are the caller's to resolve.
 *
 * Goes down from the root as the kernel does. The longest mount point alone would be wrong: what was mounted below a
 * directory before another mount covered that directory is still listed, but cannot be reached.
 */
export function mountOf(table: MountTable, path: string): Mount | null {
  if (table.root === null) return longestPrefix(table.mounts, path);
  let current = table.root;
  for (;;) {
    const from: Mount = current;
    const below = (table.children.get(from.id) ?? []).filter(({ mountPoint }) => isWithin(path, mountPoint));
    const next = below.reduce<Mount | null>(
      (nearest, mount) => (nearest === null || mount.mountPoint.length <= nearest.mountPoint.length ? mount : nearest),
      null,
    );
    if (next === null) return from;
    current = next;
  }
}

/** Mount points strictly below a path. */
export function mountPointsBelow(table: MountTable, path: string): readonly string[] {
  return table.mounts.map(({ mountPoint }) => mountPoint).filter((point) => point !== path && isWithin(point, path));
}

function isWithin(path: string, directory: string): boolean {
  return directory === '/' || path === directory || path.startsWith(`${directory}/`);
}

function longestPrefix(mounts: readonly Mount[], path: string): Mount | null {
  return mounts
    .filter(({ mountPoint }) => isWithin(path, mountPoint))
    .reduce<Mount | null>(
      (best, mount) => (best === null || mount.mountPoint.length >= best.mountPoint.length ? mount : best),
      null,
    );
}

/** `id parent major:minor root mountPoint options [optional fields] - type source superOptions` */
function parseLine(line: string): Mount | null {
  const fields = line.split(' ');
  const separator = fields.indexOf('-', 6);
  const [id, parent, device, , mountPoint, options] = fields;
  const type = fields[separator + 1];
  if (separator < 0 || mountPoint === undefined || options === undefined || device === undefined) return null;
  if (type === undefined || type === '' || !mountPoint.startsWith('/')) return null;
  if (!/^\d+$/.test(id ?? '') || !/^\d+$/.test(parent ?? '')) return null;
  // A bind mount can be read-only on a writable filesystem (options), and the other way round (super options). Since Linux
  // 6.15 ext4 keeps "rw" after an error and says "emergency_ro" instead.
  const flags = [...options.split(','), ...(fields[separator + 3] ?? '').split(',')];
  return {
    id: Number(id),
    parent: Number(parent),
    device,
    mountPoint: unescape(mountPoint),
    type,
    source: unescape(fields[separator + 2] ?? ''),
    superOptions: unescape(fields[separator + 3] ?? ''),
    readOnly: flags.includes('ro') || flags.includes('emergency_ro'),
  };
}

/** Blank, tab, newline and backslash stand as octal numbers, since they would break the format. */
function unescape(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
