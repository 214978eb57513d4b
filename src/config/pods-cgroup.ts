import type { SettingReader } from './setting-reader.js';
import type { PodsCgroupSettings } from './settings.js';

/** What decides where a kubelet keeps the cgroup of all pods. */
export type PodsCgroupPlace = Omit<PodsCgroupSettings, 'names'>;

/** The kubelet's name for it (`defaultNodeAllocatableCgroupName`). */
const KUBEPODS = 'kubepods';

/** The cgroup of all pods, as the kubelet's own settings place it. */
export function podsCgroupOf(read: SettingReader): PodsCgroupSettings {
  const root = read.text('cgroupRoot') ?? '/';
  const isStray = root.includes('\0') || root.split('/').some((part) => part === '.' || part === '..');
  if (isStray) read.tell('error', 'BAD_VALUE', 'cgroupRoot', 'it must name a cgroup, such as /system', root);
  const place: PodsCgroupPlace = {
    root,
    driver: read.choice('cgroupDriver', ['auto', 'systemd', 'cgroupfs'], 'auto'),
    perQos: read.boolean('cgroupsPerQOS'),
  };
  return { ...place, names: podsCgroupNames(place) };
}

/**
 * Where that cgroup may lie, below the root of a hierarchy and without a leading slash, in the order in which to look. The root
 * `/a/b` makes it `a/b/kubepods` under the cgroupfs driver, and `a.slice/a-b.slice/a-b-kubepods.slice` under systemd's, where
 * a dash in a name is written as an underscore. Mirrors `CgroupName.ToCgroupfs` and `ToSystemd`.
 */
export function podsCgroupNames({ root, driver, perQos }: PodsCgroupPlace): readonly string[] {
  const parts = [...root.split('/').filter((part) => part !== ''), ...(perQos ? [KUBEPODS] : [])];
  const bySystemd = parts
    .map((part) => part.replaceAll('-', '_'))
    .map((_, index, escaped) => `${escaped.slice(0, index + 1).join('-')}.slice`)
    .join('/');
  const byCgroupfs = parts.join('/');
  switch (driver) {
    case 'systemd':
      return [bySystemd];
    case 'cgroupfs':
      return [byCgroupfs];
    case 'auto':
      return [...new Set([bySystemd, byCgroupfs])];
  }
}
