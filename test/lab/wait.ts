import { setTimeout as delay } from 'node:timers/promises';

/** How often a condition of the outside world that sends no news is looked at. */
const LOOK_EVERY_MS = 20;

/**
 * Looks until there is an answer (anything but undefined) and returns it. Throws when the deadline passes, with what was
 * waited for and, when given, how things stood.
 */
export async function waitFor<Answer>(
  what: string,
  deadlineMs: number,
  look: () => Promise<Answer | undefined> | Answer | undefined,
  describe: () => string = () => '',
): Promise<Answer> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const answer = await look();
    if (answer !== undefined) return answer;
    if (performance.now() > end) throw new Error(`Cannot see ${what} within ${deadlineMs} ms: ${describe()}`);
    await delay(LOOK_EVERY_MS);
  }
}
