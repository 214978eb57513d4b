import test from 'ava';
import { type MemoryScope, usageToWatch } from '../../src/eviction/memory-notifier.js';
import { MemoryNotifier } from '../../src/manager/memory-notifier.js';
import { threshold } from '../fakes/builders.js';
import { EventSource } from '../fakes/event-source.js';

const USE = {
  node: { available: 400, workingSet: 600, usage: 700 },
  pods: { available: 100, workingSet: 200, usage: 250 },
};

/** A kernel that keeps what it was asked, in order. */
function kernel() {
  const said: string[] = [];
  const ends: AbortController[] = [];
  const source = new EventSource<number>();
  const watch = (scope: MemoryScope, usage: number) => {
    const end = new AbortController();
    ends.push(end);
    said.push(`watch ${scope} at ${usage}`);
    return {
      events: source.subscribe(end.signal),
      stop: () => {
        said.push('stop');
        end.abort();
      },
    };
  };
  return { said, source, watch };
}

for (const missing of ['available', 'workingSet', 'usage'] as const) {
  test(`without the ${missing} no usage can be told`, (t) => {
    const known = { available: 400, workingSet: 600, usage: 700 };
    t.is(usageToWatch(threshold('memory.available', '100'), { ...known, [missing]: null }), null);
  });
}

test('the kernel is told the usage at which the line is reached, with what it counts as used and we do not', (t) => {
  const { said, watch } = kernel();
  const wake = () => undefined;
  new MemoryNotifier(threshold('memory.available', '10%'), { watch, wake }).update(USE);
  new MemoryNotifier(threshold('allocatableMemory.available', '30'), { watch, wake }).update(USE);
  t.deepEqual(said, ['watch node at 1000', 'watch pods at 320']);
});

test('the old watch ends before the new one begins', (t) => {
  const { said, watch } = kernel();
  const notifier = new MemoryNotifier(threshold('memory.available', '100'), { watch, wake: () => undefined });
  notifier.update(USE);
  notifier.update({ ...USE, node: { available: 300, workingSet: 700, usage: 800 } });
  notifier.stop();
  t.deepEqual(said, ['watch node at 1000', 'stop', 'watch node at 1000', 'stop']);
});

test('without all three numbers nothing is watched, and what was goes on', (t) => {
  const { said, watch } = kernel();
  const notifier = new MemoryNotifier(threshold('memory.available', '100'), { watch, wake: () => undefined });
  notifier.update(USE);
  t.throws(() => notifier.update({ ...USE, node: { ...USE.node, usage: null } }), { message: /node/ });
  t.deepEqual(said, ['watch node at 1000']);
});

test('its name tells urgency and scope', (t) => {
  const named = (grace: number | undefined) =>
    new MemoryNotifier(
      threshold('allocatableMemory.available', '1', grace === undefined ? {} : { graceSeconds: grace }),
      {
        ...kernel(),
        wake: () => undefined,
      },
    ).description;
  t.is(named(undefined), 'hard allocatable memory threshold');
  t.is(named(60), 'soft allocatable memory threshold');
});
