import test from 'ava';
import { criPods } from '../../src/adapters/pods/cri-pods.js';
import { splitFlags } from '../../src/config/flags.js';
import { loadSettings } from '../../src/config/load.js';
import { createImageCollector, imageKeepers } from '../../src/daemon/collecting.js';
import { POLICIES } from '../../src/eviction/policy.js';
import { told } from '../conformance/fakes/run-events.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { emptyWorld, putImage } from '../fakes/scenery.js';

for (const [profile, isKept] of [
  ['kubelet', false],
  ['reclaimd', true],
] as const) {
  test(`gc.returnedImages: one that came back a minute after its removal ${isKept ? 'stays' : 'goes again'} (${profile})`, async (t) => {
    const loaded = loadSettings({ flags: splitFlags([`--profile=${profile}`, '--minimum-image-ttl-duration=0s']) });
    if (loaded.kind === 'refused') throw new Error(loaded.problems.map((each) => each.message).join('; '));
    const { settings } = loaded;
    const world = emptyWorld();
    const { clock } = world;
    const runtime = new FakeRuntime(world);
    const collector = createImageCollector({
      settings,
      policy: POLICIES[profile],
      runtime,
      clock,
      ...imageKeepers(settings, runtime, { imageConfig: () => Promise.resolve(null) }, criPods()),
    });
    const run = () => clock.run(told(collector.deleteUnused(new AbortController().signal)));
    const id = putImage(world, 'back');
    await run();
    t.false(world.images.has(id), 'it is unused');
    clock.skip(60_000);
    putImage(world, 'back');
    await run();
    t.is(world.images.has(id), isKept);
  });
}
