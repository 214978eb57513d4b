import type { Settings } from '../../config/settings.js';
import type { AdmissionVerdict } from '../../daemon/admit.js';
import { lineText, thresholdText } from '../../eviction/explain.js';
import { amountText, bytesText } from '../../eviction/message.js';
import type { Threshold } from '../../eviction/threshold.js';
import type { RoomAnswer } from '../../gc/disk-space.js';

/** What `reclaimd admit` prints: the verdict, why, and what could not be told. */
export function renderAdmission(
  label: string,
  verdict: AdmissionVerdict,
  settings: Pick<Settings, 'thresholds'>,
  output: 'text' | 'json',
): string {
  return output === 'json' ? asJson(label, verdict, settings) : asText(label, verdict, settings);
}

function asText(label: string, verdict: AdmissionVerdict, { thresholds }: Pick<Settings, 'thresholds'>): string {
  const { state, byGuard } = verdict;
  const conditions = state.conditions.length === 0 ? 'none' : state.conditions.join(', ');
  return [
    `${label}: ${verdict.admitted ? 'admitted' : `refused, ${reasonOf(verdict)}`}`,
    `  node conditions: ${conditions}`,
    ...thresholds.flatMap((threshold) => {
      const standing = standingOf(threshold, verdict);
      return standing === null ? [] : [`  ${thresholdText(threshold)}: ${standing}`];
    }),
    ...(byGuard === null
      ? []
      : Object.entries(byGuard.answers).map(
          ([filesystem, answer]) => `  ${filesystem} filesystem: ${roomText(answer)}`,
        )),
    '',
  ].join('\n');
}

function asJson(label: string, verdict: AdmissionVerdict, { thresholds }: Pick<Settings, 'thresholds'>): string {
  const { admitted, state, byGuard } = verdict;
  const said = {
    pod: label,
    admitted,
    reason: admitted ? null : reasonOf(verdict),
    conditions: state.conditions,
    thresholds: thresholds.map((threshold) => ({
      id: threshold.id,
      met: state.firstMet.has(threshold.id),
      available: state.observations.get(threshold.signal)?.available ?? null,
      unknown: state.unknown.get(threshold.signal)?.detail ?? null,
    })),
    outOfDisk: byGuard === null ? null : byGuard.answers,
  };
  return `${JSON.stringify(said, null, 2)}\n`;
}

/** The reason in the words of the API's pod status. The conditions come first, as they do where pods are admitted. */
function reasonOf({ byConditions }: AdmissionVerdict): string {
  if (byConditions.admitted) return 'OutOfDisk: less is free than is held back';
  const { reason, conditions } = byConditions;
  return `${reason}: ${conditions.length === 0 ? 'nothing could be seen of the node' : `the node reports ${conditions.join(', ')}`}`;
}

/** Where a line is missed or its signal unknown; null = nothing is to be said. */
function standingOf(threshold: Threshold, { state }: AdmissionVerdict): string | null {
  const seen = state.observations.get(threshold.signal);
  if (seen === undefined) return `unknown (${state.unknown.get(threshold.signal)?.detail ?? 'no numbers'})`;
  if (!state.firstMet.has(threshold.id)) return null;
  return `${amountText(threshold.signal, seen.available)} available, line ${lineText(threshold, seen.capacity)} -> met`;
}

function roomText(answer: RoomAnswer): string {
  switch (answer.kind) {
    case 'room':
      return 'has room';
    case 'no-room':
      return `has no room: ${bytesText(answer.available)} available, ${bytesText(answer.reserve)} held back`;
    case 'doubt':
      return `taken to have room: ${answer.message}`;
  }
}
