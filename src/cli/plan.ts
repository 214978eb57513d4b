import { existsSync } from 'node:fs';
import { planOnce } from '../daemon/plan-once.js';
import { PortError } from '../ports/port-error.js';
import { messageOf } from '../reclaim/removal.js';
import { EXIT } from './exit-code.js';
import { readSettings, type SettingsOptions, UnreadableConfiguration } from './load-settings.js';
import { savePlan } from './plan-file.js';
import { readTarget, type TargetOptions } from './plan-options.js';
import { print } from './print.js';
import { planJson, renderPlan } from './render/plan.js';

/** Options of `reclaimd plan`. */
export interface PlanCommandOptions extends SettingsOptions, TargetOptions {
  /** Whether what is in use is listed as well. */
  readonly all: boolean;
  readonly output: 'text' | 'json';
  /** Where the plan is kept to be applied; null = nowhere. */
  readonly save: string | null;
}

/** `reclaimd plan`: what would be removed, in which order, and where that would be enough. Answers with the exit code. */
export async function planCommand(options: PlanCommandOptions): Promise<number> {
  try {
    const loaded = readSettings(options);
    for (const problem of loaded.problems) process.stderr.write(`${problem.severity}: ${problem.message}\n`);
    if (loaded.kind === 'refused') return EXIT.usage;
    const target = readTarget(options);
    if (target.kind === 'refused') {
      process.stderr.write(`error: ${target.message}\n`);
      return EXIT.usage;
    }
    const plan = await planOnce(loaded.settings, target.asked, existsSync, new AbortController().signal);
    if (options.save !== null) savePlan(options.save, plan);
    print(options.output === 'json' ? planJson(plan) : renderPlan(plan, { all: options.all }));
    return plan.problems.length === 0 ? EXIT.done : EXIT.failed;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    process.stderr.write(`error: ${messageOf(error)}\n`);
    return error instanceof UnreadableConfiguration ? EXIT.usage : EXIT.failed;
  }
}
