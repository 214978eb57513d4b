import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { logDestination } from '../../src/adapters/log/destination.js';
import { openLog, UnusableLogFile } from '../../src/cli/log-destination.js';
import { PortError } from '../../src/ports/port-error.js';

const LOG = { level: 'info', format: 'json' } as const;

test('a log file in a directory that is not there is a mistake of configuration', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'none', 'reclaimd.log');
  t.throws(() => openLog({ log: { ...LOG, file } }), { instanceOf: UnusableLogFile, message: /must be writable/ });
});

for (const code of ['ENOSPC', 'EDQUOT']) {
  test(`a log file that cannot be made for want of space (${code}) keeps nobody from working`, (t) => {
    const open: typeof logDestination = (options) => {
      if ('fd' in options.target) return logDestination(options);
      const cause = Object.assign(new Error(`${code}: no space left`), { code });
      throw new PortError(`Cannot log to ${options.target.path} as it must be writable`, { cause });
    };
    const opened = openLog({ log: { ...LOG, file: '/full/reclaimd.log' } }, open);
    using _destination = opened.destination;
    t.regex(opened.problem ?? '', /\/full\/reclaimd\.log .*no space left; logging to standard output$/);
  });
}
