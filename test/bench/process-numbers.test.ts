import test from 'ava';
import {
  cpuTime,
  memory,
  parseCpuTime,
  parseMemory,
  parseScheduled,
  parseWaited,
  scheduledTime,
} from './process-numbers.js';

test('the CPU time is read past a program name with spaces and brackets', (t) => {
  const stat = '42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 7 3 20 5 20 0 11 0 100 1000 200';
  t.deepEqual(parseCpuTime(stat), { self: 100, children: 250 });
});

test('a stat file that ends early is refused', (t) => {
  t.throws(() => parseCpuTime('42 (node) S 1 42'), { message: /must have 17 fields/ });
});

test('memory is read in MiB', (t) => {
  t.deepEqual(parseMemory('Name:\tnode\nVmHWM:\t  204800 kB\nVmRSS:\t   87040 kB\n'), { resident: 85, peak: 200 });
  t.throws(() => parseMemory('Name:\tnode\n'), { message: /must have VmRSS/ });
});

test('scheduled time is read in milliseconds', (t) => {
  t.is(parseScheduled('2500000 17 3\n'), 2.5);
  t.throws(() => parseScheduled('2500000'), { message: /three numbers: 2500000/ });
  t.is(parseWaited('17 2500000 3\n'), 2.5);
  t.throws(() => parseWaited('2500000'), { message: /three numbers: 2500000/ });
});

test('the numbers of this process agree with what Node says of them', (t) => {
  const { user, system } = process.cpuUsage();
  // The kernel counts in ticks, and some time passes between the two looks.
  t.true(Math.abs(cpuTime('self').self - (user + system) / 1000) < 200);
  t.true(Math.abs(scheduledTime(process.pid) - (user + system) / 1000) < 200);
  t.true(Math.abs(memory('self').resident - process.memoryUsage.rss() / 1024 / 1024) < 32);
});
