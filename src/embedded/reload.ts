import type { RuntimeState } from './state.js';

/** Below one block nothing can be written, and a starting runtime writes for each container that it loads. */
const NEEDED_BYTES = 4096;

/**
 * What a restart does to what is known. On a full disk a runtime cannot load its containers: they are no longer listed,
 * though their processes and their bytes stay, and only a later restart with room brings them back. Measured on
 * containerd: 2.x keeps listing the sandboxes, 1.6 does not.
 */
export async function reload(state: RuntimeState): Promise<void> {
  const full = (await state.disks.container.read()).available < NEEDED_BYTES;
  const [from, to] = full ? [state, state.lost] : [state.lost, state];
  move(from.containers, to.containers);
  // The behaviour that has no events is the old one.
  if (!full || !state.traits.events) move(from.sandboxes, to.sandboxes);
}

function move<Value>(from: Map<string, Value>, to: Map<string, Value>): void {
  for (const [key, value] of from) to.set(key, value);
  from.clear();
}
