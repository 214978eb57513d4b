import test from 'ava';
import { usageOf } from '../../src/eviction/pod-stats.js';
import { podStats } from '../fakes/pod-spec.js';

test('a number that is missing counts as none', (t) => {
  for (const signal of ['memory.available', 'pid.available', 'nodefs.available', 'nodefs.inodesFree'] as const) {
    t.is(
      usageOf(podStats(), signal, 'one-disk', () => true),
      0,
      signal,
    );
  }
  t.is(
    usageOf(podStats({ processes: 7 }), 'pid.available', 'one-disk', () => true),
    7,
  );
});
