import test from 'ava';
import { renderConfigShow } from '../../src/cli/config-show.js';
import { splitFlags } from '../../src/config/flags.js';
import { KEYS } from '../../src/config/key-table.js';
import { loadSettings } from '../../src/config/load.js';

const RESULT = loadSettings({
  kubeletConfig: {
    path: '/etc/k.yaml',
    text: 'evictionHard:\n  nodefs.available: 5%\nevictionSoft: {nodefs.available: 7.5%}\nevictionSoftGracePeriod: {nodefs.available: 90s}\n',
  },
  flags: splitFlags(['--eviction-minimum-reclaim=nodefs.available=1Gi', '--protect-image=a*']),
});

test('the table shows every setting but the maps, and the thresholds for these', (t) => {
  const text = renderConfigShow(RESULT, { origin: false, output: 'table' });
  for (const { name, type } of KEYS) t.is(new RegExp(`^${name} `, 'm').test(text), type !== 'map', name);
  t.regex(text, /^SIGNAL +KIND +BELOW +GRACE +MIN RECLAIM$/m);
  t.regex(text, /^nodefs\.available +hard +5% +- +1Gi$/m);
  t.regex(text, /^nodefs\.available +soft +7\.5% +1m30s +1Gi$/m);
  t.regex(text, /^imageMaximumGCAge +off$/m);
  t.regex(text, /^warning DEFAULTS_DROPPED: \/etc\/k\.yaml:1:1: evictionHard: /m);
});

test('with origins each line says where its value stands', (t) => {
  const text = renderConfigShow(RESULT, { origin: true, output: 'table' });
  t.regex(text, /^protectedImages +a\* +--protect-image$/m);
  t.regex(text, /^log\.level +info +default$/m);
  t.regex(text, /^nodefs\.available +hard .* \/etc\/k\.yaml:2:21$/m);
  t.notRegex(text, / $/m);
});

test('without any threshold that is said', (t) => {
  const text = renderConfigShow(loadSettings({ flags: splitFlags(['--eviction-hard=']) }), {
    origin: false,
    output: 'table',
  });
  t.regex(text, /^No threshold is in effect\.$/m);
});

test('as JSON it can be read by machines', (t) => {
  const shown: unknown = JSON.parse(renderConfigShow(RESULT, { origin: true, output: 'json' }));
  t.like(shown, {
    verdict: 'loaded',
    settings: {
      runtimeRequestTimeout: { value: '2m', from: 'default' },
      protectedImages: { value: ['a*'], from: '--protect-image' },
    },
    thresholds: [
      { id: 'nodefs.available/hard/1', below: '5%', grace: null, minReclaim: '1Gi', from: '/etc/k.yaml:2:21' },
      { id: 'nodefs.available/soft/1', below: '7.5%', grace: '1m30s', minReclaim: '1Gi', from: '/etc/k.yaml:3:34' },
    ],
    problems: [{ code: 'DEFAULTS_DROPPED', source: '/etc/k.yaml', line: 1 }],
  });
});

test('of a refused configuration only the problems are shown', (t) => {
  const refused = loadSettings({ file: { path: 'f.yaml', text: 'quux: 1\n' } });
  t.is(
    renderConfigShow(refused, { origin: true, output: 'table' }),
    'error UNKNOWN_FIELD: f.yaml:1:1: quux: Cannot use this as the configuration has no key of this name: quux\n',
  );
  t.like(JSON.parse(renderConfigShow(refused, { origin: false, output: 'json' })), {
    verdict: 'refused',
    problems: [{ code: 'UNKNOWN_FIELD' }],
  });
});
