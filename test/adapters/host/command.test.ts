import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import test from 'ava';
import { systemClock } from '../../../src/adapters/host/clock.js';
import { hostCommands } from '../../../src/adapters/host/command.js';
import { milliseconds } from '../../../src/units/units.js';
import { scratch, until } from './real.js';

const FOREVER = new AbortController().signal;

/** Runs a shell's script, which stands for an operator's program, with its first argument a directory of its own. */
function shell(t: ExecutionContext, script: string, { endsWithin = 10_000, signal = FOREVER } = {}) {
  const directory = scratch(t);
  const commands = hostCommands({ clock: systemClock(), endsWithin: milliseconds(endsWithin) });
  const run = commands.run(['/bin/sh', '-c', script, 'sh', directory], 'told\n', signal);
  return { run, file: (name: string) => join(directory, name) };
}

test('a program is given its arguments and its input, and nothing of our environment', async (t) => {
  process.env['RECLAIMD_SECRET'] = 'x';
  const { run, file } = shell(t, 'cat > "$1/in"; echo "$RECLAIMD_SECRET $PWD" > "$1/env"');
  await run;
  t.is(readFileSync(file('in'), 'utf8'), 'told\n');
  t.is(readFileSync(file('env'), 'utf8'), ' /\n');
});

test('one that fails says why', async (t) => {
  await t.throwsAsync(shell(t, 'echo no room >&2; exit 3').run, {
    name: 'PortError',
    message: /\/bin\/sh ended with exit code 3: no room$/,
  });
});

test('one that does not read its input may end well', async (t) => {
  await t.notThrowsAsync(shell(t, 'exit 0').run);
});

test('one that is not there is a failure and no crash', async (t) => {
  const commands = hostCommands({ clock: systemClock() });
  await t.throwsAsync(commands.run(['/none/notify'], '', FOREVER), { message: /\/none\/notify/, name: 'PortError' });
});

for (const [why, more] of [
  ['does not end in time', { endsWithin: 200 }],
  ['is to end with us', { signal: AbortSignal.timeout(200) }],
] as const) {
  test(`one that ${why} is ended, with what it has started`, async (t) => {
    const { run, file } = shell(t, 'sleep 60 & echo $! > "$1/child"; wait', more);
    await t.throwsAsync(run, { name: 'PortError' });
    const child = readFileSync(file('child'), 'utf8').trim();
    await until(
      () => !existsSync(`/proc/${child}`) || /^State:\s+Z/m.test(readFileSync(`/proc/${child}/status`, 'utf8')),
    );
    t.pass();
  });
}

test('after our end none is started', async (t) => {
  const directory = scratch(t);
  writeFileSync(join(directory, 'x'), '');
  const commands = hostCommands({ clock: systemClock() });
  await t.throwsAsync(commands.run(['/bin/rm', join(directory, 'x')], '', AbortSignal.abort()));
  t.true(existsSync(join(directory, 'x')));
});
