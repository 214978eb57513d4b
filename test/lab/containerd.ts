import type { SpawnOptions } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import {
  ImageServiceClient,
  ImageServiceService,
  RuntimeServiceClient,
  RuntimeServiceService,
} from '../../src/proto/generated/cri.js';
import type { ImageSpec, RuntimeTraits, RuntimeUnderTest } from '../contract/runtime-under-test.js';
import { call } from './call.js';
import { containerdConfig } from './containerd-config.js';
import { type DiskSpec, mountDisk } from './disk.js';
import { ociArchive } from './image.js';
import { type NamespacedProcess, openNamespace } from './namespace.js';
import { type Generation, PROGRAMS } from './parts.js';
import { waitFor } from './wait.js';

/** What containerd to start, on what disk. */
export interface ContainerdSpec extends DiskSpec {
  readonly generation: Generation;
  /** Default 1: the runtime's own default of 10 would make tests wait. */
  readonly statsPeriodSeconds?: number;
  /** Name of the image that sandboxes run; imported at the start. */
  readonly sandboxImage?: string;
  /** A disk of its own for images and writable layers; without it they lie on the one small disk. */
  readonly imageDisk?: DiskSpec;
  /** Where the disk with the images is kept when the lab is closed, for `copyOf` of later ones. */
  readonly keepDiskAs?: string;
}

/** Paths as processes inside the namespace see them. */
export interface LabPaths {
  /** Mount point of the small disk. */
  readonly disk: string;
  /** The kubelet's root directory, on the small disk. */
  readonly kubeletRoot: string;
  /** The kubelet's pod logs, on the small disk. */
  readonly podLogs: string;
  /** Not on the small disk; the same path inside and outside. */
  readonly work: string;
}

/**
 * A real containerd in a private mount and pid namespace. Tests stay outside: they reach the socket by its path and files
 * of the small disk through `outside`. A daemon under test runs inside (`spawnInNamespace`), where every path is plain.
 */
export interface LabContainerd extends RuntimeUnderTest {
  readonly generation: Generation;
  readonly filesystem: DiskSpec['filesystem'];
  readonly paths: LabPaths;
  outside(path: string): string;
  spawnInNamespace(command: string, args: readonly string[], options?: SpawnOptions): Promise<NamespacedProcess>;
  runInNamespace(command: string, args: readonly string[]): Promise<string>;
  /** SIGKILLs containerd; shims and containers live on. */
  kill(): Promise<void>;
  /** Starts containerd after `kill` and resolves when CRI answers. */
  start(): Promise<void>;
  /** What containerd has logged so far. */
  log(): string;
}

const TRAITS = {
  '1.6': {
    pins: false,
    events: false,
    streams: false,
    stopUnknownSucceeds: false,
    imageId: false,
    imageVolumes: false,
    splitDisks: false,
    freesOnDemand: true,
  },
  '2.4': {
    pins: true,
    events: true,
    streams: true,
    stopUnknownSucceeds: true,
    imageId: true,
    imageVolumes: true,
    splitDisks: false,
    freesOnDemand: true,
  },
} as const satisfies Record<Generation, RuntimeTraits>;

const DEFAULT_SANDBOX_IMAGE = 'local.test/pause:1';

/** Starts it and resolves when CRI answers and the sandbox image is there. Ask `withParts` first whether it can run here. */
export async function startContainerd(spec: ContainerdSpec): Promise<LabContainerd> {
  // Sockets are limited to 107 bytes, so the directory is as short as the temporary directory allows.
  const work = mkdtempSync(join(tmpdir(), 'rcd-'));
  const sandboxImage = spec.sandboxImage ?? DEFAULT_SANDBOX_IMAGE;
  const paths: LabPaths = {
    work,
    disk: join(work, 'disk'),
    kubeletRoot: join(work, 'disk/kubelet'),
    podLogs: join(work, 'disk/log/pods'),
  };
  const socket = join(work, 'c.sock');
  const imageDisk = spec.imageDisk === undefined ? paths.disk : join(work, 'images');
  const imageDiskFile = spec.imageDisk === undefined ? join(work, 'disk.img') : join(work, 'images.img');
  const logFile = join(work, 'containerd.log');
  const settings = {
    root: join(imageDisk, 'containerd'),
    state: join(work, 'state'),
    socket,
    sandboxImage,
    statsPeriodSeconds: spec.statsPeriodSeconds ?? 1,
  };
  const programs = PROGRAMS[spec.generation];
  for (const directory of new Set([paths.disk, imageDisk, settings.state])) mkdirSync(directory);
  writeFileSync(join(work, 'config.toml'), containerdConfig(spec.generation, settings));

  const namespace = await openNamespace(work);
  const endpoint = `unix://${socket}`;
  // A reconnect after a restart would otherwise wait for up to two minutes.
  const channel = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 500 };
  const options = { ...channel, 'grpc.max_receive_message_length': 64 << 20 };
  const runtime = new RuntimeServiceClient(endpoint, credentials.createInsecure(), options);
  const images = new ImageServiceClient(endpoint, credentials.createInsecure(), options);
  let daemon: NamespacedProcess | undefined;

  const log = (): string => readFileSync(logFile, 'utf8');

  const start = async (): Promise<void> => {
    const output = openSync(logFile, 'a');
    const started = await namespace.spawn(programs.containerd, ['--config', join(work, 'config.toml')], {
      stdio: ['ignore', output, output],
      env: { ...process.env, PATH: `${programs.shimDirectory}:/usr/sbin:/usr/bin:/sbin:/bin` },
    });
    closeSync(output);
    daemon = started;
    await waitFor(
      `containerd ${spec.generation} answer`,
      20_000,
      () => ready(started),
      () => log().slice(-2_000),
    );
  };

  // "All conditions true" would be wrong: without a network plugin NetworkReady is false, and 2.x warns of deprecations.
  const ready = async (started: NamespacedProcess): Promise<true | undefined> => {
    if (started.child.exitCode !== null) throw new Error(`Cannot start containerd as it ended: ${log().slice(-2_000)}`);
    try {
      const { status } = await call(runtime, RuntimeServiceService.status, { verbose: false }, 2_000);
      await call(runtime, RuntimeServiceService.listPodSandbox, { filter: undefined }, 2_000);
      return status?.conditions.some(({ type, status: isTrue }) => type === 'RuntimeReady' && isTrue) || undefined;
    } catch {
      return undefined;
    }
  };

  const kill = async (): Promise<void> => {
    daemon?.kill('SIGKILL');
    await daemon?.ended;
  };

  const importImage = async (image: ImageSpec): Promise<string> => {
    const archive = join(work, 'import.tar');
    writeFileSync(archive, ociArchive(image));
    await namespace.run(programs.ctr, ['--address', socket, '--namespace', 'k8s.io', 'images', 'import', archive]);
    rmSync(archive);
    const spec = { image: image.name, annotations: {}, userSpecifiedImage: '', runtimeHandler: '', imageRef: '' };
    // The CRI plugin hears of an import by an event.
    return waitFor(`image ${image.name} in CRI`, 10_000, async () => {
      const status = await call(images, ImageServiceService.imageStatus, { image: spec, verbose: false });
      return status.image?.id;
    });
  };

  const close = async (): Promise<void> => {
    runtime.close();
    images.close();
    await namespace.close();
    if (spec.keepDiskAs !== undefined && existsSync(imageDiskFile)) renameSync(imageDiskFile, spec.keepDiskAs);
    rmSync(work, { recursive: true, force: true });
  };

  try {
    await mountDisk(namespace, spec, join(work, 'disk.img'), paths.disk);
    if (spec.imageDisk !== undefined) await mountDisk(namespace, spec.imageDisk, imageDiskFile, imageDisk);
    for (const directory of [settings.root, paths.kubeletRoot, paths.podLogs]) {
      mkdirSync(namespace.outside(directory), { recursive: true });
    }
    await start();
    const isFilled = (spec.imageDisk ?? spec).copyOf !== undefined;
    if (!isFilled) await importImage({ name: sandboxImage, layers: [{ kind: 'busybox' }] });
  } catch (error) {
    await close();
    throw error;
  }

  return {
    title: `containerd ${spec.generation}`,
    traits: TRAITS[spec.generation],
    endpoint,
    runtime,
    images,
    diskPath: namespace.outside(paths.disk),
    sandboxImage,
    importImage,
    restart: async () => {
      await kill();
      await start();
    },
    close,
    generation: spec.generation,
    filesystem: spec.filesystem,
    paths,
    outside: (path) => namespace.outside(path),
    spawnInNamespace: (command, args, spawnOptions) => namespace.spawn(command, args, spawnOptions),
    runInNamespace: (command, args) => namespace.run(command, args),
    kill,
    start,
    log,
  };
}
