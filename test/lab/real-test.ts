import test from 'ava';
import { missingParts, type Part } from './parts.js';

/**
 * Declares tests that need real parts. When a part is missing, one test stands for them all: it is skipped with the
 * reason and the remedy in its title, or fails when `RECLAIMD_REQUIRE_REAL=1` says that this machine must have them.
 */
export function withParts(title: string, needed: readonly Part[], declare: () => void): void {
  const missing = missingParts(needed);
  if (missing.length === 0) {
    declare();
    return;
  }
  const reason = missing.join('; ');
  if (process.env['RECLAIMD_REQUIRE_REAL'] === '1') {
    test(title, (t) => t.fail(`Cannot run as parts are missing and RECLAIMD_REQUIRE_REAL=1: ${reason}`));
  } else {
    test.skip(`${title} (needs ${reason})`, (t) => t.fail());
  }
}
