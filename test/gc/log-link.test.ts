import test from 'ava';
import { containerIdOfLink, logLinkPath } from '../../src/gc/log-link.js';

const named = test.macro({
  exec(t, path: string, expected: string | null) {
    t.is(containerIdOfLink(path), expected);
  },
  title: (_, path: string, expected: string | null) => `${path} names ${expected ?? 'no container'}`,
});

test(named, '/var/log/containers/web_default_app-0123456789ab.log', '0123456789ab');
test(named, 'web_default_app-0123456789ab.log', '0123456789ab');
test(named, '/var/log/containers/web-0_default_side-car-abcdef.log', 'abcdef');
test(named, '/var/log/containers/web_default_app-abcde.log', null);
test(named, '/var/log/containers/web_default_app-0123456789ab.txt', null);
// The dash of a directory is none of the name's.
test(named, '/var/log/con-tainers/0123456789ab.log', null);

test('a link is named so that the id is read back, and cut to what a filesystem takes', (t) => {
  const id = 'f'.repeat(64);
  t.is(containerIdOfLink(logLinkPath('/links', 'web_default', { name: 'app', id })), id);
  const cut = logLinkPath('/links', 'p'.repeat(200), { name: 'app', id });
  t.is(cut.length - '/links/'.length, 255);
  t.is(containerIdOfLink(cut), 'f'.repeat(255 - '.log'.length - 'p_app-'.length - 199));
});
