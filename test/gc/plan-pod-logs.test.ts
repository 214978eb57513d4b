import test from 'ava';
import { planPodLogs } from '../../src/gc/plan-pod-logs.js';
import { answers } from '../fakes/builders.js';

const ENTRIES = ['default_web_uid-1', 'default_web_uid_2', 'old-form', 'kube-system_dns_uid-3'];
const gone = (...uids: readonly string[]) => answers({ gone: uids });

test('the logs of pods that are gone go, by what follows the last underscore', (t) => {
  t.deepEqual(planPodLogs(ENTRIES, gone('uid-1', '2')), ['default_web_uid-1', 'default_web_uid_2']);
});

test('a name without an underscore is a uid as a whole', (t) => {
  t.deepEqual(planPodLogs(ENTRIES, gone('old-form')), ['old-form']);
});

test('nothing goes while a source of pods is not ready, whatever the pods are said to be', (t) => {
  t.deepEqual(planPodLogs(ENTRIES, { ...gone('uid-1', 'old-form'), allSourcesReady: false }), []);
});
