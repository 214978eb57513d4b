import test from 'ava';
import { statusForNode, statusForOwnLimit } from '../../src/eviction/pod-status.js';

test('an eviction for the node’s sake is a disruption, one for a limit of the pod’s own is not', (t) => {
  const failed = { phase: 'Failed', reason: 'Evicted', message: 'low on memory' };
  const disruption = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'TerminationByKubelet',
    message: 'low on memory',
  };
  t.deepEqual<unknown, unknown>(statusForNode('low on memory'), { ...failed, disruption });
  t.deepEqual<unknown, unknown>(statusForOwnLimit('low on memory'), { ...failed, disruption: null });
});
