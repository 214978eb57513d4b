import test from 'ava';
import { foreignLooks } from '../../../src/adapters/host/foreign-looks.js';
import { rawLook } from '../../../src/adapters/host/raw-look.js';
import { stayAwake, until } from './real.js';

test('the child sees what this process would see, exactly', async (t) => {
  stayAwake(t);
  const looks = foreignLooks();
  t.is(looks.pid, undefined, 'nothing was asked yet');
  t.deepEqual(await looks.ask('/proc'), await rawLook('/proc'));
  t.like(await looks.ask('/nowhere/at/all'), { kind: 'failure', code: 'ENOENT' });
  t.like(await looks.ask('/a "quoted" \\ path'), { kind: 'failure', code: 'ENOENT' });
  looks.close();
});

test('a child that dies is a failure of the looks under way, and is replaced', async (t) => {
  stayAwake(t);
  const looks = foreignLooks();
  const before = await looks.ask('/proc');
  const first = looks.pid ?? 0;
  // Stopped first, so that the question is surely unanswered when it dies.
  process.kill(first, 'SIGSTOP');
  const underWay = looks.ask('/proc');
  process.kill(first, 'SIGKILL');
  t.like(await underWay, { kind: 'failure', code: 'HELPER' });
  await until(async () => (await looks.ask('/proc')).kind === before.kind);
  t.not(looks.pid, first);
  looks.close();
});

test('when too many looks are unanswered the child is replaced, and what waited is told', async (t) => {
  stayAwake(t);
  const looks = foreignLooks();
  await looks.ask('/proc');
  const first = looks.pid ?? 0;
  process.kill(first, 'SIGSTOP');
  const waiting = Array.from({ length: 12 }, () => looks.ask('/proc'));
  const oneMore = looks.ask('/proc');
  for (const answer of await Promise.all(waiting)) t.like(answer, { kind: 'failure', code: 'HELPER' });
  await oneMore;
  await until(async () => (await looks.ask('/proc')).kind === 'numbers');
  t.not(looks.pid, first);
  looks.close();
});

test('after closing there is no child and every question is answered', async (t) => {
  stayAwake(t);
  const looks = foreignLooks();
  const underWay = looks.ask('/proc');
  looks.close();
  t.like(await underWay, { kind: 'failure' });
  t.like(await looks.ask('/proc'), { kind: 'failure', code: 'HELPER' });
  t.is(looks.pid, undefined);
});
