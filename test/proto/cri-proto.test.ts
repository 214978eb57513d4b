import { readFileSync } from 'node:fs';
import test from 'ava';
import { ImageServiceService, RuntimeServiceService } from '../../src/proto/generated/cri.js';
import { type Api, parseProto } from './parse-proto.js';

// Both files lie in the source tree, not beside the compiled test.
const tree = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, tree), 'utf8');
const ours = parseProto(read('src/proto/cri.proto'));
// Data made from the API itself; its shape is that of `Api`.
const theirs = JSON.parse(read('test/proto/cri-fields.json')) as Api;

test('what is compared is not nothing', (t) => {
  t.true(Object.keys(ours.messages).length > 80, `${Object.keys(ours.messages).length} messages`);
  t.true(Object.keys(ours.enums).length >= 5);
  t.deepEqual(Object.keys(ours.services), ['RuntimeService', 'ImageService']);
  t.deepEqual(ours.messages['StopContainerRequest'], {
    container_id: { number: 1, type: 'string' },
    timeout: { number: 2, type: 'int64' },
  });
  t.is(ours.messages['PodSandbox']?.['labels']?.type, 'map<string,string>');
  t.is(ours.messages['Image']?.['repo_tags']?.type, 'repeated string');
});

test('every message and field exists in CRI v1 with the same number and type', (t) => {
  for (const [message, fields] of Object.entries(ours.messages)) {
    const known = theirs.messages[message];
    if (known === undefined) {
      t.fail(`message ${message} is not in CRI v1`);
      continue;
    }
    for (const [field, shape] of Object.entries(fields)) {
      t.deepEqual(shape, known[field], `${message}.${field}`);
    }
  }
});

test('every enum has all the values of CRI v1, with the same numbers', (t) => {
  for (const [name, values] of Object.entries(ours.enums)) t.deepEqual(values, theirs.enums[name], name);
});

test('every call exists in CRI v1 with the same messages and the same streaming', (t) => {
  for (const [service, calls] of Object.entries(ours.services)) {
    for (const [name, shape] of Object.entries(calls)) {
      t.deepEqual(shape, theirs.services[service]?.[name], `${service}.${name}`);
    }
  }
});

test('the generated code serves exactly the calls of the file, under the package of CRI v1', (t) => {
  const generated = [RuntimeServiceService, ImageServiceService].flatMap((service) =>
    Object.values(service).map(({ path, responseStream }) => `${path} ${responseStream}`),
  );
  const written = Object.entries(ours.services).flatMap(([service, calls]) =>
    Object.entries(calls).map(([name, shape]) => `/runtime.v1.${service}/${name} ${shape.serverStreams}`),
  );
  t.deepEqual(generated.toSorted(), written.toSorted());
});

test('a number or type that differs would be seen', (t) => {
  const wrong = parseProto('message Image {\n  string id = 2;\n  repeated int64 repo_tags = 2;\n}');
  t.notDeepEqual(wrong.messages['Image']?.['id'], theirs.messages['Image']?.['id']);
  t.notDeepEqual(wrong.messages['Image']?.['repo_tags'], theirs.messages['Image']?.['repo_tags']);
});
