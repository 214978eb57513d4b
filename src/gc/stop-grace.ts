import { type Milliseconds, milliseconds } from '../units/units.js';

/** No stop gives less: a container gets the chance to end by itself. */
const SMALLEST_GRACE = milliseconds(2_000);
/** The kubelet's annotations of a container: the grace of a deletion that is under way, and the pod's own. Both in seconds. */
const DELETION_GRACE = 'io.kubernetes.pod.deletionGracePeriod';
const TERMINATION_GRACE = 'io.kubernetes.pod.terminationGracePeriod';

/**
 * The grace for stopping a container of which nothing is known but what the kubelet wrote on it: the deletion's, else the
 * pod's, else the smallest.
 */
export function stopGrace(annotations: Readonly<Record<string, string>>): Milliseconds {
  const seconds = secondsOf(annotations[DELETION_GRACE]) ?? secondsOf(annotations[TERMINATION_GRACE]) ?? 0;
  return milliseconds(Math.max(SMALLEST_GRACE, seconds * 1_000));
}

function secondsOf(text: string | undefined): number | null {
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}
