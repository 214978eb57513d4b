// Reads ava's TAP stream: one record a test, with what belongs to it. Imported by test.mjs; does nothing by itself.

/**
 * @typedef {{ title: string, outcome: 'passed' | 'failed' | 'skipped', details: string[] }} TestRecord
 */

/**
 * Turns lines into test records. Each is complete only when the next one begins, as details follow the test they belong to.
 * @param {AsyncIterable<string>} lines
 * @returns {AsyncGenerator<TestRecord>}
 */
export async function* readTap(lines) {
  let current;
  for await (const line of lines) {
    const point = /^(not )?ok \d+ - (.*?)( # (SKIP|TODO))?$/.exec(line);
    if (point !== null) {
      if (current !== undefined) yield current;
      const [, not, title, , directive] = point;
      // A test that is only planned (TODO) has not run; like a skipped one it says so, and counts for nothing.
      const outcome = directive !== undefined ? 'skipped' : not === undefined ? 'passed' : 'failed';
      current = { title, outcome, details: [] };
    } else if (/^(TAP version|1\.\.\d+|# (tests|pass|skip|todo|fail) \d+$)/.test(line) || line === '') {
      // The totals are counted here instead: a crash would be missing from ava's.
    } else if (current !== undefined) {
      current.details.push(line);
    }
  }
  if (current !== undefined) yield current;
}
