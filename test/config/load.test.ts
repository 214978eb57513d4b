import test from 'ava';
import { splitFlags } from '../../src/config/flags.js';
import { type LoadResult, loadSettings } from '../../src/config/load.js';
import { milliseconds } from '../../src/units/units.js';

interface Row {
  readonly title: string;
  readonly yaml?: string;
  readonly flags?: readonly string[];
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly path: string;
  /** What the message must name. */
  readonly says: readonly string[];
}

const SOFT = 'evictionSoft: {nodefs.available: 15%}\nevictionSoftGracePeriod: {nodefs.available: 1m}\n';

/** One row for each thing that can be said about a configuration, and more where it can be said in several ways. */
const ROWS: readonly Row[] = [
  {
    title: 'an exabyte',
    yaml: 'evictionHard: {nodefs.available: 1E}',
    code: 'ABSURDLY_LARGE',
    severity: 'warning',
    path: 'evictionHard[nodefs.available]',
    says: ['1E'],
  },
  {
    title: 'the whole capacity',
    yaml: 'evictionHard: {nodefs.available: 100.0%}',
    code: 'ALWAYS_MET',
    severity: 'error',
    path: 'evictionHard[nodefs.available]',
    says: ['100%'],
  },
  {
    title: 'days',
    yaml: 'imageMaximumGCAge: 7d',
    code: 'BAD_DURATION',
    severity: 'error',
    path: 'imageMaximumGCAge',
    says: ['168h', '7d'],
  },
  {
    title: 'a duration spelled out',
    yaml: `evictionSoft: {nodefs.available: 15%}\nevictionSoftGracePeriod: {nodefs.available: 5 min}`,
    code: 'BAD_DURATION',
    severity: 'error',
    path: 'evictionSoftGracePeriod[nodefs.available]',
    says: ['write 5m'],
  },
  {
    title: 'a duration left empty',
    yaml: 'imageMinimumGCAge:',
    code: 'BAD_DURATION',
    severity: 'error',
    path: 'imageMinimumGCAge',
    says: ['1m30s'],
  },
  {
    title: 'a comma in a percentage',
    yaml: 'evictionHard: {nodefs.available: "2,5%"}',
    code: 'BAD_PERCENT',
    severity: 'error',
    path: 'evictionHard[nodefs.available]',
    says: ['2.5%'],
  },
  {
    title: 'bytes with a B',
    yaml: 'evictionHard: {nodefs.available: 10GB}',
    code: 'BAD_QUANTITY',
    severity: 'error',
    path: 'evictionHard[nodefs.available]',
    says: ['10G', '10Gi'],
  },
  {
    title: 'a relative path',
    yaml: 'rootDir: var/lib',
    code: 'BAD_VALUE',
    severity: 'error',
    path: 'rootDir',
    says: ['absolute'],
  },
  {
    title: 'a level that is none',
    flags: ['--log-level=loud'],
    code: 'BAD_VALUE',
    severity: 'error',
    path: 'log.level',
    says: ['debug'],
  },
  {
    title: 'looking faster than slowly',
    yaml: 'sampling: {slowest: 1s, fastest: 2s}',
    code: 'BAD_VALUE',
    severity: 'error',
    path: 'sampling.fastest',
    says: ['sampling.slowest'],
  },
  {
    title: 'a call that may take no time',
    flags: ['--runtime-request-timeout=0s'],
    code: 'BAD_VALUE',
    severity: 'error',
    path: 'runtimeRequestTimeout',
    says: ['zero'],
  },
  {
    title: 'a runtime that is no socket',
    yaml: 'runtimeEndpoint: tcp://localhost:1',
    code: 'BAD_VALUE',
    severity: 'error',
    path: 'containerRuntimeEndpoint',
    says: ['unix'],
  },
  {
    title: 'Mi on inodes',
    yaml: 'evictionHard: {nodefs.inodesFree: 1Mi}',
    code: 'BYTE_SUFFIX_ON_INODES',
    severity: 'warning',
    path: 'evictionHard[nodefs.inodesFree]',
    says: ['1048576'],
  },
  {
    title: 'a line on containerfs',
    yaml: 'evictionHard: {containerfs.available: 5%}',
    code: 'CONTAINERFS_DERIVED',
    severity: 'warning',
    path: 'evictionHard[containerfs.available]',
    says: ['imagefs.available', 'nodefs.available'],
  },
  {
    title: 'a reclaim on containerfs',
    yaml: 'evictionMinimumReclaim: {containerfs.available: 5%}',
    code: 'CONTAINERFS_DERIVED',
    severity: 'warning',
    path: 'evictionMinimumReclaim[containerfs.available]',
    says: ['imagefs.available'],
  },
  {
    title: 'one hard signal',
    yaml: 'evictionHard: {memory.available: 5%}',
    code: 'DEFAULTS_DROPPED',
    severity: 'warning',
    path: 'evictionHard',
    says: ['nodefs.inodesFree', 'mergeDefaultEvictionSettings'],
  },
  {
    title: 'a key twice',
    yaml: 'evictionHard:\n  nodefs.available: 5%\n  nodefs.available: 6%',
    code: 'DUPLICATE_KEY',
    severity: 'error',
    path: 'evictionHard[nodefs.available]',
    says: ['f.yaml:3:3'],
  },
  {
    title: 'a key under both its names',
    yaml: 'runtimeEndpoint: /a\ncontainerRuntimeEndpoint: /b',
    code: 'DUPLICATE_KEY',
    severity: 'error',
    path: 'runtimeEndpoint',
    says: ['containerRuntimeEndpoint'],
  },
  {
    title: 'a signal twice in a flag',
    flags: ['--eviction-hard=nodefs.available<5%', '--eviction-hard=nodefs.available<6%'],
    code: 'DUPLICATE_SIGNAL',
    severity: 'warning',
    path: 'evictionHard[nodefs.available]',
    says: ['5%', '6%'],
  },
  {
    title: 'a flag over a file',
    yaml: 'evictionMinimumReclaim: {nodefs.available: 1Gi, imagefs.available: 2Gi}',
    flags: ['--eviction-minimum-reclaim=nodefs.available=3Gi'],
    code: 'FLAG_OVERRIDES_FILE',
    severity: 'warning',
    path: 'evictionMinimumReclaim',
    says: ['nodefs.available 1Gi becomes 3Gi', 'imagefs.available 2Gi is lost'],
  },
  {
    title: 'a low mark above the high one',
    yaml: 'imageGCHighThresholdPercent: 70',
    code: 'GC_LOW_NOT_BELOW_HIGH',
    severity: 'error',
    path: 'imageGCLowThresholdPercent',
    says: ['70', '80 (default)'],
  },
  {
    title: 'equal marks',
    yaml: 'imageGCHighThresholdPercent: 70\nimageGCLowThresholdPercent: 70',
    code: 'GC_LOW_NOT_BELOW_HIGH',
    severity: 'error',
    path: 'imageGCLowThresholdPercent',
    says: ['70'],
  },
  {
    title: 'a grace for nothing',
    yaml: 'evictionSoftGracePeriod: {nodefs.available: 1m}',
    code: 'GRACE_WITHOUT_THRESHOLD',
    severity: 'warning',
    path: 'evictionSoftGracePeriod[nodefs.available]',
    says: ['soft'],
  },
  {
    title: 'thousandths',
    yaml: 'evictionHard: {nodefs.available: 100m}',
    code: 'LESS_THAN_ONE',
    severity: 'warning',
    path: 'evictionHard[nodefs.available]',
    says: ['100M', '100Mi'],
  },
  {
    title: 'a share as a number',
    yaml: 'evictionHard: {nodefs.available: "0.05"}',
    code: 'LESS_THAN_ONE',
    severity: 'warning',
    path: 'evictionHard[nodefs.available]',
    says: ['5%'],
  },
  {
    title: 'ninety percent',
    yaml: 'evictionHard: {imagefs.inodesFree: 90%}',
    code: 'LOOKS_LIKE_USED_PERCENT',
    severity: 'warning',
    path: 'evictionHard[imagefs.inodesFree]',
    says: ['90%'],
  },
  {
    title: 'the wrong sign',
    flags: ['--eviction-hard=nodefs.available>10%'],
    code: 'MALFORMED_PAIR',
    severity: 'error',
    path: 'evictionHard',
    says: ['<'],
  },
  {
    title: 'a sign lost to the shell',
    flags: ['--eviction-soft=nodefs.available'],
    code: 'MALFORMED_PAIR',
    severity: 'error',
    path: 'evictionSoft',
    says: ['shell'],
  },
  {
    title: 'a maximum age at the minimum',
    yaml: 'imageMaximumGCAge: 2m',
    code: 'MAX_AGE_NOT_ABOVE_MIN_AGE',
    severity: 'error',
    path: 'imageMaximumGCAge',
    says: ['2m (default)'],
  },
  {
    title: 'a reclaim below zero',
    yaml: 'evictionMinimumReclaim: {nodefs.available: -1Gi}',
    code: 'NEGATIVE',
    severity: 'error',
    path: 'evictionMinimumReclaim[nodefs.available]',
    says: ['-1Gi'],
  },
  {
    title: 'an age below zero',
    yaml: 'imageMinimumGCAge: -1s',
    code: 'NEGATIVE_DURATION',
    severity: 'error',
    path: 'imageMinimumGCAge',
    says: ['-1s'],
  },
  {
    title: 'a grace below zero',
    yaml: 'evictionSoft: {nodefs.available: 15%}\nevictionSoftGracePeriod: {nodefs.available: -1m}',
    code: 'NEGATIVE_DURATION',
    severity: 'error',
    path: 'evictionSoftGracePeriod[nodefs.available]',
    says: ['-1m'],
  },
  {
    title: 'a cap below zero',
    yaml: 'evictionMaxPodGracePeriod: -1',
    code: 'NEGATIVE_GRACE',
    severity: 'warning',
    path: 'evictionMaxPodGracePeriod',
    says: ['-1'],
  },
  {
    title: 'zero spelled otherwise',
    yaml: 'evictionHard: {nodefs.available: 0.0%}',
    code: 'NEVER_MET',
    severity: 'warning',
    path: 'evictionHard[nodefs.available]',
    says: ['0%'],
  },
  {
    title: 'a line at nothing',
    yaml: 'evictionHard: {nodefs.available: "0"}',
    code: 'NOT_POSITIVE',
    severity: 'error',
    path: 'evictionHard[nodefs.available]',
    says: ['0%'],
  },
  {
    title: 'a reclaim of no share',
    yaml: 'evictionMinimumReclaim: {nodefs.available: 0%}',
    code: 'NOT_POSITIVE',
    severity: 'error',
    path: 'evictionMinimumReclaim[nodefs.available]',
    says: ['0%'],
  },
  {
    title: 'no line at all',
    yaml: 'evictionHard: {}',
    code: 'NO_DISK_THRESHOLD',
    severity: 'warning',
    path: 'evictionHard',
    says: ['disk'],
  },
  {
    title: 'only a line that is never met',
    yaml: 'evictionHard: {nodefs.available: 00%}',
    code: 'NO_DISK_THRESHOLD',
    severity: 'warning',
    path: 'evictionHard',
    says: [],
  },
  {
    title: 'more than all',
    yaml: 'evictionHard: {nodefs.available: 101%}',
    code: 'OUT_OF_RANGE',
    severity: 'error',
    path: 'evictionHard[nodefs.available]',
    says: ['101%'],
  },
  {
    title: 'a mark above a hundred',
    yaml: 'imageGCHighThresholdPercent: 101',
    code: 'OUT_OF_RANGE',
    severity: 'error',
    path: 'imageGCHighThresholdPercent',
    says: ['101'],
  },
  {
    title: 'a reclaim for nothing',
    yaml: 'evictionMinimumReclaim: {pid.available: 100}'.replace('100', '"100"'),
    code: 'RECLAIM_WITHOUT_THRESHOLD',
    severity: 'warning',
    path: 'evictionMinimumReclaim[pid.available]',
    says: [],
  },
  {
    title: 'a cap of zero',
    yaml: `${SOFT}evictionMaxPodGracePeriod: 0`,
    code: 'SOFT_EVICTION_KILLS',
    severity: 'warning',
    path: 'evictionMaxPodGracePeriod',
    says: ['at once'],
  },
  {
    title: 'a soft line without grace',
    yaml: 'evictionSoft: {nodefs.available: 15%}',
    code: 'SOFT_WITHOUT_GRACE',
    severity: 'error',
    path: 'evictionSoft[nodefs.available]',
    says: ['evictionSoftGracePeriod'],
  },
  {
    title: 'a grace of zero',
    yaml: SOFT.replace('1m', '0s'),
    code: 'SOFT_WITH_ZERO_GRACE',
    severity: 'warning',
    path: 'evictionSoftGracePeriod[nodefs.available]',
    says: ['hard'],
  },
  {
    title: 'ten bytes',
    yaml: 'evictionHard: {nodefs.available: "10"}',
    code: 'SUSPICIOUSLY_SMALL',
    severity: 'warning',
    path: 'evictionHard[nodefs.available]',
    says: ['10 bytes'],
  },
  {
    title: 'a flag for a key',
    yaml: 'eviction-hard: {nodefs.available: 10%}',
    code: 'UNKNOWN_FIELD',
    severity: 'error',
    path: 'eviction-hard',
    says: ['evictionHard'],
  },
  {
    title: 'a signal at the top',
    yaml: 'nodefs.available: 10%',
    code: 'UNKNOWN_FIELD',
    severity: 'error',
    path: 'nodefs.available',
    says: ['evictionHard'],
  },
  {
    title: 'a key in a group',
    yaml: 'log: {levl: info}',
    code: 'UNKNOWN_FIELD',
    severity: 'error',
    path: 'log.levl',
    says: ['level'],
  },
  {
    title: 'a key that does not exist',
    yaml: 'reserve: 1Gi',
    code: 'UNKNOWN_FIELD',
    severity: 'error',
    path: 'reserve',
    says: [],
  },
  {
    title: 'a flag that does not exist',
    flags: ['--eviction-hart=x'],
    code: 'UNKNOWN_FLAG',
    severity: 'error',
    path: '',
    says: ['--eviction-hard'],
  },
  {
    title: 'a signal in lower case',
    yaml: 'evictionHard: {imagefs.inodesfree: 5%}',
    code: 'UNKNOWN_SIGNAL',
    severity: 'error',
    path: 'evictionHard[imagefs.inodesfree]',
    says: ['imagefs.inodesFree'],
  },
  {
    title: 'a signal far from all',
    flags: ['--eviction-hard=disk<5%'],
    code: 'UNKNOWN_SIGNAL',
    severity: 'error',
    path: 'evictionHard[disk]',
    says: ['pid.available'],
  },
  {
    title: 'an exponent',
    yaml: 'evictionHard: {nodefs.available: 1e1%}',
    code: 'UNUSUAL_NUMBER',
    severity: 'warning',
    path: 'evictionHard[nodefs.available]',
    says: ['10%'],
  },
  {
    title: 'the file of something else',
    yaml: 'kind: KubeProxyConfiguration',
    code: 'WRONG_KIND',
    severity: 'error',
    path: 'kind',
    says: ['KubeletConfiguration'],
  },
  {
    title: 'a bare number',
    yaml: 'evictionHard: {nodefs.available: 10}',
    code: 'WRONG_TYPE',
    severity: 'error',
    path: 'evictionHard[nodefs.available]',
    says: ['10%'],
  },
  {
    title: 'a bare share',
    yaml: 'evictionHard: {nodefs.available: 0.05}',
    code: 'WRONG_TYPE',
    severity: 'error',
    path: 'evictionHard[nodefs.available]',
    says: ['5%'],
  },
  {
    title: 'a map in a map',
    yaml: 'evictionHard: {nodefs: {available: 10%}}',
    code: 'WRONG_TYPE',
    severity: 'error',
    path: 'evictionHard[nodefs]',
    says: ['nodefs.available'],
  },
  {
    title: 'nil for a map',
    yaml: 'evictionSoft: nil',
    code: 'WRONG_TYPE',
    severity: 'error',
    path: 'evictionSoft',
    says: ['map', '{}'],
  },
  {
    title: 'a list for a map',
    yaml: 'evictionHard: [nodefs.available<10%]',
    code: 'WRONG_TYPE',
    severity: 'error',
    path: 'evictionHard',
    says: ['map'],
  },
  {
    title: 'a duration for seconds',
    yaml: 'evictionMaxPodGracePeriod: 60s',
    code: 'WRONG_TYPE',
    severity: 'error',
    path: 'evictionMaxPodGracePeriod',
    says: ['write 60'],
  },
  {
    title: 'a number for a duration',
    yaml: 'imageMinimumGCAge: 120',
    code: 'WRONG_TYPE',
    severity: 'error',
    path: 'imageMinimumGCAge',
    says: ['unit', '120s'],
  },
  {
    title: 'a word for a list',
    yaml: 'protectedImages: a',
    code: 'WRONG_TYPE',
    severity: 'error',
    path: 'protectedImages',
    says: ['list'],
  },
  {
    title: 'a word for yes',
    yaml: 'evictBesideKubelet: "true"',
    code: 'WRONG_TYPE',
    severity: 'error',
    path: 'evictBesideKubelet',
    says: ['true or false'],
  },
  { title: 'a list for the whole', yaml: '- a', code: 'WRONG_TYPE', severity: 'error', path: '', says: ['map'] },
  {
    title: 'a tab',
    yaml: 'evictionHard:\n\tnodefs.available: 10%\n',
    code: 'YAML_SYNTAX',
    severity: 'error',
    path: '',
    says: ['f.yaml:2:1'],
  },
  {
    title: 'an alias to nowhere',
    yaml: 'rootDir: *there',
    code: 'YAML_SYNTAX',
    severity: 'error',
    path: '',
    says: ['there'],
  },
  {
    title: 'a period of zero',
    yaml: 'evictionPressureTransitionPeriod: 0s',
    code: 'ZERO_MEANS_DEFAULT',
    severity: 'warning',
    path: 'evictionPressureTransitionPeriod',
    says: ['5m'],
  },
];

for (const { title, yaml, flags, code, severity, path, says } of ROWS) {
  test(`${code}: ${title}`, (t) => {
    const result = loadSettings({
      ...(yaml === undefined ? {} : { file: { path: 'f.yaml', text: yaml } }),
      flags: splitFlags(flags ?? []),
    });
    const problem = result.problems.find((each) => each.code === code && each.path === path);
    t.is(problem?.severity, severity, JSON.stringify(result.problems));
    for (const text of says) t.true(problem?.message.includes(text), `${text} is not in: ${problem?.message}`);
    t.regex(problem?.message ?? '', /^(f\.yaml:\d+:\d+|--[a-z-]+|default): .*(Cannot use this|Doubtful) as .+: /s);
    t.is(result.kind, result.problems.some((each) => each.severity === 'error') ? 'refused' : 'loaded');
  });
}

test("FILE_OVERRIDES_FILE: our file over the kubelet's", (t) => {
  const result = loadSettings({
    kubeletConfig: {
      path: 'k.yaml',
      text: 'evictionHard: {memory.available: 1Gi}\nmergeDefaultEvictionSettings: true',
    },
    file: { path: 'f.yaml', text: 'evictionHard: {nodefs.available: 10%}\n' },
  });
  const problem = result.problems.find(({ code }) => code === 'FILE_OVERRIDES_FILE');
  t.true(problem?.message.startsWith('f.yaml:1:1: evictionHard: Doubtful as'), problem?.message);
  t.true(problem?.message.includes('memory.available 1Gi is lost'));
});

test('all problems come at once, and each has its place', (t) => {
  const text = 'evictionhard: {}\nreserve: 1\nimageMinimumGCAge: 5\nevictionHard:\n  nodefs.available: x\n';
  const { problems } = loadSettings({ file: { path: 'f.yaml', text } });
  t.deepEqual(
    problems.map(({ code, line, column }) => [code, line, column]),
    [
      ['UNKNOWN_FIELD', 1, 1],
      ['UNKNOWN_FIELD', 2, 1],
      ['WRONG_TYPE', 3, 20],
      ['DEFAULTS_DROPPED', 4, 1],
      ['BAD_QUANTITY', 5, 21],
    ],
  );
});

test('of a value of the wrong type only that is said, not what follows from its absence', (t) => {
  const text =
    'evictionSoft: {nodefs.available: 15%}\nevictionSoftGracePeriod: {nodefs.available: 90}\nevictionHard: 5\n';
  const { problems } = loadSettings({ file: { path: 'f.yaml', text } });
  t.deepEqual(
    problems.map(({ code, path }) => [code, path]),
    [
      ['WRONG_TYPE', 'evictionSoftGracePeriod[nodefs.available]'],
      ['WRONG_TYPE', 'evictionHard'],
    ],
  );
});

test('keys of the kubelet that are not used are passed over, whatever they hold, in either file', (t) => {
  const text =
    'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 250\nlogging: {format: json}\n';
  t.deepEqual(loadSettings({ kubeletConfig: { path: 'k', text } }).problems, []);
  t.deepEqual(loadSettings({ file: { path: 'f', text } }).problems, []);
});

test("our own keys are unknown in the kubelet's file, and it is said where they belong", (t) => {
  const { problems } = loadSettings({ kubeletConfig: { path: 'k', text: 'protectedImages: [a]' } });
  t.is(problems[0]?.code, 'UNKNOWN_FIELD');
  t.true(problems[0]?.rule.includes('configuration file of reclaimd'));
});

const KUBELET = { name: '--profile', value: 'kubelet' };

function asKubelet(text: string): LoadResult {
  return loadSettings({ kubeletConfig: { path: 'k.yaml', text }, flags: [KUBELET] });
}

test("under the kubelet's profile unknown and repeated keys are warnings, and the last one counts", (t) => {
  const result = asKubelet('EvictionHard: {}\nimageMinimumGCAge: 3m\nimageMinimumGCAge: 4m\nlogging: {fromat: x}\n');
  t.is(result.kind === 'loaded' ? result.settings.imageMinimumGCAge : null, milliseconds(240_000));
  t.deepEqual(
    result.problems.map(({ code, severity, path }) => [code, severity, path]),
    [
      ['UNKNOWN_FIELD', 'warning', 'EvictionHard'],
      ['DUPLICATE_KEY', 'warning', 'imageMinimumGCAge'],
      ['UNKNOWN_FIELD', 'warning', 'logging.fromat'],
    ],
  );
});

test("under the kubelet's profile the first error is the only one, and unused keys have types too", (t) => {
  const result = asKubelet('maxPods: many\nevictionHard: {nodefs.available: x}\n');
  t.is(result.kind, 'refused');
  t.deepEqual(
    result.problems.map(({ code, path }) => [code, path]),
    [['WRONG_TYPE', 'maxPods']],
  );
});

test("under the kubelet's profile doubtful values pass without a word", (t) => {
  const result = asKubelet(
    'evictionHard: {nodefs.available: 1_0%, imagefs.available: "10", pid.available: NaN%}\nimageMinimumGCAge: 0s\n',
  );
  t.is(result.kind, 'loaded');
  t.deepEqual(result.problems, []);
  t.is(result.kind === 'loaded' ? result.settings.imageMinimumGCAge : null, milliseconds(120_000));
});

test('a wrong profile is refused like any other value', (t) => {
  const { problems } = loadSettings({ flags: [{ name: 'profile', value: 'docker' }] });
  t.deepEqual(
    problems.map(({ code, path }) => [code, path]),
    [['BAD_VALUE', 'profile']],
  );
});
