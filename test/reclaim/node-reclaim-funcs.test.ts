import test from 'ava';
import type { FsLayout } from '../../src/eviction/layout.js';
import { POLICIES, type ProfileName } from '../../src/eviction/policy.js';
import { ALL_SIGNALS, type Signal } from '../../src/eviction/signal.js';
import { buildSignalToNodeReclaimFuncs } from '../../src/reclaim/node-reclaim-funcs.js';
import { nothingRemoved, type ReclaimStepRun } from '../../src/reclaim/run.js';
import { told } from '../fakes/collect-events.js';
import { runFor } from '../fakes/fake-run.js';
import { emptyWorld } from '../fakes/scenery.js';

/** What runs for a signal, by the first letters of the collectors. */
async function order(signal: Signal, layout: FsLayout, profile: ProfileName): Promise<string> {
  const ran: string[] = [];
  const collector = (name: string) =>
    async function* (): ReclaimStepRun {
      ran.push(name);
      return nothingRemoved('exhausted');
    };
  const functions = buildSignalToNodeReclaimFuncs(
    { deleteUnusedImages: collector('i') },
    { deleteAllUnusedContainers: collector('c') },
    layout,
    POLICIES[profile],
  );
  const run = runFor(emptyWorld(), 0);
  for (const step of functions.get(signal) ?? []) await told(step(run));
  return ran.join('');
}

const rows: readonly [layout: FsLayout, profile: ProfileName, nodefs: string, imagefs: string, containerfs: string][] =
  [
    ['one-disk', 'kubelet', 'ci', 'ci', 'ci'],
    ['one-disk', 'reclaimd', 'ci', 'ci', 'ci'],
    ['image-disk', 'kubelet', '', 'ci', 'ci'],
    ['image-disk', 'reclaimd', 'c', 'ci', 'ci'],
    ['split-disks', 'kubelet', 'c', 'i', 'c'],
    ['split-disks', 'reclaimd', 'c', 'i', 'c'],
  ];
for (const [layout, profile, nodefs, imagefs, containerfs] of rows) {
  test(`${profile} on ${layout}: the collectors that help, containers before images`, async (t) => {
    for (const part of ['available', 'inodesFree'] as const) {
      t.is(await order(`nodefs.${part}`, layout, profile), nodefs);
      t.is(await order(`imagefs.${part}`, layout, profile), imagefs);
      t.is(await order(`containerfs.${part}`, layout, profile), containerfs);
    }
  });
}

test('every signal has its entry; memory and processes have no collector', async (t) => {
  for (const signal of ALL_SIGNALS.filter((each) => !each.includes('fs.'))) {
    t.is(await order(signal, 'one-disk', 'reclaimd'), '', signal);
  }
});
