import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Writable } from 'node:stream';

/** A disk that the keeper is to mount. */
export interface MountOrder {
  readonly name: string;
  readonly filesystem: 'tmpfs' | 'ext4' | 'xfs';
  readonly sizeBytes: number;
  readonly inodes: number;
}

/**
 * A small process that owns the mounts of a run and cleans up after it. It waits for the end of its input: that comes
 * when the run closes it and also when the run dies in whatever way, SIGKILL included, so nothing stays behind.
 */
export interface DiskKeeper {
  /** The directory under which the disks lie, as this process reaches them. */
  readonly root: string;
  close(): Promise<void>;
}

// The image file of a loop disk is unlinked once it is mounted: the loop device holds it, and lets go with the mount.
// Signals are ignored, since a Ctrl-C reaches the whole group and the cleaning must come after it.
const SCRIPT = `
trap '' INT TERM HUP
base=$1; shift
mounted=
unmount() {
  for dir in $mounted; do umount "$dir" 2>/dev/null || umount -l "$dir" 2>/dev/null || return 1; done
}
fail() { unmount; rm -f "$image"; exit 1; }
while [ $# -ge 4 ]; do
  name=$1 filesystem=$2 size=$3 inodes=$4; shift 4
  dir=$base/$name; image=$base/$name.img
  mkdir -p "$dir" || fail
  case $filesystem in
    tmpfs) mount -t tmpfs -o "size=$size,nr_inodes=$inodes,mode=0700" reclaimd-embedded "$dir" || fail ;;
    ext4) truncate -s "$size" "$image" && mkfs.ext4 -q -F -m 0 -N "$inodes" "$image" && mount -o loop "$image" "$dir" && rm "$image" || fail ;;
    xfs) truncate -s "$size" "$image" && mkfs.xfs -q -f -i maxpct=1 "$image" && mount -o loop "$image" "$dir" && rm "$image" || fail ;;
  esac
  mounted="$dir $mounted"
done
echo ready
read -r _
unmount && rm -rf -- "$base"
`;

/**
 * Starts a keeper and waits for its mounts. `namespace` puts them into a user and mount namespace of their own, for
 * which no privilege is needed; this process then reaches them through /proc/PID/root, which the kernel allows for a
 * child of the same user.
 * @throws Error with what the mounting tools said.
 */
export async function startDiskKeeper(
  base: string,
  orders: readonly MountOrder[],
  namespace: boolean,
): Promise<DiskKeeper> {
  const words = orders.flatMap((order) => [order.name, order.filesystem, `${order.sizeBytes}`, `${order.inodes}`]);
  const shell = ['sh', '-c', SCRIPT, 'reclaimd-embedded-disks', base, ...words];
  const [command, ...args] = namespace ? ['unshare', '--user', '--map-root-user', '--mount', ...shell] : shell;
  // The list above has at least its command.
  const child = spawn(command as string, args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  const said: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('error', reject);
    child.once('close', (code) =>
      reject(
        new Error(
          `Cannot make the disks of the embedded runtime as ${command} ended with ${code}: ${said.join('').trim()}`,
        ),
      ),
    );
  });
  // The keeper must not keep this process alive: the end of its input is how it learns that this process has ended.
  child.unref();
  for (const pipe of [child.stdin, child.stdout, child.stderr]) unrefPipe(pipe);
  return {
    root: namespace ? join('/proc', `${child.pid}`, 'root', base) : base,
    close: () => closeKeeper(child),
  };
}

async function closeKeeper(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'exit');
  child.ref();
  child.stdin?.end();
  await closed;
}

function unrefPipe(pipe: Writable | NodeJS.ReadableStream): void {
  // Pipes of a child are sockets, which have unref; the types do not say so.
  if ('unref' in pipe && typeof pipe.unref === 'function') (pipe as { unref(): void }).unref();
}
