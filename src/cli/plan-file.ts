import { readFileSync, writeFileSync } from 'node:fs';
import { planFromText, planToText } from '../gc/plan-file.js';
import type { RemovalPlan } from '../gc/removal-plan.js';
import { PortError } from '../ports/port-error.js';

/** Writes a plan to a file that only its owner reads. Throws a `PortError`. */
export function savePlan(path: string, plan: RemovalPlan): void {
  try {
    writeFileSync(path, planToText(plan), { mode: 0o600 });
  } catch (cause) {
    throw new PortError(`Cannot save the plan as the file must be writable: ${path}`, { cause });
  }
}

/** Reads a plan from a file. Throws a `PortError` that says what is wrong with it. */
export function loadPlan(path: string): RemovalPlan {
  const reading = planFromText(readText(path));
  if (reading.kind === 'plan') return reading.plan;
  throw new PortError(`Cannot use the plan as ${reading.rule}: ${path}`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new PortError(`Cannot use the plan as the file must be there and readable: ${path}`, { cause });
  }
}
