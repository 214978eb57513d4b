import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));

test('a reader that has seen enough ends a command quietly', async (t) => {
  const child = spawn(process.execPath, [MAIN, 'config', 'show'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const [said] = await Promise.all([text(child.stderr), once(child, 'close')]);
  t.deepEqual([said, child.exitCode], ['', 0]);
});

test('an output that cannot be written is said, without a stack', async (t) => {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [MAIN, 'config', 'show'], { stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  if (child.stderr === null) throw new Error('Cannot hear the command as it must have a standard error: null');
  const [said] = await Promise.all([text(child.stderr), once(child, 'close')]);
  t.regex(said, /^error: Cannot print as standard output must be writable: ENOSPC[^\n]*\n$/);
  t.is(child.exitCode, 1);
});
