import { type Generation, RUNC } from './parts.js';

/** Where one containerd under test keeps its things; absolute paths. */
export interface ContainerdSettings {
  /** Images and writable layers: on the small disk. */
  readonly root: string;
  /** Must not be on the small disk. */
  readonly state: string;
  readonly socket: string;
  readonly sandboxImage: string;
  /** How often the runtime refreshes ImageFsInfo and the usage of writable layers. */
  readonly statsPeriodSeconds: number;
}

/** Configuration file of the generation: overlayfs, runc with cgroupfs, no network plugins, nothing of the host's own. */
export function containerdConfig(generation: Generation, settings: ContainerdSettings): string {
  return generation === '1.6' ? version2(settings) : version3(settings);
}

function common(settings: ContainerdSettings, version: number, disabled: readonly string[]): string {
  return `version = ${version}
root = "${settings.root}"
state = "${settings.state}"
oom_score = 0
disabled_plugins = ${JSON.stringify(disabled)}
[grpc]
  address = "${settings.socket}"
[ttrpc]
  address = "${settings.socket}.ttrpc"
[plugins."io.containerd.internal.v1.opt"]
  path = "${settings.state}/opt"
`;
}

function runcOptions(table: string): string {
  return `[plugins.${table}.containerd]
  default_runtime_name = "runc"
  [plugins.${table}.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins.${table}.containerd.runtimes.runc.options]
      BinaryName = "${RUNC}"
      SystemdCgroup = false
`;
}

// Every snapshotter but overlayfs is off, and tracing, which looks for a collector on the network.
function version2(settings: ContainerdSettings): string {
  const table = '"io.containerd.grpc.v1.cri"';
  const snapshotters = ['btrfs', 'zfs', 'devmapper', 'aufs'].map((name) => `io.containerd.snapshotter.v1.${name}`);
  const tracing = ['io.containerd.internal.v1.tracing', 'io.containerd.tracing.processor.v1.otlp'];
  return `${common(settings, 2, [...snapshotters, ...tracing])}[plugins.${table}]
  sandbox_image = "${settings.sandboxImage}"
  stats_collect_period = ${settings.statsPeriodSeconds}
  disable_apparmor = true
  restrict_oom_score_adj = true
${runcOptions(table)}[plugins.${table}.cni]
  bin_dir = "${settings.state}/cni/bin"
  conf_dir = "${settings.state}/cni/net.d"
`;
}

// NRI would listen on a socket of the host.
function version3(settings: ContainerdSettings): string {
  const runtime = '"io.containerd.cri.v1.runtime"';
  const images = '"io.containerd.cri.v1.images"';
  const disabled = [
    'io.containerd.internal.v1.tracing',
    'io.containerd.tracing.processor.v1.otlp',
    'io.containerd.nri.v1.nri',
  ];
  return `${common(settings, 3, disabled)}[plugins.${images}]
  snapshotter = "overlayfs"
  stats_collect_period = ${settings.statsPeriodSeconds}
  [plugins.${images}.pinned_images]
    sandbox = "${settings.sandboxImage}"
[plugins.${runtime}]
  disable_apparmor = true
  restrict_oom_score_adj = true
  enable_unprivileged_ports = false
  enable_unprivileged_icmp = false
${runcOptions(runtime)}[plugins.${runtime}.cni]
  bin_dirs = ["${settings.state}/cni/bin"]
  conf_dir = "${settings.state}/cni/net.d"
`;
}
