import test from 'ava';
import { ImageCollector, type ImageCollectorDeps } from '../../src/reclaim/image-collector.js';
import { askEveryContainer } from '../../src/reclaim/image-mounts.js';
import { ImageProtector, namesOnly } from '../../src/reclaim/image-protector.js';
import { usersBeside } from '../../src/reclaim/image-users.js';
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
  const { runtime, collector } = scene({ protector: new ImageProtector(namesOnly(['a:*'])) });
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

/** A container that runs image `a` by id and names `b` by the tag that its next start will run. */
const RETAGGED = { ...mountingContainer({ id: 'app', imageId: 'a' }), image: 'b:1' };

test('by name an image stays that a container only names by tag, and so does the sandbox image', async (t) => {
  const { runtime, collector } = scene({ alsoInUse: usersBeside({ sandboxImage: 'c:1', byName: true }) });
  runtime.images = [
    ...runtime.images,
    ...['c', 'd'].map((id) => imageRecord({ id, tags: [`${id}:1`], size: bytes(10) })),
  ];
  runtime.containers = [RETAGGED];
  await told(collector.deleteUnused(SIGNAL));
  t.deepEqual(remaining(runtime), ['a', 'b', 'c']);
});

test('without it the kubelet keeps what is named by id, and the sandbox image all the same', async (t) => {
  const { runtime, collector } = scene({ alsoInUse: usersBeside({ sandboxImage: 'c:1', byName: false }) });
  runtime.images = [...runtime.images, imageRecord({ id: 'c', tags: ['c:1'], size: bytes(10) })];
  runtime.containers = [RETAGGED];
  await told(collector.deleteUnused(SIGNAL));
  t.deepEqual(remaining(runtime), ['a', 'c']);
});

test('by name an image is spared that a container has come to name since the candidates were chosen', async (t) => {
  const { runtime, collector } = scene({
    alsoInUse: usersBeside({ sandboxImage: null, byName: true }),
    removeImage: async (image) => {
      await runtime.removeImage(image);
      runtime.containers = [{ ...mountingContainer({ id: 'newcomer', imageId: 'c' }), image: 'b:1' }];
    },
  });
  runtime.images = [...runtime.images, imageRecord({ id: 'c', tags: ['c:1'], pinned: true })];
  const { events } = await told(collector.deleteUnused(SIGNAL));
  t.deepEqual(remaining(runtime), ['b', 'c']);
  t.deepEqual(
    events.map((event) => (event.kind === 'spared' ? event.why : event.kind)),
    ['collected', 'used by container newcomer'],
  );
});

/** A disk of 100 bytes, all of them used, on which an image of 10 bytes as listed takes `each`. */
async function spaceRun(each: number, measuresFreed: boolean) {
  const { runtime, collector } = scene({ measuresFreed });
  runtime.images = ['a', 'b', 'c', 'd'].map((id) => imageRecord({ id, tags: [`${id}:1`], size: bytes(10) }));
  const imageFs = async () => ({ capacity: bytes(100), available: bytes((4 - runtime.images.length) * each) });
  const { result } = await told(collector.collect(instant(0), imageFs, SIGNAL));
  return { left: remaining(runtime), error: result.error?.kind ?? null, freed: Number(result.freed) };
}

test('where the disk is looked at, a run ends as soon as the low mark is reached there', async (t) => {
  t.deepEqual(await spaceRun(20, true), { left: ['b', 'c', 'd'], error: null, freed: 20 });
  t.deepEqual(await spaceRun(20, false), { left: ['c', 'd'], error: null, freed: 20 });
});

test('and goes on where the images bring less than is listed', async (t) => {
  t.deepEqual(await spaceRun(7, true), { left: ['d'], error: null, freed: 21 });
});

test('a rule that fits nothing is told by a periodic run', async (t) => {
  const { collector } = scene({ protector: new ImageProtector(namesOnly(['nothing:*'])) });
  const { events } = await told(collector.listCandidates(instant(0), SIGNAL));
  t.deepEqual(
    events.flatMap((event) => (event.kind === 'protect-pattern-unused' ? [event.pattern] : [])),
    ['nothing:*'],
  );
});

test('a claim keeps an image in a periodic run; when claims cannot be told the run has failed', async (t) => {
  const claims = { of: () => Promise.resolve(new Map([['a', 'wanted']])), newlyUnresolved: () => [] };
  const alsoInUse = usersBeside({ sandboxImage: null, byName: true });
  const { runtime, collector } = scene({ claims, alsoInUse });
  await told(collector.deleteUnused(SIGNAL));
  t.deepEqual(remaining(runtime), ['a']);
  const silent = scene({ alsoInUse, claims: { ...claims, of: () => Promise.reject(new Error('no answer')) } });
  const { result } = await told(silent.collector.deleteUnused(SIGNAL));
  t.is(result.error?.kind, 'list-containers');
  t.is(remaining(silent.runtime).length, 2);
});
