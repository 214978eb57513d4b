/**
 * Looks at the mount that is given, which hangs, and at the root beside it; says what it saw and how it fared as one line of
 * JSON, and ends of itself or by process.exit.
 */
import { systemClock } from '../../../src/adapters/host/clock.js';
import { hostMounts } from '../../../src/adapters/host/mounts.js';
import { milliseconds } from '../../../src/units/units.js';

const [path = '', end] = process.argv.slice(2);
const mounts = hostMounts({ clock: systemClock(), deadline: milliseconds(500) });
let longestStall = 0;
let last = performance.now();
const ticks = setInterval(() => {
  longestStall = Math.max(longestStall, performance.now() - last);
  last = performance.now();
}, 10);
// More looks than libuv has threads, one after the other and together.
const hung = await Promise.all(Array.from({ length: 6 }, () => mounts.look(path)));
const again = await mounts.look(`${path}/below`);
const others = await Promise.all(Array.from({ length: 8 }, () => mounts.look('/')));
clearInterval(ticks);
process.stdout.write(
  `${JSON.stringify({
    hung: [...hung, again].map(({ kind }) => kind),
    others: others.map(({ kind }) => kind),
    longestStall,
    helper: mounts.helperPid(),
  })}\n`,
);
if (end === 'exit') process.exit(0);
