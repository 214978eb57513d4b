import { isFull } from '../eviction/ballast.js';
import { type EvictionEvent, FILESYSTEMS } from '../eviction/event.js';
import { deviceUnder } from '../eviction/layout.js';
import type { FilesystemName } from '../eviction/signal.js';
import { buildSignalToNodeReclaimFuncs } from '../reclaim/node-reclaim-funcs.js';
import { elapsed, later, milliseconds } from '../units/units.js';
import { releaseFor } from './keep-ballast.js';
import type { Kill } from './kills.js';
import type { Pass } from './pass.js';

/** So long after its grace a kill that is not over hangs: with room on the disk it takes 30 to 100 ms, measured. */
const HANGS_AFTER = milliseconds(1_000);
/** Between two helps: what the first one freed is to be seen first. */
const HELP_EVERY = milliseconds(1_000);
/** So much is to be freed: a runtime needs a few pages to record the end of a process. */
const ENOUGH = 1024 * 1024;

/**
 * Frees something at once when a kill hangs because the runtime has no room to record it: ballast, else one thing that nobody
 * needs. Its own retry comes 1 to 17 s later. Nobody else is chosen meanwhile.
 */
export async function* helpRuntime(pass: Pass, kill: Kill): AsyncGenerator<EvictionEvent, void> {
  const now = pass.now();
  if (kill.outcome !== null || now < later(kill.graceEnds, HANGS_AFTER)) return;
  if (kill.helpedAt !== null && elapsed(kill.helpedAt, now) < HELP_EVERY) return;
  const full = fullFilesystem(pass);
  if (full === null) return;
  kill.helpedAt = now;
  const { filesystem, available } = full;
  const freed = (yield* pass.folding(releaseFor(pass, filesystem, 'stop-hangs')))
    ? 'ballast'
    : (yield* pass.folding(collectOne(pass, filesystem, available)))
      ? 'garbage'
      : 'nothing';
  const isNews = freed !== 'nothing' || !kill.isSaidToBeStuck;
  kill.isSaidToBeStuck = freed === 'nothing';
  if (isNews)
    yield* pass.tell({ kind: 'stop-hangs', at: pass.now(), pod: kill.facts.pod, filesystem, available, freed });
}

function fullFilesystem({ state, layout }: Pass): { readonly filesystem: FilesystemName; available: number } | null {
  for (const each of FILESYSTEMS) {
    const filesystem = deviceUnder(each, layout);
    const seen = state.observations.get(`${filesystem}.available`);
    if (seen !== undefined && isFull(seen.available)) return { filesystem, available: seen.available };
  }
  return null;
}

/** Removes one thing that nobody needs, as the collectors would first; answers whether there was one. */
async function* collectOne(
  pass: Pass,
  filesystem: FilesystemName,
  available: number,
): AsyncGenerator<EvictionEvent, boolean> {
  const { containerGC, imageGC } = pass.deps;
  const signal = `${filesystem}.available` as const;
  const isHard = pass.settings.thresholds.some(
    ({ id, urgency }) => urgency.kind === 'hard' && pass.state.pressing.has(id),
  );
  const goal = { signal, line: available, target: available + ENOUGH };
  const run = pass.runOn(filesystem, [goal], isHard);
  const functions = buildSignalToNodeReclaimFuncs(imageGC, containerGC, pass.layout, pass.settings.policy);
  for (const collect of functions.get(signal) ?? []) {
    for await (const event of collect(run)) {
      yield event;
      // The first batch is one thing on a disk that is full.
      if (event.kind === 'batch-measured') return true;
    }
  }
  return false;
}
