import test from 'ava';
import { DEFAULT_ENDPOINTS, findEndpoint, parseEndpoint } from '../../../src/adapters/cri/endpoint.js';
import { PortError } from '../../../src/ports/port-error.js';

const accepts = test.macro({
  exec(t, text: string, path: string) {
    t.deepEqual(parseEndpoint(text), { url: `unix://${path}`, path });
  },
  title: (_, text: string) => `an endpoint may be written as ${text.slice(0, 40)}`,
});
test(accepts, 'unix:///run/containerd/containerd.sock', '/run/containerd/containerd.sock');
test(accepts, 'unix:/run/crio/crio.sock', '/run/crio/crio.sock');
test(accepts, 'unix:////run/x.sock', '/run/x.sock');
test(accepts, '/run/my runtime.sock', '/run/my runtime.sock');
test(accepts, ' /run/with:colon.sock ', '/run/with:colon.sock');
test(accepts, `/${'x'.repeat(106)}`, `/${'x'.repeat(106)}`);

const refuses = test.macro({
  exec(t, text: string, rule: RegExp) {
    const error = t.throws(() => parseEndpoint(text), { instanceOf: PortError });
    t.regex(error?.message ?? '', rule);
    t.true(error?.message.startsWith('Cannot use runtime endpoint as '));
    t.true(error?.message.includes(JSON.stringify(text)), 'the value is shown');
  },
  title: (_, text: string) => `no endpoint: ${JSON.stringify(text.slice(0, 40))}`,
});
test(refuses, '', /must not be empty/);
test(refuses, '  ', /must not be empty/);
test(refuses, 'tcp://127.0.0.1:10010', /unix socket of this node/);
test(refuses, 'npipe:////./pipe/containerd', /unix socket of this node/);
test(refuses, 'dns:runtime', /unix socket of this node/);
test(refuses, 'UNIX:///run/x.sock', /unix socket of this node/);
test(refuses, 'run/x.sock', /must be absolute/);
// Two slashes make "run" a host, which people write when they forget the third.
test(refuses, 'unix://run/x.sock', /must be absolute/);
test(refuses, 'unix:x.sock', /must be absolute/);
test(refuses, 'unix://', /must be absolute/);
// Abstract sockets have no path, and no runtime listens on one.
test(refuses, 'unix:@abstract', /must be absolute/);
test(refuses, '/run/containerd/', /not a directory/);
test(refuses, '/run/\0x', /zero byte/);
test(refuses, `/${'x'.repeat(107)}`, /at most 107 bytes/);
// Bytes count, not characters.
test(refuses, `/${'é'.repeat(54)}`, /at most 107 bytes/);

test('containerd is looked for first, then CRI-O', (t) => {
  t.is(findEndpoint(() => true).url, 'unix:///run/containerd/containerd.sock');
  t.is(findEndpoint((path) => path.includes('crio')).url, 'unix:///run/crio/crio.sock');
  t.is(DEFAULT_ENDPOINTS.length, 2);
});

test('when there is no socket at all, the error names the places', (t) => {
  const error = t.throws(() => findEndpoint(() => false), { instanceOf: PortError });
  t.regex(error?.message ?? '', /containerd\.sock.*crio\.sock/);
});
