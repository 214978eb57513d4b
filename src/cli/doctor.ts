import { existsSync } from 'node:fs';
import { systemClock } from '../adapters/host/clock.js';
import { hostNodeStats } from '../adapters/host/node-stats.js';
import { examine, type KubeletFacts } from '../daemon/examine.js';
import { PortError } from '../ports/port-error.js';
import { messageOf } from '../reclaim/removal.js';
import { EXIT } from './exit-code.js';
import { readSettings, type SettingsOptions, UnreadableConfiguration } from './load-settings.js';
import { print } from './print.js';
import { renderExamination } from './render/examination.js';

/** Options of `reclaimd doctor`. */
export interface DoctorCommandOptions extends SettingsOptions {
  readonly output: 'text' | 'json';
}

/** Where a kubelet's configuration usually lies. */
const KUBELET_CONFIGURATION = '/var/lib/kubelet/config.yaml';

/** `reclaimd doctor`: checks and accounts of space, changing nothing. Answers with the exit code: 1 when a check failed. */
export async function doctorCommand(options: DoctorCommandOptions): Promise<number> {
  try {
    const loaded = readSettings(options);
    for (const problem of loaded.problems) process.stderr.write(`${problem.severity}: ${problem.message}\n`);
    if (loaded.kind === 'refused') return EXIT.usage;
    const examination = await examine(loaded.settings, await kubeletFacts(), existsSync);
    print(renderExamination(examination, options.output));
    return examination.checks.some(({ level }) => level === 'fail') ? EXIT.failed : EXIT.done;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    process.stderr.write(`error: ${messageOf(error)}\n`);
    return error instanceof UnreadableConfiguration ? EXIT.usage : EXIT.failed;
  }
}

/** A kubelet's configuration is read as the kubelet reads it. One that cannot be read is one that was not found. */
async function kubeletFacts(): Promise<KubeletFacts> {
  const runs = await hostNodeStats({ clock: systemClock() }).kubeletRuns();
  if (!runs || !existsSync(KUBELET_CONFIGURATION)) return { runs, thresholds: null };
  try {
    const loaded = readSettings({
      kubeletConfig: KUBELET_CONFIGURATION,
      flags: [{ name: 'profile', value: 'kubelet' }],
    });
    return { runs, thresholds: loaded.kind === 'loaded' ? loaded.settings.thresholds : null };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { runs, thresholds: null };
  }
}
