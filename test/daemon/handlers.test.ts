import test from 'ava';
import { criPods } from '../../src/adapters/pods/cri-pods.js';
import { splitFlags } from '../../src/config/flags.js';
import { loadSettings } from '../../src/config/load.js';
import { createImageCollector, imageKeepers } from '../../src/daemon/collecting.js';
import { POLICIES } from '../../src/eviction/policy.js';
import { told } from '../conformance/fakes/run-events.js';
import { FakeRuntime } from '../fakes/fake-runtime.js';
import { emptyWorld, putContainer, putImage, putPod } from '../fakes/scenery.js';

for (const profile of ['kubelet', 'reclaimd'] as const) {
  test(`with images by handler, one that another handler's container runs on stays, and unused ones go (${profile})`, async (t) => {
    const flags = [`--profile=${profile}`, '--minimum-image-ttl-duration=0s', '--runtime-handler-aware-images'];
    const loaded = loadSettings({ flags: splitFlags(flags) });
    if (loaded.kind === 'refused') throw new Error(loaded.problems.map((each) => each.message).join('; '));
    const { settings } = loaded;
    const world = emptyWorld();
    const { clock } = world;
    const runtime = new FakeRuntime(world);
    for (const name of ['used', 'unused']) {
      const id = putImage(world, name);
      const image = world.images.get(id);
      if (image !== undefined) world.images.set(id, { ...image, runtimeHandler: 'kata' });
    }
    const facts = { state: 'running', base: 'sha256:used', imageId: 'sha256:used', runtimeHandler: 'runc' } as const;
    putContainer(world, 'server', putPod(world, 'web'), facts);
    const collector = createImageCollector({
      settings,
      policy: POLICIES[profile],
      runtime,
      clock,
      ...imageKeepers(settings, runtime, { imageConfig: () => Promise.resolve(null) }, criPods()),
    });
    await clock.run(told(collector.deleteUnused(new AbortController().signal)));
    t.deepEqual([...collector.records.keys()], ['sha256:used,kata'], 'remembered by handler');
    t.deepEqual(runtime.targetsOf('removeImage'), ['sha256:unused']);
  });
}
