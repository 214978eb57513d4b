import test from 'ava';
import { createEventLog } from '../../../src/adapters/log/event-log.js';
import { createLogger } from '../../../src/adapters/log/logger.js';
import type { EvictionEvent } from '../../../src/eviction/event.js';
import { eventOf, subject } from '../../fakes/events.js';

const STARTED = eventOf('reclaim-started');
const FINISHED = eventOf('reclaim-finished');
const LIST_FAILED = eventOf('list-failed', { what: 'containers and pods', message: 'refused' });

/** A log of events that keeps the kinds it has written. */
async function written(events: readonly EvictionEvent[]): Promise<readonly (string | undefined)[]> {
  const kinds: (string | undefined)[] = [];
  const logger = await createLogger({
    level: 'debug',
    format: 'json',
    destination: {
      write: (line) => {
        kinds.push(/"event":"([a-z-]+)"/.exec(line)?.[1]);
      },
      reopen: () => null,
      state: () => ({ lost: 0, waiting: 0 }),
      isTTY: false,
      [Symbol.dispose]: () => undefined,
    },
  });
  events.forEach(createEventLog(logger));
  return kinds;
}

test('a collection that fails in the same way pass after pass is told once', async (t) => {
  const pass = [STARTED, LIST_FAILED, FINISHED];
  t.deepEqual(await written([...pass, ...pass, ...pass]), ['reclaim-started', 'list-failed', 'reclaim-finished']);
});

test('a plan of which nothing can be removed is told once, until something is removed', async (t) => {
  const failed = eventOf('removal-failed', { subject: subject(), message: 'refused' });
  const pass = [STARTED, eventOf('reclaim-planned'), failed, FINISHED];
  const told = pass.map(({ kind }) => kind);
  t.deepEqual(await written([...pass, ...pass]), told);
  const better = [STARTED, eventOf('reclaim-planned'), eventOf('removed'), FINISHED];
  t.deepEqual(await written([...pass, ...better, ...pass]), [
    ...told,
    'reclaim-started',
    'removed',
    'reclaim-finished',
    ...told,
  ]);
});

test('a failure of another kind is told, with the collection in which it came', async (t) => {
  const other = eventOf('list-failed', { what: 'containers and pods', message: 'it hangs' });
  t.deepEqual(await written([STARTED, LIST_FAILED, FINISHED, STARTED, other, FINISHED]), [
    'reclaim-started',
    'list-failed',
    'reclaim-finished',
    'reclaim-started',
    'list-failed',
    'reclaim-finished',
  ]);
});
