import test from 'ava';
import { evictionMessageData } from '../../src/eviction/message-data.js';
import type { ContainerStats } from '../../src/eviction/pod-stats.js';
import { observation, seen, threshold } from '../fakes/builders.js';
import { amounts, containerSpec, podSpec, podStats } from '../fakes/pod-spec.js';

const MI = 2 ** 20;
const stats = (name: string, facts: Partial<ContainerStats> = {}): ContainerStats => ({
  name,
  memoryWorkingSet: null,
  rootfs: null,
  logs: null,
  ...facts,
});

test('amounts are told in canonical quantities: bytes in binary ones, counts in decimal ones', (t) => {
  const line = (signal: 'nodefs.available' | 'nodefs.inodesFree', limit: string, available: number) =>
    evictionMessageData(
      signal === 'nodefs.available' ? 'ephemeral-storage' : 'inodes',
      { name: 'web', spec: null, stats: null },
      [threshold(signal, limit)],
      seen(observation(signal, available, 4_096)),
    ).thresholdLine;
  t.deepEqual(line('nodefs.available', '1.5Gi', 1.5 * 1024), { quantity: '1536Mi', available: '1536' });
  t.deepEqual(line('nodefs.available', '500M', 2_048), { quantity: '500M', available: '2Ki' });
  t.deepEqual(line('nodefs.inodesFree', '50%', 2_000), { quantity: '2Ki', available: '2k' });
  t.deepEqual(line('nodefs.inodesFree', '1500m', 1.2), { quantity: '1500m', available: '2' });
});

test('a threshold without an observation has no line to tell, and the next one does', (t) => {
  const { thresholdLine } = evictionMessageData(
    'ephemeral-storage',
    { name: 'web', spec: null, stats: null },
    [threshold('imagefs.available', '1Gi'), threshold('memory.available', '2Gi'), threshold('nodefs.available', '3Gi')],
    seen(observation('nodefs.available', MI), observation('memory.available', MI)),
  );
  t.deepEqual(thresholdLine, { quantity: '3Gi', available: '1Mi' });
});

test('only containers that somebody described are named, and one on its request is not above it', (t) => {
  const spec = podSpec({
    containers: [
      containerSpec('on', { requests: amounts({ memory: '1Mi' }) }),
      containerSpec('above', { requests: amounts({ memory: '1Mi' }) }),
      containerSpec('idle'),
    ],
  });
  const containers = [
    stats('on', { memoryWorkingSet: MI }),
    stats('above', { memoryWorkingSet: MI + 1 }),
    stats('idle', { memoryWorkingSet: 0 }),
    stats('stranger', { memoryWorkingSet: MI }),
  ];
  const data = evictionMessageData('memory', { name: 'web', spec, stats: podStats({ containers }) }, [], new Map());
  t.deepEqual(data.containers, [{ name: 'above', usage: '1048577', request: '1Mi' }]);
  t.is(data.thresholdLine, null);
});

test('a pod as a whole is told only of memory, only with a request of its own, and only when its use is known', (t) => {
  const told = (resource: 'memory' | 'ephemeral-storage', podRequests: Record<string, string>, memory: number | null) =>
    evictionMessageData(
      resource,
      {
        name: 'web',
        spec: podSpec({ podRequests: amounts(podRequests) }),
        stats: podStats({ memoryWorkingSet: memory }),
      },
      [],
      seen(),
    ).pod;
  t.deepEqual(told('memory', { memory: '1Mi' }, 2 * MI), { name: 'web', usage: '2Mi', request: '1Mi' });
  t.is(told('ephemeral-storage', { memory: '1Mi' }, 2 * MI), null);
  t.is(told('memory', { cpu: '1' }, 2 * MI), null);
  t.is(told('memory', { memory: '1Mi' }, null), null);
});
