import test from 'ava';
import { ImageCollector, type ImageCollectorDeps } from '../../src/reclaim/image-collector.js';
import { askEveryContainer } from '../../src/reclaim/image-mounts.js';
import { bytes, instant, milliseconds } from '../../src/units/units.js';
import { ImageRuntime, mountingContainer } from '../conformance/fakes/image-runtime.js';
import { imageRecord } from '../conformance/fakes/records.js';
import { told } from '../conformance/fakes/run-events.js';
import { StillClock } from '../conformance/fakes/still-clock.js';

const SIGNAL = new AbortController().signal;

function scene(more: Partial<ImageCollectorDeps> = {}) {
  const runtime = new ImageRuntime(false);
  const clock = new StillClock();
  const collector = new ImageCollector({
    runtime,
    removeImage: (image) => runtime.removeImage(image),
    volumes: askEveryContainer(runtime),
    clock,
    rules: { highPercent: 85, lowPercent: 80, minAge: milliseconds(0), maxAge: null, runtimeHandlerAware: false },
    keptByOperator: () => null,
    ...more,
  });
  runtime.images = ['a', 'b'].map((id) => imageRecord({ id, tags: [`${id}:1`], size: bytes(10) }));
  return { runtime, clock, collector };
}

function remaining(runtime: ImageRuntime): readonly string[] {
  return runtime.images.map((each) => each.id);
}

test('an image that a container has come to use since the candidates were chosen is spared', async (t) => {
  const { runtime, collector } = scene({
    removeImage: async (image) => {
      await runtime.removeImage(image);
      runtime.containers = [mountingContainer({ id: 'newcomer', imageId: 'b' })];
    },
  });
  const { events, result } = await told(collector.deleteUnused(SIGNAL));
  t.deepEqual(remaining(runtime), ['b']);
  t.deepEqual(
    events.map((event) => (event.kind === 'spared' ? event.why : event.kind)),
    ['collected', 'used by container newcomer'],
  );
  t.deepEqual(result.kept, ['b']);
  t.is(result.error, null);
});

test('when nobody can tell who has come since, nothing more goes and the pass has failed', async (t) => {
  const { runtime, collector } = scene({
    removeImage: async (image) => {
      await runtime.removeImage(image);
      runtime.failures = { ...runtime.failures, listContainers: true };
    },
  });
  const { result } = await told(collector.deleteUnused(SIGNAL));
  t.deepEqual(remaining(runtime), ['b']);
  t.is(result.error?.kind, 'space-removal-failed');
});

test('what an operator keeps stays', async (t) => {
  const { runtime, collector } = scene({ keptByOperator: ({ id }) => (id === 'a' ? 'protected by a:*' : null) });
  await told(collector.deleteUnused(SIGNAL));
  t.deepEqual(remaining(runtime), ['a']);
});

test('a container that names its image by a tag alone keeps it', async (t) => {
  const { runtime, collector } = scene();
  runtime.containers = [mountingContainer({ id: 'old-runtime', imageRef: 'docker.io/library/a:1' })];
  await told(collector.deleteUnused(SIGNAL));
  t.deepEqual(remaining(runtime), ['a']);
});

test('a record key without an id is told as an event on the node', async (t) => {
  const { runtime, collector } = scene({
    rules: { highPercent: 85, lowPercent: 80, minAge: milliseconds(0), maxAge: null, runtimeHandlerAware: true },
  });
  runtime.images = [imageRecord({ id: '', runtimeHandler: 'kata' })];
  const { events } = await told(collector.listCandidates(instant(0), SIGNAL));
  t.deepEqual(
    events.map((event) => event.kind === 'node-event' && event.reason),
    ['InvalidImageID'],
  );
});

test('an image that was removed and pulled again begins anew', async (t) => {
  const { runtime, clock, collector } = scene();
  await collector.detect(instant(5), SIGNAL);
  clock.time = instant(10);
  await told(collector.deleteUnused(SIGNAL));
  runtime.images = [imageRecord({ id: 'a' })];
  clock.time = instant(100);
  await collector.detect(instant(100), SIGNAL);
  t.deepEqual(
    [...collector.records.values()].map((each) => each.firstDetected),
    [instant(100)],
  );
});

test('a container that goes between the list and its question ends the pass, as in the kubelet', async (t) => {
  const { runtime, collector } = scene();
  runtime.containers = [mountingContainer({ id: 'gone' })];
  runtime.containerStatus = async () => null;
  const { result } = await told(collector.deleteUnused(SIGNAL));
  t.is(result.error?.kind, 'container-status');
  t.deepEqual(remaining(runtime), ['a', 'b']);
  t.is(collector.records.size, 0);
});

test('an end that is asked for stops both passes before the next image', async (t) => {
  const end = new AbortController();
  const { runtime, clock, collector } = scene({
    removeImage: async (image) => {
      await runtime.removeImage(image);
      end.abort();
    },
    rules: {
      highPercent: 85,
      lowPercent: 80,
      minAge: milliseconds(0),
      maxAge: milliseconds(1),
      runtimeHandlerAware: false,
    },
  });
  clock.time = instant(10);
  const full = async () => ({ available: bytes(0), capacity: bytes(100) });
  const { result } = await told(collector.collect(instant(0), full, end.signal));
  t.is(result.error?.kind, 'aborted');
  t.deepEqual(remaining(runtime), ['b']);
});
