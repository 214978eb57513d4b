import type { Instant } from '../../units/units.js';

const STEPS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** How long ago something was, in its largest whole unit; `unknown` where nobody says, and for what lies ahead. */
export function agoText(at: Instant | null, now: Instant): string {
  if (at === null || at > now) return 'unknown';
  const age = now - at;
  const [length, unit] = STEPS.find(([each]) => age >= each) ?? [1_000, 's'];
  return `${Math.floor(age / length)} ${unit} ago`;
}
