import type { FilesystemName } from './signal.js';

/**
 * How nodefs, imagefs and containerfs lie on devices:
 * - `one-disk`: all on one;
 * - `image-disk`: images and writable layers on a disk of their own (containerfs = imagefs);
 * - `split-disks`: only the read-only image layers apart (containerfs = nodefs). CRI-O alone reports this.
 *
 * The kubelet keeps two booleans (`dedicatedImageFs`, `splitContainerImageFs`) whose fourth combination is meaningless;
 * `kubelet-quirks.ts` deals with that one.
 */
export type FsLayout = 'one-disk' | 'image-disk' | 'split-disks';

/** Identifies the device that a path lies on (`st_dev`). */
export type DeviceId = string;

/** The device of each filesystem. */
export type Devices = Readonly<Record<FilesystemName, DeviceId>>;

/**
 * Tells the layout from devices alone. Numbers are never compared: two readings of one disk may differ, and two disks may
 * look alike.
 */
export function layoutOf(devices: Devices): FsLayout {
  if (devices.imagefs === devices.nodefs) return 'one-disk';
  return devices.containerfs === devices.imagefs ? 'image-disk' : 'split-disks';
}

const DEVICES = {
  'one-disk': { nodefs: 'nodefs', imagefs: 'nodefs', containerfs: 'nodefs' },
  'image-disk': { nodefs: 'nodefs', imagefs: 'imagefs', containerfs: 'imagefs' },
  'split-disks': { nodefs: 'nodefs', imagefs: 'imagefs', containerfs: 'nodefs' },
} as const satisfies Record<FsLayout, Record<FilesystemName, FilesystemName>>;

/** Names the device that a filesystem lies on: those that share it have the same answer. */
export function deviceUnder(filesystem: FilesystemName, layout: FsLayout): FilesystemName {
  return DEVICES[layout][filesystem];
}
