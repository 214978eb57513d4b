import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { systemClock } from '../../../src/adapters/host/clock.js';
import { hostMounts } from '../../../src/adapters/host/mounts.js';
import { milliseconds } from '../../../src/units/units.js';
import { canRun, FUSE, program, ROOT, run, scratch, succeeds, until } from './real.js';

const FUSE_DAEMON = 'bindfs';
const CHILD = fileURLToPath(new URL('./hung-mount-child.js', import.meta.url));

/** A FUSE mount whose daemon can be stopped. It is let go and unmounted whatever happens. */
async function fuseMount(t: ExecutionContext) {
  const directory = scratch(t);
  const [source, point] = [join(directory, 'source'), join(directory, 'point')];
  for (const each of [source, point]) mkdirSync(each);
  const daemon = spawn(FUSE_DAEMON, ['-f', source, point], { stdio: 'ignore' });
  const signal = (name: NodeJS.Signals) => daemon.kill(name);
  t.teardown(() => {
    signal('SIGCONT');
    if (!succeeds('fusermount3', '-u', point)) run('umount', '-l', point);
    signal('SIGKILL');
  });
  await until(() => readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${point} `));
  return { directory, point, stop: () => signal('SIGSTOP'), resume: () => signal('SIGCONT') };
}

test('a mount that hangs is said to hang since when, others answer, and it is read again when it recovers', async (t) => {
  if (!canRun(t, ROOT, FUSE, program(FUSE_DAEMON))) return;
  const { directory, point, stop, resume } = await fuseMount(t);
  symlinkSync(point, join(directory, 'link'));
  using mounts = hostMounts({ clock: systemClock(), deadline: milliseconds(500) });
  const before = await mounts.look(point);
  t.like(before, { kind: 'reading' });
  stop();
  const [hung, throughLink, root] = await Promise.all([
    mounts.look(point),
    mounts.look(join(directory, 'link')),
    mounts.look('/'),
  ]);
  t.is(hung?.kind, 'hung');
  t.is(throughLink?.kind, 'hung', 'the link is not followed from within this process');
  t.is(root?.kind, 'reading');
  t.is(mounts.stuckHere(), 0);
  const again = await mounts.look(point);
  t.like(again, { kind: 'hung', since: hung?.kind === 'hung' ? hung.since : null });
  resume();
  await until(async () => (await mounts.look(point)).kind === 'reading');
  t.is((await mounts.look(join(directory, 'link'))).kind, 'reading');
});

for (const end of ['exit', 'by itself'] as const) {
  test.serial(`while a mount hangs the loop goes on, and the process ends within a second (${end})`, async (t) => {
    if (!canRun(t, ROOT, FUSE, program(FUSE_DAEMON))) return;
    const { point, stop } = await fuseMount(t);
    stop();
    // A child that hangs has to go, else the mount could not be let go either.
    const child = spawn(process.execPath, [CHILD, point, end], {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 20_000,
      killSignal: 'SIGKILL',
    });
    let text = '';
    let saidAt = Number.NaN;
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      saidAt = performance.now();
    });
    const code = await new Promise((resolve) => child.on('exit', resolve));
    const took = performance.now() - saidAt;
    t.is(code, 0);
    t.true(took < 1_000, `ended ${took} ms after its last word`);
    const said = JSON.parse(text) as { hung: string[]; others: string[]; longestStall: number; helper: number }; // its own words
    t.deepEqual([...new Set(said.hung)], ['hung']);
    t.deepEqual([...new Set(said.others)], ['reading']);
    t.true(said.longestStall < 400, `the loop stood still for ${said.longestStall} ms`);
    await until(
      () => !existsSync(`/proc/${said.helper}`) || / Z /.test(readFileSync(`/proc/${said.helper}/stat`, 'utf8')),
    );
    t.pass('the helper has gone too, though its call was still waiting');
  });
}
