import test from 'ava';
import { splitFlags } from '../../src/config/flags.js';
import { type LoadSources, loadSettings } from '../../src/config/load.js';
import type { Settings } from '../../src/config/settings.js';

function settingsOf(sources: LoadSources): Settings {
  const result = loadSettings(sources);
  if (result.kind === 'refused') throw new Error(result.problems.map(({ message }) => message).join('\n'));
  return result.settings;
}

const accepted = test.macro({
  exec(t, flags: readonly string[], podsFrom: string) {
    t.is(settingsOf({ flags: splitFlags(flags) }).podsFrom, podsFrom);
  },
  title: (_, flags: readonly string[]) => `${flags.join(' ')} is taken`,
});

test(accepted, ['--pods-from', 'http://127.0.0.1:10255/pods'], 'http://127.0.0.1:10255/pods');
test(accepted, ['--pods-from=http://127.8.9.1:10255/pods'], 'http://127.8.9.1:10255/pods');
test(accepted, ['--pods-from=http://[::1]:10255/pods'], 'http://[::1]:10255/pods');
test(accepted, ['--pods-from=http://localhost:10255'], 'http://localhost:10255/');
test(accepted, ['--pods-from=http://node-1:10255/pods', '--pods-from-anywhere'], 'http://node-1:10255/pods');

const refused = test.macro({
  exec(t, url: string, says: RegExp, more: string = '') {
    const result = loadSettings({ file: { path: 'f', text: `podsFrom: ${JSON.stringify(url)}\n${more}` } });
    t.is(result.kind, 'refused');
    t.deepEqual(
      result.problems.map(({ code, path, line }) => [code, path, line]),
      [['BAD_VALUE', 'podsFrom', 1]],
    );
    t.regex(result.problems[0]?.message ?? '', says);
  },
  title: (_, url: string, _says: RegExp, more: string = '') => `${url} ${more} is refused`,
});

test(refused, 'http://192.0.2.1:10255/pods', /must be this machine .* unless podsFromAnywhere is true/);
test(refused, 'http://127.0.0.1.example.org/pods', /must be this machine/);
test(refused, 'http://127.1.evil/pods', /must be this machine/);
test(refused, 'http://localhost.example.org/pods', /must be this machine/);
test(refused, 'http://0.0.0.0:10255/pods', /must be this machine/);
test(refused, 'https://127.0.0.1:10250/pods', /must be a URL such as/);
test(refused, '127.0.0.1:10255', /must be a URL such as/);
test(refused, 'file:///etc/passwd', /must be a URL such as/);
test(refused, 'http://user:secret@127.0.0.1/pods', /no user and no password in it: 127\.0\.0\.1$/);
test(refused, 'ftp://192.0.2.1/pods', /must be a URL such as/, 'podsFromAnywhere: true');

test('in the kubelet’s file a relative path of static pods starts from where the file lies', (t) => {
  const kubeletConfig = { path: '/var/lib/kubelet/config.yaml', text: 'staticPodPath: ../manifests' };
  t.is(settingsOf({ kubeletConfig }).staticPodPath, '/var/lib/manifests');
});

test('the static pods of the kubelet’s own file are read, and a flag of its name wins', (t) => {
  const kubeletConfig = { path: 'k', text: 'staticPodPath: /etc/kubernetes/manifests' };
  t.is(settingsOf({ kubeletConfig }).staticPodPath, '/etc/kubernetes/manifests');
  t.is(settingsOf({ kubeletConfig, flags: splitFlags(['--pod-manifest-path=/x']) }).staticPodPath, '/x');
  t.is(settingsOf({ kubeletConfig: { path: 'k', text: 'staticPodPath: ""' } }).staticPodPath, null);
});

test('a relative path as a flag starts from nowhere and is refused', (t) => {
  const { kind, problems } = loadSettings({ flags: splitFlags(['--static-pod-path', 'manifests']) });
  t.is(kind, 'refused');
  t.regex(problems[0]?.message ?? '', /a path must be absolute: manifests/);
});
