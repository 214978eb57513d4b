import type { EvictionEvent, KillOutcome } from '../eviction/event.js';
import type { Milliseconds } from '../units/units.js';
import type { PodRecord } from './pods.js';

/**
 * Ends a pod: stops its containers and sandboxes within `grace`, looks whether they really are gone, and removes what they
 * held. Yields each removal; never rejects for what the runtime does. Mirrors the kubelet's `KillPodFunc`, whose
 * implementation is `killPodNow`.
 */
export type KillPod = (
  pod: PodRecord,
  grace: Milliseconds,
  signal: AbortSignal,
  /** Ends what is left of the grace when it aborts. */
  hasten?: AbortSignal,
) => AsyncGenerator<EvictionEvent, KillOutcome>;
