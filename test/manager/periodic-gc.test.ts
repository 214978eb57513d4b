import test from 'ava';
import type { GcEvent } from '../../src/gc/gc-event.js';
import {
  CONTAINER_GC_PERIOD,
  type CollectorRun,
  containerGcLoop,
  containerGcRun,
  IMAGE_GC_PERIOD,
  imageGcLoop,
  runPeriodically,
} from '../../src/manager/periodic-gc.js';
import { ImageCollector } from '../../src/reclaim/image-collector.js';
import { askEveryContainer } from '../../src/reclaim/image-mounts.js';
import { type Milliseconds, milliseconds } from '../../src/units/units.js';
import { ContainerRuntime } from '../conformance/fakes/container-runtime.js';
import { ImageRuntime } from '../conformance/fakes/image-runtime.js';
import { LogTree } from '../conformance/fakes/log-tree.js';
import { told } from '../conformance/fakes/run-events.js';
import { VirtualClock } from '../fakes/virtual-clock.js';

/** Runs a loop for a while: its events, and when runs began, in seconds. */
async function runFor(run: CollectorRun, collector: 'container' | 'image', period: Milliseconds, seconds: number) {
  const clock = new VirtualClock(0);
  const began: number[] = [];
  const end = new AbortController();
  const timed: CollectorRun = async function* timed(signal) {
    began.push(clock.now() / 1_000);
    await clock.sleep(milliseconds(7_000));
    return yield* run(signal);
  };
  const loop = told(runPeriodically(collector, timed, period, clock, end.signal));
  await clock.pass(seconds * 1_000);
  end.abort();
  const { events } = await clock.run(loop);
  return { began, events };
}

async function* succeeds(): AsyncGenerator<GcEvent, string | null> {
  return null;
}

function reasons(events: readonly GcEvent[]): readonly string[] {
  return events.flatMap((event) => (event.kind === 'node-event' ? [event.reason] : []));
}

const starts = test.macro(
  async (t, collector: 'container' | 'image', period: Milliseconds, expected: readonly number[]) => {
    const { began } = await runFor(succeeds, collector, period, 650);
    t.deepEqual(began.slice(0, expected.length), expected);
  },
);

test(
  'a container run of 7 s begins every 67 s: the pause counts from its end',
  starts,
  'container',
  CONTAINER_GC_PERIOD,
  [0, 67, 134],
);
test('an image run of 7 s begins every 307 s', starts, 'image', IMAGE_GC_PERIOD, [0, 307, 614]);

test('each failed container run is an event on the node, with what failed', async (t) => {
  const { events } = await runFor(
    async function* fails() {
      return 'the runtime is away';
    },
    'container',
    CONTAINER_GC_PERIOD,
    100,
  );
  t.deepEqual(reasons(events), ['ContainerGCFailed', 'ContainerGCFailed']);
  t.true(events.every((event) => !('message' in event) || event.message === 'the runtime is away'));
});

test('the first failed image run is told without an event', async (t) => {
  const { events } = await runFor(
    async function* fails() {
      return 'no statistics yet';
    },
    'image',
    IMAGE_GC_PERIOD,
    310,
  );
  t.deepEqual(reasons(events), []);
  t.deepEqual(
    events.map((event) => event.kind === 'gc-run' && event.log),
    ['error-first'],
  );
});

test('a fault of our own fails the run and not the loop', async (t) => {
  const { began, events } = await runFor(
    async function* breaks() {
      throw new TypeError('our fault');
    },
    'container',
    CONTAINER_GC_PERIOD,
    100,
  );
  t.is(began.length, 2);
  t.deepEqual(reasons(events), ['ContainerGCFailed', 'ContainerGCFailed']);
});

test('the container loop names the steps that failed', async (t) => {
  const clock = new VirtualClock(0);
  const runtime = new ContainerRuntime();
  runtime.failingLists = ['ListContainers'];
  const tree = new LogTree();
  const end = new AbortController();
  const loop = told(
    containerGcLoop(
      containerGcRun({
        runtime,
        logs: { remove: async () => undefined },
        keepsUnverified: true,
        files: tree,
        logFiles: tree,
        clock,
        podLogsDir: '/logs',
        logLinksDir: null,
        answers: async () => ({
          allSourcesReady: true,
          contentMayBeRemoved: () => false,
          runtimeMayBeRemoved: () => false,
        }),
        limits: { minAge: milliseconds(0), maxPerPodContainer: 1, maxContainers: null },
        createdCountsAsDead: true,
      }),
      clock,
      end.signal,
    ),
  );
  await clock.pass(1_000);
  end.abort();
  const { events } = await clock.run(loop);
  t.deepEqual(
    events.flatMap((event) => (event.kind === 'gc-step-failed' ? [event.step] : [])),
    ['containers', 'sandboxes'],
  );
  t.deepEqual(reasons(events), ['ContainerGCFailed']);
});

test('there is no image loop where no disk is full enough and nothing goes by age', async (t) => {
  const clock = new VirtualClock(0);
  const runtime = new ImageRuntime(false);
  const { signal } = new AbortController();
  const loopWith = (highPercent: number, maxAge: Milliseconds | null) =>
    imageGcLoop(
      {
        collector: new ImageCollector({
          runtime,
          removeImage: (image) => runtime.removeImage(image),
          volumes: askEveryContainer(runtime),
          clock,
          rules: { highPercent, lowPercent: 80, minAge: milliseconds(0), maxAge, runtimeHandlerAware: false },
        }),
        clock,
        highPercent,
        maxAge,
        imageFs: async () => ({ available: null, capacity: null }),
      },
      signal,
    );
  t.is(loopWith(100, null), null);
  t.not(loopWith(100, milliseconds(1)), null);
  t.not(loopWith(99, null), null);
});
