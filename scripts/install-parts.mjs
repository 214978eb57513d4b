// Installs what the tests against real runtimes need, as root on Debian: packages, and containerd 2 built into a cache.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Debian packages, each with a file that shows that it is there. Asking the files is quicker than asking dpkg. */
const PACKAGES = {
  containerd: '/usr/bin/containerd',
  runc: '/usr/sbin/runc',
  'busybox-static': '/bin/busybox',
  e2fsprogs: '/usr/sbin/mkfs.ext4',
  xfsprogs: '/usr/sbin/mkfs.xfs',
  'util-linux': '/usr/bin/nsenter',
  mount: '/usr/sbin/losetup',
  bindfs: '/usr/bin/bindfs',
  fuse3: '/usr/bin/fusermount3',
};

// test/lab/parts.ts looks for the same version in the same place.
const CONTAINERD_VERSION = '2.4.2';
const CACHE = join(process.env.RECLAIMD_PARTS_DIR ?? '/var/cache/reclaimd-parts', `containerd-${CONTAINERD_VERSION}`);
const PROGRAMS = ['containerd', 'containerd-shim-runc-v2', 'ctr'];

installPackages(Object.keys(PACKAGES).filter((name) => !existsSync(PACKAGES[name])));
if (PROGRAMS.every((name) => isExecutable(join(CACHE, name))))
  console.log(`containerd ${CONTAINERD_VERSION}: ${CACHE}`);
else buildContainerd();

function installPackages(missing) {
  if (missing.length === 0) {
    console.log('Debian packages: all there');
    return;
  }
  if (process.getuid() !== 0) fail(`packages are installed by root only: ${missing.join(' ')}`);
  console.log(`Debian packages: installing ${missing.join(' ')}`);
  run('apt-get', ['update', '-qq']);
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing]);
}

/** Builds into a folder beside the cache and renames it: a build that was broken off must not pass for a whole one. */
function buildContainerd() {
  const go = ['go', '/usr/local/go/bin/go'].find((command) => spawnSync(command, ['version']).status === 0);
  if (go === undefined)
    fail(`containerd ${CONTAINERD_VERSION} is built by Go 1.26.6 or newer, which is not there: https://go.dev/dl`);
  const unfinished = `${CACHE}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  console.log(`containerd ${CONTAINERD_VERSION}: building (some four minutes) into ${CACHE}`);
  const module = 'github.com/containerd/containerd/v2/cmd';
  const packages = PROGRAMS.map((name) => `${module}/${name}@v${CONTAINERD_VERSION}`);
  // No C compiler is needed this way, and the snapshotters that would want one are not used.
  run(go, ['install', '-tags', 'no_btrfs,no_devmapper,no_zfs', ...packages], {
    CGO_ENABLED: '0',
    GOBIN: unfinished,
    GOFLAGS: '',
  });
  rmSync(CACHE, { recursive: true, force: true });
  renameSync(unfinished, CACHE);
}

function run(command, args, env = {}) {
  const { status, error } = spawnSync(command, args, {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) fail(`${command} ${args.join(' ')} ended with ${status ?? error}`);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function fail(reason) {
  console.error(`Cannot install the parts as ${reason}`);
  process.exit(1);
}
