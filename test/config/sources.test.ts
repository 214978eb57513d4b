import { readFileSync } from 'node:fs';
import test from 'ava';
import { splitFlags } from '../../src/config/flags.js';
import { imageGcMarksFault } from '../../src/config/image-gc-rules.js';
import { type LoadResult, type LoadSources, loadSettings } from '../../src/config/load.js';
import type { Settings } from '../../src/config/settings.js';
import { limitText } from '../../src/eviction/limit-text.js';
import { bytes, milliseconds } from '../../src/units/units.js';

function settingsOf(result: LoadResult): Settings {
  if (result.kind === 'loaded') return result.settings;
  throw new Error(result.problems.map(({ message }) => message).join('\n'));
}

function hardOf(settings: Settings): Readonly<Record<string, string>> {
  const hard = settings.thresholds.filter(({ id, urgency }) => urgency.kind === 'hard' && !id.includes('/of/'));
  return Object.fromEntries(hard.map(({ signal, limit }) => [signal, limitText(limit)]));
}

/** Vectors are ours: their shape is stated here and held by the cases that read every field of it. */
function casesOf<Case>(file: string): readonly Case[] {
  const url = new URL(`../../../test/conformance/vectors/${file}.json`, import.meta.url);
  return (JSON.parse(readFileSync(url, 'utf8')) as { cases: readonly Case[] }).cases;
}

type Texts = Readonly<Record<string, string>>;

interface DefaultsCase {
  readonly name: string;
  readonly evictionHardInFile?: Texts | null;
  readonly mergeDefaultEvictionSettings?: boolean;
  readonly evictionHardInDropIn?: Texts | null;
  readonly expectEvictionHard?: Texts;
  readonly transitionPeriodInFileSeconds?: number;
  readonly expectTransitionPeriodSeconds?: number;
  readonly expectDefaults?: Readonly<Record<string, unknown>>;
}

const KUBELET = { name: '--profile', value: 'kubelet' };

for (const each of casesOf<DefaultsCase>('eviction-settings-defaults')) {
  test(`eviction-settings-defaults: ${each.name}`, (t) => {
    // JSON is YAML.
    const text = JSON.stringify({
      ...(each.evictionHardInFile === undefined ? {} : { evictionHard: each.evictionHardInFile }),
      ...(each.mergeDefaultEvictionSettings === undefined
        ? {}
        : { mergeDefaultEvictionSettings: each.mergeDefaultEvictionSettings }),
      ...(each.transitionPeriodInFileSeconds === undefined
        ? {}
        : { evictionPressureTransitionPeriod: `${each.transitionPeriodInFileSeconds}s` }),
    });
    const dropIns =
      'evictionHardInDropIn' in each
        ? [{ path: 'd.conf', text: JSON.stringify({ evictionHard: each.evictionHardInDropIn }) }]
        : [];
    const settings = settingsOf(
      loadSettings({ kubeletConfig: { path: 'k', text }, kubeletDropIns: dropIns, flags: [KUBELET] }),
    );
    if (each.expectEvictionHard !== undefined) {
      // Signals that are switched off give no threshold.
      const effective = Object.entries(each.expectEvictionHard).filter(([, limit]) => limit !== '0%');
      t.deepEqual(hardOf(settings), Object.fromEntries(effective));
    }
    if (each.expectTransitionPeriodSeconds !== undefined) {
      t.is(settings.pressureTransitionPeriod, milliseconds(each.expectTransitionPeriodSeconds * 1000));
    }
    const defaults = each.expectDefaults;
    if (defaults === undefined) return;
    t.like(defaults, {
      evictionPressureTransitionPeriodSeconds: settings.pressureTransitionPeriod / 1000,
      evictionMaxPodGracePeriodSeconds: (settings.maxPodGracePeriod ?? Number.NaN) / 1000,
      mergeDefaultEvictionSettings: settings.mergeDefaultEvictionSettings,
      enforceNodeAllocatable: [...settings.enforceNodeAllocatable],
      localStorageCapacityIsolation: settings.localStorageCapacityIsolation,
      imageMinimumGCAgeSeconds: settings.imageMinimumGCAge / 1000,
      imageMaximumGCAgeSeconds: (settings.imageMaximumGCAge ?? 0) / 1000,
      imageGCHighThresholdPercent: settings.imageGCHighThresholdPercent,
      imageGCLowThresholdPercent: settings.imageGCLowThresholdPercent,
    });
    t.deepEqual(
      settings.thresholds.filter(({ urgency, minReclaim }) => urgency.kind === 'soft' || minReclaim !== null),
      [],
    );
  });
}

/** The place and the rule that stand for each error of the vectors. */
const VALIDATION: Readonly<Record<string, readonly [path: string, rule: RegExp]>> = {
  'imageGCLowThresholdPercent-not-below-high': ['imageGCLowThresholdPercent', /below the high mark/],
  'feature-gate-locked': ['featureGates.ImageMaximumGCAge', /locked/],
  'imageMaximumGCAge-negative': ['imageMaximumGCAge', /negative/],
  'imageMinimumGCAge-negative': ['imageMinimumGCAge', /negative/],
  'imageMaximumGCAge-not-above-minimum': ['imageMaximumGCAge', /longer/],
  'containerLogMaxWorkers-below-1': ['containerLogMaxWorkers', /at least 1/],
  'containerLogMonitorInterval-below-3s': ['containerLogMonitorInterval', /at least 3s/],
  'containerLogMaxFiles-below-2': ['containerLogMaxFiles', /at least 2/],
};

for (const each of casesOf<{ name: string; overrides: Record<string, unknown>; expect: { errorKind: string | null } }>(
  'gc-config-validation',
)) {
  test(`gc-config-validation: ${each.name}`, (t) => {
    const keys = Object.entries(each.overrides).map(([key, value]) => {
      if (key.endsWith('Ns')) return [key.slice(0, -2), `${Number(value)}ns`];
      return key.endsWith('Ms') ? [key.slice(0, -2), `${Number(value)}ms`] : [key, value];
    });
    const text = JSON.stringify(Object.fromEntries(keys));
    const result = loadSettings({ kubeletConfig: { path: 'k', text }, flags: [KUBELET] });
    t.deepEqual(
      result.problems.map(({ path }) => path),
      each.expect.errorKind === null ? [] : [VALIDATION[each.expect.errorKind]?.[0]],
    );
    if (each.expect.errorKind !== null)
      t.regex(result.problems[0]?.rule ?? '', VALIDATION[each.expect.errorKind]?.[1] ?? /^$/);
    t.is(result.kind, each.expect.errorKind === null ? 'loaded' : 'refused');
  });
}

interface PolicyCase {
  readonly name: string;
  readonly policy: { readonly highThresholdPercent: number; readonly lowThresholdPercent: number };
  readonly expect: { readonly errorKind: string | null };
}

for (const { name, policy, expect } of casesOf<PolicyCase>('gc-image-policy')) {
  test(`gc-image-policy: ${name}`, (t) => {
    const fault: string | null = imageGcMarksFault(policy.highThresholdPercent, policy.lowThresholdPercent);
    t.is(fault, expect.errorKind);
  });
}

test('with nothing given, every setting is its default and every origin says so', (t) => {
  const result = loadSettings({});
  t.deepEqual(result.problems, []);
  const { thresholds, ...rest } = settingsOf(result);
  t.deepEqual(
    thresholds.map(({ id, limit }) => `${id} ${limitText(limit)}`),
    [
      'memory.available/hard/1 100Mi',
      'nodefs.available/hard/1 10%',
      'nodefs.inodesFree/hard/1 5%',
      'imagefs.available/hard/1 15%',
      'imagefs.inodesFree/hard/1 5%',
      'allocatableMemory.available/of/hard/1 100Mi',
    ],
  );
  t.deepEqual(rest, {
    profile: 'reclaimd',
    runtimeEndpoint: null,
    runtimeRequestTimeout: milliseconds(120_000),
    rootDir: '/var/lib/kubelet',
    podLogsDir: '/var/log/pods',
    staticPodPath: null,
    podsFrom: null,
    podsFromAnywhere: false,
    enforceNodeAllocatable: ['pods'],
    podsCgroup: { root: '/', driver: 'auto', perQos: true, names: ['kubepods.slice', 'kubepods'] },
    kernelMemcgNotification: false,
    outOfDisk: { reserve: null, transition: milliseconds(300_000) },
    mergeDefaultEvictionSettings: false,
    pressureTransitionPeriod: milliseconds(300_000),
    maxPodGracePeriod: null,
    configuredMaxPodGraceSeconds: null,
    localStorageCapacityIsolation: true,
    imageMinimumGCAge: milliseconds(120_000),
    imageMaximumGCAge: null,
    imageGCHighThresholdPercent: 85,
    imageGCLowThresholdPercent: 80,
    containerGC: { minAge: milliseconds(0), maxPerPodContainer: 1, maxContainers: null, rules: 'current' },
    containerLogLinksDir: { kind: 'auto' },
    afterImageCollection: [],
    runtimeHandlerAwareImages: false,
    usesRuntimeEvents: true,
    periodicCollection: { containers: 'auto', images: 'auto', logRotation: 'auto' },
    containerLogs: {
      limits: { maxSizeBytes: 10_485_760, maxFiles: 5 },
      workers: 1,
      monitorInterval: milliseconds(10_000),
    },
    sandboxImage: null,
    protectedImages: [],
    protectedImageExpressions: [],
    protectedImageLabels: [],
    imagesKeptPerRepository: 0,
    maxRemovalsPerPass: null,
    protectedNamespaces: [],
    protectedPriority: null,
    protectedAnnotation: 'reclaimd/protected',
    ownerScope: 'all',
    stateFile: '/var/lib/reclaimd/state.db',
    ballast: null,
    evictBesideKubelet: false,
    sampling: { slowest: milliseconds(10_000), fastest: milliseconds(100), assumedFillRate: bytes(200_000_000) },
    collectWhenFullWithin: null,
    log: { level: 'info', format: 'auto', file: null },
  });
  const origins = result.kind === 'loaded' ? [...result.origins.values()] : [];
  t.true(origins.length > 30 && origins.every(({ kind }) => kind === 'default'));
});

const grace = test.macro({
  exec(t, profile: string, text: string, cap: number | null) {
    const settings = settingsOf(
      loadSettings({ file: { path: 'f', text }, flags: [{ name: 'profile', value: profile }] }),
    );
    t.is(settings.maxPodGracePeriod, cap === null ? null : milliseconds(cap));
  },
  title: (_, profile: string, text: string) => `under ${profile}, "${text}" caps the grace`,
});

test(grace, 'reclaimd', '', null);
test(grace, 'reclaimd', 'evictionMaxPodGracePeriod: -1', null);
test(grace, 'reclaimd', 'evictionMaxPodGracePeriod: 0', 0);
test(grace, 'reclaimd', 'evictionMaxPodGracePeriod: 90', 90_000);
// The pod worker makes one second of these.
test(grace, 'kubelet', '', 0);
test(grace, 'kubelet', 'evictionMaxPodGracePeriod: -1', 0);

test("under the kubelet's profile no namespace is protected", (t) => {
  t.deepEqual(settingsOf(loadSettings({ flags: [KUBELET] })).protectedNamespaces, []);
});

test('the profile may stand in our file, and a flag wins over it', (t) => {
  const file = { path: 'f', text: 'profile: kubelet' };
  t.is(settingsOf(loadSettings({ file })).profile, 'kubelet');
  t.is(settingsOf(loadSettings({ file, flags: [{ name: 'profile', value: 'reclaimd' }] })).profile, 'reclaimd');
});

const ALL: LoadSources = {
  kubeletConfig: {
    path: 'k.yaml',
    text: 'imageMinimumGCAge: 3m\nimageMaximumGCAge: 100h\npodLogsDir: /k\nevictionSoft: {pid.available: 5%}\nevictionSoftGracePeriod: {pid.available: 1m}\n',
  },
  kubeletDropIns: [
    {
      path: '10.conf',
      text: 'podLogsDir: /drop\nimageGCHighThresholdPercent: 90\nevictionHard: {nodefs.available: 8%, nodefs.inodesFree: ~}',
    },
  ],
  file: { path: 'f.yaml', text: 'imageMaximumGCAge: 200h\npodLogsDir: /own\ncontainerGC: {maxContainers: 7}\n' },
  flags: splitFlags([
    '--pod-log-dir',
    '/flag',
    '--protect-image=a',
    '--protect-image',
    'b, c',
    '--evict-beside-kubelet',
    '--maximum-dead-containers-per-container=-1',
  ]),
};

test('the heavier source wins, and each value says where it stands', (t) => {
  const result = loadSettings(ALL);
  const settings = settingsOf(result);
  t.is(settings.podLogsDir, '/flag');
  t.is(settings.imageMaximumGCAge, milliseconds(200 * 3_600_000));
  t.is(settings.imageMinimumGCAge, milliseconds(180_000));
  t.is(settings.imageGCHighThresholdPercent, 90);
  t.deepEqual(settings.containerGC, {
    minAge: milliseconds(0),
    maxPerPodContainer: null,
    maxContainers: 7,
    rules: 'current',
  });
  t.deepEqual(settings.protectedImages, ['a', 'b', 'c']);
  t.true(settings.evictBesideKubelet);
  // The drop-in changed one signal and removed another; the defaults of the rest stay.
  t.deepEqual(hardOf(settings), {
    'memory.available': '100Mi',
    'nodefs.available': '8%',
    'imagefs.available': '15%',
    'imagefs.inodesFree': '5%',
  });
  const originOf = (path: string) => (result.kind === 'loaded' ? result.origins.get(path) : undefined);
  t.deepEqual(originOf('podLogsDir'), { kind: 'flag', flag: '--pod-log-dir' });
  t.deepEqual(originOf('imageMaximumGCAge'), { kind: 'file', file: 'f.yaml', line: 1, column: 20 });
  t.deepEqual(originOf('containerGC.maxContainers'), { kind: 'file', file: 'f.yaml', line: 3, column: 30 });
  t.deepEqual(originOf('nodefs.available/hard/1'), { kind: 'file', file: '10.conf', line: 3, column: 34 });
  t.deepEqual(originOf('memory.available/hard/1'), { kind: 'default' });
  t.deepEqual(originOf('pid.available/soft/1'), { kind: 'file', file: 'k.yaml', line: 4, column: 31 });
});

test('a flag takes zero as it is, a file does not', (t) => {
  const flag = settingsOf(
    loadSettings({
      flags: splitFlags(['--eviction-pressure-transition-period=0s', '--minimum-image-ttl-duration', '0']),
    }),
  );
  t.is(flag.pressureTransitionPeriod, milliseconds(0));
  t.is(flag.imageMinimumGCAge, milliseconds(0));
  const file = settingsOf(loadSettings({ file: { path: 'f', text: 'imageMinimumGCAge: 0s' } }));
  t.is(file.imageMinimumGCAge, milliseconds(120_000));
});

test('the map of a flag is the whole map: merging in a file does not fill it, merging by flag does', (t) => {
  const kubeletConfig = { path: 'k', text: 'mergeDefaultEvictionSettings: true' };
  const flag = '--eviction-hard=nodefs.available<7%';
  t.deepEqual(hardOf(settingsOf(loadSettings({ kubeletConfig, flags: splitFlags([flag]) }))), {
    'nodefs.available': '7%',
  });
  const filled = settingsOf(loadSettings({ flags: splitFlags([flag, '--merge-default-eviction-settings']) }));
  t.is(hardOf(filled)['imagefs.available'], '15%');
  t.is(hardOf(filled)['nodefs.available'], '7%');
});

test("our file says to merge, and the map of the kubelet's file is filled", (t) => {
  const settings = settingsOf(
    loadSettings({
      kubeletConfig: { path: 'k', text: 'evictionHard: {memory.available: 1Gi}' },
      file: { path: 'f', text: 'mergeDefaultEvictionSettings: true' },
    }),
  );
  t.is(hardOf(settings)['memory.available'], '1Gi');
  t.is(hardOf(settings)['nodefs.available'], '10%');
});

test('without pods among enforceNodeAllocatable memory lines are not copied', (t) => {
  const settings = settingsOf(loadSettings({ file: { path: 'f', text: 'enforceNodeAllocatable: []' } }));
  t.false(settings.thresholds.some(({ signal }) => signal === 'allocatableMemory.available'));
});

test('settings cannot be changed', (t) => {
  const settings = settingsOf(loadSettings({}));
  t.true(
    Object.isFrozen(settings) && Object.isFrozen(settings.thresholds) && Object.isFrozen(settings.thresholds[0]?.limit),
  );
});

test('a key that merges an anchor is read', (t) => {
  const text =
    'evictionSoft: &lines {nodefs.available: 15%}\nevictionHard:\n  <<: *lines\n  imagefs.available: 9%\nevictionSoftGracePeriod: {nodefs.available: 1m}\n';
  t.deepEqual(hardOf(settingsOf(loadSettings({ file: { path: 'f', text } }))), {
    'nodefs.available': '15%',
    'imagefs.available': '9%',
  });
});

test('a key named like a part of every object is unknown like any other', (t) => {
  for (const key of ['__proto__', 'constructor', 'toString']) {
    const top = loadSettings({ file: { path: 'f', text: `${key}: 1` } });
    t.deepEqual(
      top.problems.map(({ code, path }) => [code, path]),
      [['UNKNOWN_FIELD', key]],
    );
    const inner = loadSettings({ file: { path: 'f', text: `evictionSoft: {${key}: 1Gi}` } });
    t.true(
      inner.problems.some(({ code }) => code === 'UNKNOWN_SIGNAL'),
      key,
    );
  }
});

test('what no message should hold is told all the same: values without end, very long, or of control characters', (t) => {
  const messageOf = (text: string) => {
    const { kind, problems } = loadSettings({ file: { path: 'f', text } });
    t.is(kind, 'refused', text.slice(0, 40));
    return problems.map(({ message }) => message).join('\n');
  };
  t.regex(
    messageOf('evictionHard: &a {nodefs.available: *a}'),
    /f:1:\d+: evictionHard\[nodefs\.available\]: .* contains itself/,
  );
  t.regex(messageOf('evictionMaxPodGracePeriod: .inf'), /whole number belongs here: Infinity$/);
  t.true(messageOf(`rootDir: ${'x'.repeat(100_000)}`).length < 500);
  t.regex(messageOf('rootDir: "\\e[31mred"'), /absolute: \\u001b\[31mred$/);
  t.regex(messageOf('rootDir: "/a\\0b"'), /a path must have no NUL in it: \/a\\u0000b$/);
});

test("problems come source by source, the flags first, then the kubelet's file, then ours", (t) => {
  const { problems } = loadSettings({
    kubeletConfig: { path: 'k.yaml', text: 'maxPod: 1' },
    file: { path: 'f.yaml', text: 'balast: 1' },
    flags: splitFlags(['--no-such-flag=1']),
  });
  t.deepEqual(
    problems.map(({ source }) => source),
    ['--no-such-flag', 'k.yaml', 'f.yaml'],
  );
});
