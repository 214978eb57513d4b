import { durationOrNull } from '../eviction/limit-advice.js';
import { type Problem, type ProblemCode, problemOf } from './problem.js';
import { type Path, valueAt } from './type-tree.js';
import type { YamlSource } from './yaml-source.js';

/**
 * What the kubelet's own validation refuses about log files and gates that nothing here uses: under its profile the load
 * refuses what the kubelet refuses. A gate that is locked to on ends the validation at once.
 */
export function kubeletFaults(source: YamlSource): readonly Problem[] {
  const tell = (path: Path, code: ProblemCode, rule: string): Problem[] => [
    problemOf({
      severity: 'error',
      code,
      origin: source.originOf(path),
      path: path.join('.'),
      rule,
      value: String(valueAt(source.value, path)),
    }),
  ];
  const below = (key: string, minimum: number) => {
    const value = valueAt(source.value, [key]);
    return typeof value === 'number' && value < minimum
      ? tell([key], 'BAD_VALUE', `it must be at least ${minimum}`)
      : [];
  };
  if (valueAt(source.value, ['featureGates', 'ImageMaximumGCAge']) === false) {
    return tell(['featureGates', 'ImageMaximumGCAge'], 'BAD_VALUE', 'the gate is locked to true since Kubernetes 1.35');
  }
  const interval = valueAt(source.value, ['containerLogMonitorInterval']);
  const nanoseconds = typeof interval === 'string' ? durationOrNull(interval) : null;
  // Zero in the file is the default of ten seconds.
  const isShort = nanoseconds !== null && nanoseconds !== 0n && nanoseconds < 3_000_000_000n;
  return [
    ...(typeof interval === 'string' && nanoseconds === null
      ? tell(['containerLogMonitorInterval'], 'BAD_DURATION', 'it must be a duration')
      : []),
    ...(isShort ? tell(['containerLogMonitorInterval'], 'BAD_VALUE', 'it must be at least 3s') : []),
    ...below('containerLogMaxFiles', 2),
    ...below('containerLogMaxWorkers', 1),
  ];
}
