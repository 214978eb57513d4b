import test from 'ava';
import { Refusals } from '../../src/eviction/refusals.js';
import { at } from '../fakes/builders.js';

test('the first of an owner is told at once, and the others with their number a minute later', (t) => {
  const refusals = new Refusals();
  const told = (seconds: number, owner = 'DaemonSet/ds') => {
    const warning = refusals.refused(owner, ['DiskPressure'], at(seconds));
    return warning?.code === 'ADMISSION_REJECTED' ? warning.pods : null;
  };
  t.is(told(0), 1);
  t.is(told(1), null);
  t.is(told(59), null);
  t.is(told(59, 'Job/other'), 1);
  t.is(told(60), 3);
  t.is(told(61), null);
  t.is(told(120), 2);
});

test('the owner and the conditions are named', (t) => {
  t.deepEqual(new Refusals().refused('Job/a', ['DiskPressure'], at(0)), {
    code: 'ADMISSION_REJECTED',
    owner: 'Job/a',
    pods: 1,
    conditions: ['DiskPressure'],
  });
});
