import { existsSync } from 'node:fs';
import { type Applied, applyOnce, PlanRefused } from '../daemon/plan-once.js';
import type { EvictionEvent } from '../eviction/event.js';
import { durationAdvice, durationOrNull } from '../eviction/limit-advice.js';
import { PortError } from '../ports/port-error.js';
import { messageOf } from '../reclaim/removal.js';
import { millisecondsOf } from '../units/duration.js';
import { EXIT } from './exit-code.js';
import { readSettings, type SettingsOptions, UnreadableConfiguration } from './load-settings.js';
import { loadPlan } from './plan-file.js';
import { readTarget, type TargetOptions } from './plan-options.js';
import { print } from './print.js';
import { appliedJson, appliedLine, renderApplied } from './render/applied.js';

/** Options of `reclaimd apply`. */
export interface ApplyCommandOptions extends SettingsOptions, TargetOptions {
  /** Path of a saved plan; null = the plan is made now. */
  readonly plan: string | null;
  /** How old a saved plan may be, as a duration. */
  readonly maxAge: string;
  readonly dryRun: boolean;
  readonly output: 'text' | 'json';
}

/** `reclaimd apply`: removes what a plan says, in its order, and nothing else. Answers with the exit code. */
export async function applyCommand(options: ApplyCommandOptions): Promise<number> {
  const abort = new AbortController();
  const interrupt = () => {
    abort.abort();
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  try {
    const loaded = readSettings(options);
    for (const problem of loaded.problems) process.stderr.write(`${problem.severity}: ${problem.message}\n`);
    if (loaded.kind === 'refused') return EXIT.usage;
    const target = readTarget(options);
    const age = durationOrNull(options.maxAge);
    const fault = faultOf(options, target.kind === 'refused' ? target.message : null, age);
    if (fault !== null || target.kind === 'refused' || age === null) {
      process.stderr.write(`error: ${fault}\n`);
      return EXIT.usage;
    }
    const events: EvictionEvent[] = [];
    const hear = (event: EvictionEvent) => {
      events.push(event);
      const line = options.output === 'text' ? appliedLine(event) : null;
      if (line !== null) print(`${line}\n`);
    };
    const applied = await applyOnce(
      loaded.settings,
      {
        plan: options.plan === null ? null : loadPlan(options.plan),
        asked: target.asked,
        maxAge: millisecondsOf(age),
        dryRun: options.dryRun,
      },
      existsSync,
      hear,
      abort.signal,
    );
    print(options.output === 'json' ? appliedJson(applied, events) : renderApplied(applied, events));
    return exitCodeOf(applied, events);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    process.stderr.write(`error: ${messageOf(error)}\n`);
    if (error instanceof PlanRefused) return EXIT.refused;
    return error instanceof UnreadableConfiguration ? EXIT.usage : EXIT.failed;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

function faultOf({ plan, signal, target, maxAge }: ApplyCommandOptions, wrong: string | null, age: bigint | null) {
  if (wrong !== null) return wrong;
  if (plan !== null && (signal !== null || target !== null)) {
    return `Cannot use --signal or --target as a saved plan has its own: ${plan}`;
  }
  if (age === null || age < 0n) return `Cannot use --max-age as ${durationAdvice(maxAge)}: ${maxAge}`;
  return null;
}

/** Everything that was asked for, all that was left of it, or less than that. */
function exitCodeOf({ plan, result, changed }: Applied, events: readonly EvictionEvent[]): number {
  if (result === null) return EXIT.done;
  switch (result.outcome) {
    case 'reached':
      return EXIT.done;
    case 'aborted':
      return EXIT.interrupted;
    case 'runtime-failed':
    case 'runtime-lost':
      return EXIT.failed;
    case 'exhausted':
    case 'no-effect': {
      const isWhole = changed.length === 0 && !events.some((event) => event.kind === 'removal-failed');
      return plan.goals.length === 0 && isWhole ? EXIT.done : EXIT.notEnough;
    }
  }
}
