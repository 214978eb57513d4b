import type { StepOf } from '../format/steps.js';

/** What a call meets. */
export interface Met {
  readonly error: string | null;
  /** How long the answer takes, in milliseconds. */
  readonly hang: number;
}

const NOTHING: Met = { error: null, hang: 0 };

interface FaultUnderWay {
  readonly step: StepOf<'fault'>;
  left: number;
}

/** The faults and effects that steps have set. Of several that fit, the latest counts. */
export class CallRules {
  readonly #faults: FaultUnderWay[] = [];
  readonly #effects: StepOf<'effect'>[] = [];

  addFault(step: StepOf<'fault'>): void {
    this.#faults.push({ step, left: step.times === 'always' ? Number.POSITIVE_INFINITY : step.times });
  }

  addEffect(step: StepOf<'effect'>): void {
    this.#effects.push(step);
  }

  /** What a call meets, under any of its names; `available` says what a filesystem has now. */
  meet(names: readonly string[], available: (filesystem: string) => number | null): Met {
    const fault = this.#faults.findLast(
      ({ step, left }) =>
        left > 0 &&
        names.some((name) => fits(step.call, name)) &&
        Object.entries(step.whileAvailableBelow).every(([name, limit]) => {
          const left = available(name);
          return left !== null && left < limit;
        }),
    );
    if (fault === undefined) return NOTHING;
    fault.left -= 1;
    return { error: fault.step.error ?? null, hang: fault.step.hang ?? 0 };
  }

  /** What overrides the effect of a call; null = nothing does. */
  effectOf(call: string): StepOf<'effect'> | null {
    return this.#effects.findLast((each) => fits(each.call, call)) ?? null;
  }
}

/** Whether a pattern means a call: `*` at its end stands for anything, and a call alone for every object of it. */
export function fits(pattern: string, call: string): boolean {
  if (pattern.endsWith('*')) return call.startsWith(pattern.slice(0, -1));
  return pattern === call || (!pattern.includes(':') && call.startsWith(`${pattern}:`));
}
