import { type Problem, problemOf } from './problem.js';
import { type Path, valueAt } from './type-tree.js';
import type { YamlSource } from './yaml-source.js';

const LOCKED_GATE: Path = ['featureGates', 'ImageMaximumGCAge'];

/** What the kubelet's own validation refuses about gates, which nothing here uses: under its profile the load refuses it too. */
export function kubeletFaults(source: YamlSource): readonly Problem[] {
  if (valueAt(source.value, LOCKED_GATE) !== false) return [];
  return [
    problemOf({
      severity: 'error',
      code: 'BAD_VALUE',
      origin: source.originOf(LOCKED_GATE),
      path: LOCKED_GATE.join('.'),
      rule: 'the gate is locked to true since Kubernetes 1.35',
      value: 'false',
    }),
  ];
}
