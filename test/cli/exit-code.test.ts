import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));

/** Runs a command line to its end; answers with its exit code and what it said on standard error. */
function run(args: readonly string[]): Promise<{ code: unknown; said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], (error, _stdout, said) => {
      resolve({ code: error === null ? 0 : error.code, said });
    });
  });
}

test('a socket whose path no runtime can listen at is a mistake of the command line', async (t) => {
  const { code, said } = await run(['run', `--runtime-endpoint=/run/${'x'.repeat(110)}.sock`]);
  t.is(code, 2);
  t.regex(said, /containerRuntimeEndpoint: .*at most 107 bytes/);
});

test('a log file that cannot be opened is a mistake of the command line', async (t) => {
  const { code, said } = await run(['run', '--runtime-endpoint=/run/none.sock', '--log-file=/proc/none/reclaimd.log']);
  t.is(code, 2);
  t.regex(said, /Cannot log to \/proc\/none\/reclaimd\.log as it must be writable/);
});

test('one pass without a runtime fails, since nobody is there to wait', async (t) => {
  const { code, said } = await run(['run', '--once', '--runtime-endpoint=/run/none.sock']);
  t.is(code, 1);
  t.regex(said, /\/run\/none\.sock/);
});
