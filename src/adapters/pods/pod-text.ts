import type { Newcomer } from '../../eviction/admission.js';
import { kindOf, readManifestText } from './manifest-text.js';
import { readPod } from './pod-object.js';
import { faultText, shown } from './value-reader.js';

/** A pod that is about to start, as its manifest describes it; or all that is wrong with the manifest, with lines. */
export type PodText =
  | { readonly kind: 'pod'; readonly label: string; readonly pod: Newcomer }
  | { readonly kind: 'refused'; readonly problems: readonly string[] };

/** Reads one v1 Pod in YAML or JSON. `name` stands for the text in problems. Never throws. */
export function readPodText(name: string, content: string): PodText {
  const refused = (problems: readonly { readonly line: number; readonly problem: string }[]): PodText => ({
    kind: 'refused',
    problems: problems.map(({ line, problem }) => `${shown(name)}:${line}: ${problem}`),
  });
  const text = readManifestText(content);
  if (text.kind === 'refused') {
    return refused([{ line: text.line, problem: `Cannot use this file as ${text.message}: no pod` }]);
  }
  const kind = kindOf(text.value);
  if (kind !== 'v1 Pod') {
    const problem = `Cannot use this file as it must hold a v1 Pod: ${shown(kind)}`;
    return refused([{ line: text.lineOf(['kind']), problem }]);
  }
  const { facts, faults } = readPod(text.value);
  if (facts === null || faults.length > 0) {
    return refused(faults.map((fault) => ({ line: text.lineOf(fault.path), problem: faultText(fault) })));
  }
  const { isMirror, source, priority, spec } = facts;
  if (spec === null) {
    const problem = 'Cannot use this file as the pod must have a spec: none';
    return refused([{ line: text.lineOf([]), problem }]);
  }
  return {
    kind: 'pod',
    label: `${facts.namespace ?? 'default'}/${facts.name}`,
    pod: { isMirror, source, priority, spec },
  };
}
