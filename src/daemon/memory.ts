import { acquireInstanceLock } from '../adapters/host/instance-lock.js';
import { fileStore } from '../adapters/store/file-store.js';
import type { Settings } from '../config/settings.js';
import { createMemory, type Memory } from '../manager/state-keeper.js';
import type { Clock } from '../ports/clock.js';
import { messageOf } from '../reclaim/removal.js';
import { thisInstance } from './instance.js';

/** What remembers over a restart, to be closed at the end. */
export interface StoredMemory extends AsyncDisposable {
  readonly memory: Memory;
}

/**
 * The memory that the settings want; null = none. Nothing is opened before the first pass. `readOnly`: it may be asked, and is left as it
 * is.
 */
export function storedMemory(
  { stateFile }: Pick<Settings, 'stateFile'>,
  clock: Clock,
  readOnly: boolean,
): StoredMemory | null {
  if (stateFile === null) return null;
  let release: (() => Promise<void>) | null = null;
  const hold = async () => {
    // The instance lock is one of the runtime: two daemons on two runtimes may be given one file.
    const lock = await acquireInstanceLock(stateFile, thisInstance());
    if (lock.kind === 'acquired') {
      release = () => lock.release();
      return null;
    }
    const by = lock.by === null ? 'another one' : `process ${lock.by.pid}, since ${lock.by.startedAt}`;
    return `Cannot use the state file ${stateFile} as one daemon writes it at a time: ${by}`;
  };
  const store = fileStore({
    path: stateFile,
    readOnly,
    ...(readOnly ? {} : { hold: () => hold().catch(messageOf) }),
  });
  return {
    memory: createMemory(store, clock),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await release?.();
    },
  };
}
