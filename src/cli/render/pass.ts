import type { Settings } from '../../config/settings.js';
import type { PassResult } from '../../daemon/one-pass.js';
import { explain, lineText, thresholdText } from '../../eviction/explain.js';
import { amountText, bytesText } from '../../eviction/message.js';

/** What a dry run prints: where each threshold stands, and what a daemon would do now. */
export function renderPass(pass: PassResult, settings: Settings): string {
  const told = pass.events.filter((event) => event.kind !== 'observed').map((event) => `  ${explain(event)}`);
  const isPressed = pass.events.some((event) => event.kind === 'reclaim-started');
  return [
    `Dry run on ${pass.endpoint}, profile ${settings.profile}, layout ${pass.state.layout ?? 'unknown'}. Nothing is changed.`,
    '',
    ...disks(pass.inventory),
    'Thresholds:',
    ...settings.thresholds.map((threshold) => {
      const seen = pass.state.observations.get(threshold.signal);
      const unknown = pass.state.unknown.get(threshold.signal);
      const standing =
        seen === undefined
          ? `unknown: ${unknown?.detail ?? 'no numbers'}`
          : `${amountText(threshold.signal, seen.available)} available, line ${lineText(threshold, seen.capacity)}` +
            `${pass.state.pressing.has(threshold.id) ? ' -> met' : ''}`;
      return `  ${thresholdText(threshold)}: ${standing}`;
    }),
    '',
    isPressed ? 'What would be done now:' : 'No threshold is due: nothing would be done now.',
    ...told,
    '',
  ].join('\n');
}

/** The disks as the host's own tools name them, so that a reader knows which device a line is about. */
function disks(inventory: PassResult['inventory']): readonly string[] {
  if (inventory === null) return [];
  // Every running container has an overlay of its own, which is none of the disks.
  const ofDisks = (inventory.mounts ?? []).filter(({ type }) => type !== 'overlay');
  const mounts = ofDisks.map(
    ({ mountPoint, device, type, capacity, available }) =>
      `  ${mountPoint}: ${device} (${type}), ${bytesText(available)} of ${bytesText(capacity)} available`,
  );
  const problems = inventory.problems.map((problem) => `  not known: ${problem}`);
  return ['Disks, as df names them:', ...mounts, ...problems, ''];
}
