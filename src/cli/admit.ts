import { existsSync } from 'node:fs';
import { readPodText } from '../adapters/pods/pod-text.js';
import { admitOnce } from '../daemon/admit.js';
import type { Newcomer } from '../eviction/admission.js';
import { PortError } from '../ports/port-error.js';
import { messageOf } from '../reclaim/removal.js';
import { parseQuantity } from '../units/quantity.js';
import { EXIT } from './exit-code.js';
import { readSettings, readSource, type SettingsOptions, UnreadableConfiguration } from './load-settings.js';
import { print } from './print.js';
import { renderAdmission } from './render/admission.js';

/** The classes of service by which pods are told apart. */
export const QOS_CLASSES = ['BestEffort', 'Burstable', 'Guaranteed'] as const;

/** Options of `reclaimd admit`. */
export interface AdmitCommandOptions extends SettingsOptions {
  /** Path of a manifest; null = the pod is described by the other two. */
  readonly podFile: string | null;
  readonly priority: number | null;
  readonly qos: (typeof QOS_CLASSES)[number];
  readonly output: 'text' | 'json';
}

/** `reclaimd admit`: one look, whether a pod may start here now, and why. Answers with the exit code. */
export async function admitCommand(options: AdmitCommandOptions): Promise<number> {
  try {
    const loaded = readSettings(options);
    for (const problem of loaded.problems) process.stderr.write(`${problem.severity}: ${problem.message}\n`);
    if (loaded.kind === 'refused') return EXIT.usage;
    const described = podOf(options);
    if (described.kind === 'refused') {
      for (const problem of described.problems) process.stderr.write(`error: ${problem}\n`);
      return EXIT.usage;
    }
    const verdict = await admitOnce(loaded.settings, described.pod, existsSync);
    print(renderAdmission(described.label, verdict, loaded.settings, options.output));
    return verdict.admitted ? EXIT.done : EXIT.refused;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    process.stderr.write(`error: ${messageOf(error)}\n`);
    return error instanceof UnreadableConfiguration ? EXIT.usage : EXIT.failed;
  }
}

function podOf({ podFile, priority, qos }: AdmitCommandOptions): ReturnType<typeof readPodText> {
  if (podFile !== null) {
    const { path, text } = readSource(podFile);
    return readPodText(path, text);
  }
  const label = `a ${qos} pod of priority ${priority ?? 0}`;
  return { kind: 'pod', label, pod: podLike(priority, qos) };
}

/** Whether anything was asked for is all that is asked of a class. */
function podLike(priority: number | null, qos: AdmitCommandOptions['qos']): Newcomer {
  const requests = qos === 'BestEffort' ? {} : { cpu: parseQuantity('1') };
  const limits = qos === 'Guaranteed' ? requests : {};
  return {
    isMirror: false,
    source: 'api',
    priority,
    spec: {
      containers: [{ name: 'main', kind: 'regular', requests, limits }],
      podRequests: {},
      podLimits: {},
      overhead: {},
      volumes: [],
      tolerations: [],
    },
  };
}
