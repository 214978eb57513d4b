import test from 'ava';
import { createGcEventLog } from '../../../src/adapters/log/gc-event-log.js';
import { createLogger } from '../../../src/adapters/log/logger.js';
import type { GcEvent, GcSubject } from '../../../src/gc/gc-event.js';
import { instant, milliseconds } from '../../../src/units/units.js';

type Facts<Each = GcEvent> = Each extends GcEvent ? Omit<Each, 'at'> : never;

/** What a log of these events says: level and sentence. */
async function written(events: readonly Facts[], level: 'debug' | 'info' = 'info'): Promise<readonly string[]> {
  const lines: string[] = [];
  const logger = await createLogger({
    level,
    format: 'json',
    destination: {
      write: (line) => {
        const { level: loudness, msg } = JSON.parse(line) as Record<string, unknown>; // What pino writes is an object.
        lines.push(`${String(loudness)} ${String(msg)}`);
      },
      reopen: () => null,
      state: () => ({ lost: 0, waiting: 0 }),
      isTTY: false,
      [Symbol.dispose]: () => undefined,
    },
  });
  const log = createGcEventLog(logger);
  for (const facts of events) log({ ...facts, at: instant(1) });
  return lines;
}

const SUBJECT: GcSubject = {
  what: 'container',
  id: 'c1',
  label: 'default/web/job',
  reason: 'more than are kept per container',
  claimed: null,
};
const TOOK = milliseconds(3);
const COLLECTED: Facts = { kind: 'collected', subject: SUBJECT, took: TOOK, countedAs: null };
const REFUSED: Facts = { kind: 'not-collected', subject: SUBJECT, message: 'refused', took: TOOK, countedAs: null };
const run = (log: 'error' | 'info-1' | 'info-4', message: string | null): Facts => ({
  kind: 'gc-run',
  collector: 'container',
  log,
  message,
  took: TOOK,
});
const stepFailed = (message: string): Facts => ({ kind: 'gc-step-failed', step: 'containers', message });

test('each removal is a line that says what went and why', async (t) => {
  t.deepEqual(await written([COLLECTED, COLLECTED]), [
    'info removed container default/web/job without pressure: more than are kept per container',
    'info removed container default/web/job without pressure: more than are kept per container',
  ]);
});

test('a removal that fails in the same way run after run is told once, until it has worked', async (t) => {
  const told = await written([REFUSED, REFUSED, COLLECTED, REFUSED]);
  t.deepEqual(
    told.map((line) => line.split(' ')[0]),
    ['info', 'info', 'info'],
  );
});

test('runs are silent while they work; a failure and its end are told once each', async (t) => {
  const failing = [stepFailed('no runtime'), run('error', 'containers: no runtime')];
  const events = [run('info-4', null), ...failing, ...failing, run('info-1', null), run('info-4', null), ...failing];
  t.deepEqual(await written(events), [
    'warn containers failed: no runtime',
    'error collecting containers failed: containers: no runtime',
    'info containers were collected again after a failure',
    'warn containers failed: no runtime',
    'error collecting containers failed: containers: no runtime',
  ]);
  t.deepEqual(await written([run('info-4', null)], 'debug'), ['debug containers were collected']);
});

test('a disk that stays full is one state, whatever its numbers; another failure is told', async (t) => {
  const full = (percent: number): Facts => ({
    kind: 'node-event',
    reason: 'FreeDiskSpaceFailed',
    message: `${percent} % are used`,
  });
  // A run of the other collector that works says nothing about it.
  t.deepEqual(await written([full(91), full(92), run('info-4', null), full(93)]), [
    'warn FreeDiskSpaceFailed: 91 % are used',
  ]);
});

test('a log that cannot be rotated is told once, until it was rotated', async (t) => {
  const failed: Facts = { kind: 'log-not-rotated', container: 'c1', message: 'no space' };
  const rotated: Facts = { kind: 'log-rotated', container: 'c1', path: '/l/0.log', rotatedTo: '/l/0.log.1' };
  t.deepEqual(await written([failed, failed, rotated, failed]), [
    'warn could not rotate the log of container c1: no space',
    'info rotated /l/0.log to /l/0.log.1',
    'warn could not rotate the log of container c1: no space',
  ]);
});

test('one that is spared is for debugging', async (t) => {
  const spared: Facts = { kind: 'spared', subject: SUBJECT, why: 'it runs now' };
  t.deepEqual(await written([spared]), []);
  t.deepEqual(await written([spared], 'debug'), [
    'debug left container default/web/job after a last look: it runs now',
  ]);
});
