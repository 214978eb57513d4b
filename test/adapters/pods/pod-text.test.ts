import test from 'ava';
import { readPodText } from '../../../src/adapters/pods/pod-text.js';
import { isBestEffort } from '../../../src/eviction/admission.js';

const POD = `apiVersion: v1
kind: Pod
metadata: { name: web, namespace: shop }
spec:
  priorityClassName: system-node-critical
  containers:
    - name: server
      image: web:1
      resources: { requests: { memory: 64Mi } }
`;

test('a manifest tells its name, its priority and what it asks for', (t) => {
  const read = readPodText('pod.yaml', POD);
  t.like(read, { kind: 'pod', label: 'shop/web', pod: { priority: 2_000_001_000, isMirror: false } });
  t.false(read.kind === 'pod' && isBestEffort(read.pod.spec));
});

const refused = test.macro((t, text: string, problem: RegExp) => {
  const read = readPodText('pod.yaml', text);
  t.is(read.kind, 'refused');
  t.regex(read.kind === 'refused' ? read.problems.join('\n') : '', problem);
});

test('what is no YAML is refused at its line', refused, 'a: 1\n\tb: 2\n', /^pod\.yaml:2: Cannot use this file/);
test('so is what is no pod', refused, POD.replace('kind: Pod', 'kind: Job'), /^pod\.yaml:2: .*v1 Pod: .*Job/);
test('and what asks for no amount', refused, POD.replace('64Mi', 'much'), /^pod\.yaml:9: .*much/);
test('and what has no name', refused, POD.replace('name: web, ', ''), /a pod must have a name/);
test('and what has no spec', refused, POD.replace(/spec:[^]*/, ''), /the pod must have a spec/);
