import test from 'ava';
import { splitFlags } from '../../src/config/flags.js';
import { loadSettings } from '../../src/config/load.js';
import type { Settings } from '../../src/config/settings.js';

type Collecting = Pick<Settings, 'containerLogs' | 'periodicCollection'>;

function read(text: string): Collecting | readonly string[] {
  const result = loadSettings({ file: { path: 'f', text } });
  if (result.kind === 'refused') return result.problems.map(({ code, path }) => `${code} ${path}`);
  const { containerLogs, periodicCollection } = result.settings;
  return { containerLogs, periodicCollection };
}

test('left out, logs are rotated as the kubelet does, and every loop looks whether a kubelet is there', (t) => {
  t.deepEqual<unknown, unknown>(read(''), {
    containerLogs: { limits: { maxSizeBytes: 10 * 1024 * 1024, maxFiles: 5 }, workers: 1, monitorInterval: 10_000 },
    periodicCollection: { containers: 'auto', images: 'auto', logRotation: 'auto' },
  });
});

test("the keys of logs may stand in the kubelet's file, and flags go before it", (t) => {
  const kubeletConfig = { path: 'k', text: 'containerLogMaxSize: 1Mi\ncontainerLogMaxFiles: 3' };
  const result = loadSettings({ kubeletConfig, flags: [{ name: 'container-log-max-files', value: '7' }] });
  t.deepEqual(result.kind === 'loaded' && result.settings.containerLogs.limits, {
    maxSizeBytes: 1024 * 1024,
    maxFiles: 7,
  });
});

test('a negative size switches rotation off, and zero in a file is the default pause', (t) => {
  const off = read('containerLogMaxSize: "-1"\ncontainerLogMonitorInterval: 0s');
  t.like(off, { containerLogs: { limits: null, monitorInterval: 10_000 } });
});

const refused = test.macro({
  exec(t, text: string, problem: string) {
    t.deepEqual(read(text), [problem]);
  },
  title: (_, text: string) => `refused: ${text}`,
});
test(refused, 'containerLogMaxFiles: 1', 'BAD_VALUE containerLogMaxFiles');
test(refused, 'containerLogMaxSize: 10MB', 'BAD_QUANTITY containerLogMaxSize');
test(refused, 'containerLogMaxSize: 1.5Gi', 'BAD_VALUE containerLogMaxSize');
test(refused, 'containerLogMaxWorkers: 0', 'BAD_VALUE containerLogMaxWorkers');
test(refused, 'containerLogMonitorInterval: 2s', 'BAD_VALUE containerLogMonitorInterval');
// Beside a kubelet only images can be asked for: it would make directories and logs under our hands.
test(refused, 'periodicCollection: {containers: always}', 'BAD_VALUE periodicCollection.containers');
test(refused, 'periodicCollection: {logRotation: always}', 'BAD_VALUE periodicCollection.logRotation');

for (const [text, expected] of [
  ['auto', { kind: 'auto' }],
  ['none', { kind: 'none' }],
  ['/logs/links', { kind: 'path', path: '/logs/links' }],
] as const) {
  test(`links to logs: ${text}`, (t) => {
    const loaded = loadSettings({ flags: splitFlags([`--container-log-links-dir=${text}`]) });
    t.deepEqual(loaded.kind === 'loaded' && loaded.settings.containerLogLinksDir, expected);
  });
}

test('links to logs in a relative place are refused', (t) => {
  const refused = loadSettings({ flags: splitFlags(['--container-log-links-dir=links']) });
  t.like(refused, { kind: 'refused', problems: [{ code: 'BAD_VALUE', path: 'containerLogLinksDir' }] });
});

test('a program after image collection is named by its path, and its arguments are taken as they are', (t) => {
  const flags = ['--after-image-collection=/usr/bin/notify', '--after-image-collection=a,b c'];
  const loaded = loadSettings({ flags: splitFlags(flags) });
  t.like(loaded, { settings: { afterImageCollection: ['/usr/bin/notify', 'a,b c'] } });
  const refused = loadSettings({ flags: splitFlags(['--after-image-collection=notify']) });
  t.like(refused, { kind: 'refused', problems: [{ code: 'BAD_VALUE', path: 'afterImageCollection' }] });
});
