import test from 'ava';
import {
  ALL_SIGNALS,
  isSignal,
  type NodeCondition,
  type Resource,
  SIGNALS,
  type Signal,
} from '../../src/eviction/signal.js';

const CATALOGUE: readonly (readonly [Signal, Resource, NodeCondition])[] = [
  ['memory.available', 'memory', 'MemoryPressure'],
  ['allocatableMemory.available', 'memory', 'MemoryPressure'],
  ['nodefs.available', 'ephemeral-storage', 'DiskPressure'],
  ['nodefs.inodesFree', 'inodes', 'DiskPressure'],
  ['imagefs.available', 'ephemeral-storage', 'DiskPressure'],
  ['imagefs.inodesFree', 'inodes', 'DiskPressure'],
  ['containerfs.available', 'ephemeral-storage', 'DiskPressure'],
  ['containerfs.inodesFree', 'inodes', 'DiskPressure'],
  ['pid.available', 'pids', 'PIDPressure'],
];

test('there are nine signals, with the kubelet’s resources and conditions', (t) => {
  t.deepEqual(
    ALL_SIGNALS.map((signal) => [signal, SIGNALS[signal].resource, SIGNALS[signal].condition]),
    CATALOGUE.map((row) => [...row]),
  );
});

test('a signal of a filesystem is named after it and counts what its resource says', (t) => {
  for (const signal of ALL_SIGNALS) {
    const { filesystem, unit, resource } = SIGNALS[signal];
    t.is<string | null, string | null>(
      filesystem,
      /^(nodefs|imagefs|containerfs)\./.test(signal) ? signal.replace(/\..*/, '') : null,
    );
    t.is(unit, resource === 'inodes' || resource === 'pids' ? 'count' : 'bytes');
  }
});

test('only the nine names are signals', (t) => {
  t.true(isSignal('nodefs.available'));
  for (const text of ['', 'nodefs', 'nodefs.Available', 'toString', '__proto__', 'swap.available'])
    t.false(isSignal(text));
});
