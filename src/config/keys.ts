/** What a key holds. A `map` is one from signal to text; `choice` and `list` hold words. */
export type KeyType = 'text' | 'boolean' | 'integer' | 'percent' | 'duration' | 'quantity' | 'list' | 'map' | 'choice';

/** A value as it stands in YAML, after its type was checked. Map entries keep their order. */
export type RawValue = string | number | boolean | null | readonly string[] | ReadonlyMap<string, string>;

/** One setting: where it may stand, what it holds, what it is when nobody says, and why. */
export interface KeyRow {
  /** Name in a file; a dot means that it stands in a map of that name. */
  readonly name: string;
  readonly type: KeyType;
  /** `kubelet`: a key of a KubeletConfiguration too. `own`: known to our own file and flags only. */
  readonly home: 'kubelet' | 'own';
  /** The flag that sets it, without dashes. */
  readonly flag: string;
  /** Stands for the value in help texts; empty for a switch. */
  readonly valueHint: string;
  readonly unit: string;
  /** What holds when nobody says; null = nothing is set. */
  readonly fallback: RawValue;
  /** The same under the kubelet's profile, where it differs. */
  readonly kubeletFallback?: RawValue;
  readonly choices?: readonly string[];
  /** `0s` in a file means the default, as the kubelet reads it. */
  readonly zeroMeansDefault?: true;
  readonly help: string;
}

/** The kubelet's hard thresholds on Linux. */
export const DEFAULT_EVICTION_HARD: ReadonlyMap<string, string> = new Map([
  ['memory.available', '100Mi'],
  ['nodefs.available', '10%'],
  ['nodefs.inodesFree', '5%'],
  ['imagefs.available', '15%'],
  ['imagefs.inodesFree', '5%'],
]);

const NOTHING: ReadonlyMap<string, string> = new Map();

/**
 * Every setting, in the order in which it is shown. The types and the unknown-key check of files, the flags, the JSON Schema,
 * the effective table and the check of `config/README.md` all come from this one table.
 */
export const KEYS = [
  {
    name: 'profile',
    type: 'choice',
    home: 'own',
    flag: 'profile',
    valueHint: 'name',
    unit: 'name',
    fallback: 'reclaimd',
    choices: ['reclaimd', 'kubelet'],
    help: 'rules to follow: reclaimd, or the kubelet with its quirks',
  },
  {
    name: 'containerRuntimeEndpoint',
    type: 'text',
    home: 'kubelet',
    flag: 'container-runtime-endpoint',
    valueHint: 'socket',
    unit: 'socket',
    fallback: null,
    help: 'socket of the container runtime; the usual ones are tried when it is not set',
  },
  {
    name: 'runtimeRequestTimeout',
    type: 'duration',
    home: 'kubelet',
    flag: 'runtime-request-timeout',
    valueHint: 'duration',
    unit: 'duration',
    fallback: '2m',
    zeroMeansDefault: true,
    help: 'how long a runtime call may take',
  },
  {
    name: 'rootDir',
    type: 'text',
    home: 'own',
    flag: 'root-dir',
    valueHint: 'path',
    unit: 'path',
    fallback: '/var/lib/kubelet',
    help: 'directory whose filesystem is nodefs',
  },
  {
    name: 'podLogsDir',
    type: 'text',
    home: 'kubelet',
    flag: 'pod-logs-dir',
    valueHint: 'path',
    unit: 'path',
    fallback: '/var/log/pods',
    help: "directory of the pods' logs",
  },
  {
    name: 'evictionHard',
    type: 'map',
    home: 'kubelet',
    flag: 'eviction-hard',
    valueHint: 'signal<limit,...',
    unit: 'quantity or percent',
    fallback: DEFAULT_EVICTION_HARD,
    help: 'thresholds that act at once',
  },
  {
    name: 'evictionSoft',
    type: 'map',
    home: 'kubelet',
    flag: 'eviction-soft',
    valueHint: 'signal<limit,...',
    unit: 'quantity or percent',
    fallback: NOTHING,
    help: 'thresholds that act after a grace period',
  },
  {
    name: 'evictionSoftGracePeriod',
    type: 'map',
    home: 'kubelet',
    flag: 'eviction-soft-grace-period',
    valueHint: 'signal=duration,...',
    unit: 'duration',
    fallback: NOTHING,
    help: 'grace periods of the soft thresholds',
  },
  {
    name: 'evictionMinimumReclaim',
    type: 'map',
    home: 'kubelet',
    flag: 'eviction-minimum-reclaim',
    valueHint: 'signal=limit,...',
    unit: 'quantity or percent',
    fallback: NOTHING,
    help: 'how much above the line must be free again',
  },
  {
    name: 'mergeDefaultEvictionSettings',
    type: 'boolean',
    home: 'kubelet',
    flag: 'merge-default-eviction-settings',
    valueHint: '',
    unit: 'true or false',
    fallback: false,
    help: 'fill hard signals that are not given with their defaults',
  },
  {
    name: 'enforceNodeAllocatable',
    type: 'list',
    home: 'kubelet',
    flag: 'enforce-node-allocatable',
    valueHint: 'what,...',
    unit: 'names',
    fallback: ['pods'],
    help: "with pods among them, hard memory thresholds hold for the pods' cgroup too",
  },
  {
    name: 'evictionPressureTransitionPeriod',
    type: 'duration',
    home: 'kubelet',
    flag: 'eviction-pressure-transition-period',
    valueHint: 'duration',
    unit: 'duration',
    fallback: '5m',
    zeroMeansDefault: true,
    help: 'how long a node condition stays after its cause is gone',
  },
  {
    name: 'evictionMaxPodGracePeriod',
    type: 'integer',
    home: 'kubelet',
    flag: 'eviction-max-pod-grace-period',
    valueHint: 'seconds',
    unit: 'seconds',
    fallback: null,
    help: 'cap on the grace that a pod gets in a soft eviction',
  },
  {
    name: 'localStorageCapacityIsolation',
    type: 'boolean',
    home: 'kubelet',
    flag: 'local-storage-capacity-isolation',
    valueHint: '',
    unit: 'true or false',
    fallback: true,
    help: 'evict pods that are over their own storage limit',
  },
  {
    name: 'imageGCHighThresholdPercent',
    type: 'percent',
    home: 'kubelet',
    flag: 'image-gc-high-threshold',
    valueHint: 'percent',
    unit: 'percent used',
    fallback: 85,
    help: 'disk usage at which unused images go; 100 = never',
  },
  {
    name: 'imageGCLowThresholdPercent',
    type: 'percent',
    home: 'kubelet',
    flag: 'image-gc-low-threshold',
    valueHint: 'percent',
    unit: 'percent used',
    fallback: 80,
    help: 'disk usage down to which they go',
  },
  {
    name: 'imageMinimumGCAge',
    type: 'duration',
    home: 'kubelet',
    flag: 'minimum-image-ttl-duration',
    valueHint: 'duration',
    unit: 'duration',
    fallback: '2m',
    zeroMeansDefault: true,
    help: 'age below which an unused image stays',
  },
  {
    name: 'imageMaximumGCAge',
    type: 'duration',
    home: 'kubelet',
    flag: 'maximum-image-ttl-duration',
    valueHint: 'duration',
    unit: 'duration',
    fallback: '0s',
    help: 'time unused after which an image goes without pressure; 0 = off',
  },
  {
    name: 'containerGC.minAge',
    type: 'duration',
    home: 'own',
    flag: 'minimum-container-ttl-duration',
    valueHint: 'duration',
    unit: 'duration',
    fallback: '0s',
    help: 'age below which a dead container stays',
  },
  {
    name: 'containerGC.maxPerPodContainer',
    type: 'integer',
    home: 'own',
    flag: 'maximum-dead-containers-per-container',
    valueHint: 'count',
    unit: 'containers',
    fallback: 1,
    help: 'dead containers kept of each container of a pod; negative = all',
  },
  {
    name: 'containerGC.maxContainers',
    type: 'integer',
    home: 'own',
    flag: 'maximum-dead-containers',
    valueHint: 'count',
    unit: 'containers',
    fallback: -1,
    help: 'dead containers kept in all; negative = no limit',
  },
  {
    name: 'sandboxImage',
    type: 'text',
    home: 'own',
    flag: 'sandbox-image',
    valueHint: 'image',
    unit: 'image reference',
    fallback: null,
    help: 'image that sandboxes run on; never removed',
  },
  {
    name: 'protectedImages',
    type: 'list',
    home: 'own',
    flag: 'protect-image',
    valueHint: 'pattern',
    unit: 'patterns',
    fallback: [],
    help: 'images that are never removed',
  },
  {
    name: 'protectedNamespaces',
    type: 'list',
    home: 'own',
    flag: 'protect-namespace',
    valueHint: 'namespace',
    unit: 'names',
    fallback: ['kube-system'],
    kubeletFallback: [],
    help: 'namespaces whose pods are never evicted',
  },
  {
    name: 'evictBesideKubelet',
    type: 'boolean',
    home: 'own',
    flag: 'evict-beside-kubelet',
    valueHint: '',
    unit: 'true or false',
    fallback: false,
    help: 'work on a node where a kubelet evicts too',
  },
  {
    name: 'sampling.slowest',
    type: 'duration',
    home: 'own',
    flag: 'sampling-slowest',
    valueHint: 'duration',
    unit: 'duration',
    fallback: '10s',
    help: 'pause between looks while all is well',
  },
  {
    name: 'sampling.fastest',
    type: 'duration',
    home: 'own',
    flag: 'sampling-fastest',
    valueHint: 'duration',
    unit: 'duration',
    fallback: '100ms',
    help: 'pause between looks close to a line',
  },
  {
    name: 'sampling.assumedFillRate',
    type: 'quantity',
    home: 'own',
    flag: 'sampling-assumed-fill-rate',
    valueHint: 'quantity',
    unit: 'bytes a second',
    fallback: '200M',
    help: 'how fast a disk is taken to fill before it was measured',
  },
  {
    name: 'log.level',
    type: 'choice',
    home: 'own',
    flag: 'log-level',
    valueHint: 'level',
    unit: 'name',
    fallback: 'info',
    choices: ['debug', 'info', 'warn', 'error'],
    help: 'how much is logged',
  },
  {
    name: 'log.format',
    type: 'choice',
    home: 'own',
    flag: 'log-format',
    valueHint: 'format',
    unit: 'name',
    fallback: 'auto',
    choices: ['auto', 'pretty', 'json'],
    help: 'auto: pretty on a terminal, else json',
  },
  {
    name: 'log.file',
    type: 'text',
    home: 'own',
    flag: 'log-file',
    valueHint: 'path',
    unit: 'path',
    fallback: null,
    help: 'file for the log instead of standard output',
  },
] as const satisfies readonly KeyRow[];

/** The name of a setting. */
export type KeyName = (typeof KEYS)[number]['name'];

/** Other names of a setting in our own file. */
export const KEY_ALIASES: Readonly<Record<string, KeyName>> = { runtimeEndpoint: 'containerRuntimeEndpoint' };

/** Other names of a flag. */
export const FLAG_ALIASES: Readonly<Record<string, string>> = {
  'runtime-endpoint': 'container-runtime-endpoint',
  'pod-log-dir': 'pod-logs-dir',
};

const BY_NAME: ReadonlyMap<string, KeyRow> = new Map(KEYS.map((row) => [row.name, row]));

/** The row of a name; null when no setting has it. */
export function keyRow(name: string): KeyRow | null {
  return BY_NAME.get(name) ?? null;
}

/** What a setting is when nobody says. */
export function fallbackOf(row: KeyRow, profile: 'reclaimd' | 'kubelet'): RawValue {
  return profile === 'kubelet' && row.kubeletFallback !== undefined ? row.kubeletFallback : row.fallback;
}
