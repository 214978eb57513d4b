import type { LogLine } from '../e2e/daemon.js';
import type { Deed } from './judge.js';

/** What the daemon's log says that it did: removals, each from its call to its answer, and decisions to evict. */
export function deedsOf(lines: readonly LogLine[]): readonly Deed[] {
  return lines.flatMap((line): readonly Deed[] => {
    const at = timeOf(line);
    if (line['event'] === 'removed' && REMOVED_FOR_SPACE.has(String(line['what']))) {
      return [{ kind: 'removal', what: String(line['what']), from: at - Number(line['tookMs']), to: at }];
    }
    if (line['event'] === 'eviction-decided') {
      return [{ kind: 'eviction', what: podName(line['pod']), from: at, to: at }];
    }
    return [];
  });
}

/** When a line was written, in milliseconds since the epoch. */
export function timeOf({ time }: LogLine): number {
  return typeof time === 'string' ? Date.parse(time) : Number.NaN;
}

/** What goes because space is short; an evicted pod's own remains do not count as an answer. */
const REMOVED_FOR_SPACE: ReadonlySet<string> = new Set(['image', 'container']);

/** The label of a pod is its namespace and its name. */
function podName(pod: unknown): string {
  const label = typeof pod === 'object' && pod !== null && 'label' in pod ? String(pod.label) : '';
  return label.split('/').at(-1) ?? label;
}
