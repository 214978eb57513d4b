// The one-way imports of src/ARCHITECTURE.md, as rules. Each folder may import itself and what stands before it.
const LAYERS = {
  units: [],
  eviction: ['units'],
  gc: ['units', 'eviction'],
  ports: ['units', 'eviction', 'gc'],
  reclaim: ['units', 'eviction', 'gc', 'ports'],
  manager: ['units', 'eviction', 'gc', 'ports', 'reclaim'],
  config: ['units', 'eviction', 'gc'],
  proto: [],
  embedded: ['units', 'proto'],
  'adapters/containerd': ['units', 'eviction', 'gc', 'ports', 'reclaim', 'manager'],
  'adapters/cri': ['units', 'eviction', 'gc', 'ports', 'reclaim', 'manager', 'proto'],
  'adapters/host': ['units', 'eviction', 'gc', 'ports', 'reclaim', 'manager'],
  'adapters/pods': ['units', 'eviction', 'gc', 'ports', 'reclaim', 'manager'],
  'adapters/log': ['units', 'eviction', 'gc', 'ports', 'reclaim', 'manager'],
  'adapters/store': ['units', 'eviction', 'gc', 'ports', 'reclaim', 'manager'],
  daemon: ['units', 'eviction', 'gc', 'ports', 'reclaim', 'manager', 'adapters', 'config'],
  cli: ['units', 'eviction', 'gc', 'ports', 'reclaim', 'manager', 'adapters', 'daemon', 'config', 'embedded', 'proto'],
};

/** Only these places may know these packages. */
const PACKAGES = {
  rxjs: '^src/(manager|daemon)/',
  '@grpc/grpc-js': '^src/(adapters/cri|adapters/control|embedded|proto)/',
  pino: '^src/adapters/log/',
  'pino-pretty': '^src/adapters/log/',
  systeminformation: '^src/adapters/host/',
  libsql: '^src/adapters/store/',
  // Static pods are YAML too, written by others: they are no configuration of ours.
  yaml: '^src/(config|adapters/pods)/',
  valibot: '^src/config/',
  commander: '^src/(cli/|main)',
};

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-orphans', severity: 'error', from: { orphan: true, path: '^src/', pathNot: '\\.d\\.ts$' }, to: {} },
    ...Object.entries(LAYERS).map(([layer, allowed]) => ({
      name: `${layer}-imports-one-way`,
      severity: 'error',
      from: { path: `^src/${layer}/` },
      to: { path: '^src/', pathNot: `^src/(${[layer, ...allowed].join('|')})/` },
    })),
    ...Object.entries(PACKAGES).map(([name, where]) => ({
      name: `${name}-has-its-place`,
      severity: 'error',
      from: { path: '^src/', pathNot: where },
      to: { path: `node_modules/${name}/` },
    })),
    {
      name: 'core-is-pure',
      severity: 'error',
      from: { path: '^src/(units|eviction|gc|reclaim|manager)/' },
      to: { dependencyTypes: ['core'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'] },
  },
};
