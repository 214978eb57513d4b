import type { Clock } from '../ports/clock.js';
import { milliseconds } from '../units/units.js';

/** A kubelet that starts later is noticed within this time. */
const LOOK_EVERY = milliseconds(60_000);

/** Knows whether a kubelet runs on this node. */
export interface KubeletWatch {
  /** As last looked for. */
  runs(): boolean;
  /** Looks now. */
  look(): Promise<boolean>;
  /** Aborts when a kubelet is seen for the first time, and stays so: what it does as well ends for the life of this process. */
  readonly seen: AbortSignal;
  /** Calls back at once, and whenever the answer changes. */
  onChange(listener: () => void): void;
}

/** Who evicts must be known before the first pass, so the first look is waited for; later ones go on beside until `abort`. */
export async function watchKubelet(
  ask: () => Promise<boolean>,
  clock: Clock,
  abort: AbortSignal,
): Promise<KubeletWatch> {
  const seen = new AbortController();
  let runs = false;
  let listener = () => {};
  const look = async () => {
    const before = runs;
    runs = await ask();
    if (runs) seen.abort();
    if (runs !== before) listener();
    return runs;
  };
  await look();
  void (async () => {
    while (!abort.aborted) {
      await clock.sleep(LOOK_EVERY, abort);
      await look();
    }
  })();
  return {
    runs: () => runs,
    look,
    seen: seen.signal,
    onChange(call) {
      listener = call;
      call();
    },
  };
}
