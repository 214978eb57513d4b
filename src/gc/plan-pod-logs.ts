import type { PodAnswers } from './inventory.js';

/**
 * The entries of the pod log root that go: those of pods that are gone, whatever they are. The pod's uid is what follows the
 * last underscore of `namespace_name_uid` (formerly the whole name). Nothing while a source of pods is not ready.
 */
export function planPodLogs(entries: readonly string[], pods: PodAnswers): readonly string[] {
  if (!pods.allSourcesReady) return [];
  return entries.filter((entry) => pods.contentMayBeRemoved(entry.slice(entry.lastIndexOf('_') + 1)));
}
