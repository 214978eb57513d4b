import type { GcEvent } from '../gc/gc-event.js';
import type { Clock } from '../ports/clock.js';
import type { Admission, AdmissionGuard } from '../reclaim/admission-guard.js';
import { milliseconds } from '../units/units.js';

/** How often the kubelet built its node status, and with it this condition. */
const LOOK_EVERY = milliseconds(10_000);

/** Tells each change of the node condition OutOfDisk, and what it was at first. Ends when `signal` aborts. */
export async function* watchOutOfDisk(
  { guard, clock }: { readonly guard: Pick<AdmissionGuard, 'admit'>; readonly clock: Clock },
  signal: AbortSignal,
): AsyncGenerator<GcEvent, void> {
  let before: Admission['outOfDisk']['status'] = 'unknown';
  while (!signal.aborted) {
    const admission = await guard.admit();
    const { status } = admission.outOfDisk;
    if (status !== before) {
      yield { kind: 'out-of-disk', at: clock.now(), isOut: status === 'true', answers: admission.answers };
    }
    before = status;
    await clock.sleep(LOOK_EVERY, signal);
  }
}
