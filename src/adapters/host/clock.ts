import { readFileSync } from 'node:fs';
import type { BootTime } from '../../eviction/wall-time.js';
import type { Clock } from '../../ports/clock.js';
import { instant, milliseconds } from '../../units/units.js';

/** The longest delay that setTimeout takes; a longer one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The real clock. Steady time stops while the machine sleeps, as CLOCK_MONOTONIC does. */
export function systemClock(): Clock {
  // Date.now and performance.now are read together once; from then on the wall clock may jump as it likes.
  const offset = Date.now() - performance.now();
  return {
    now: () => instant(offset + performance.now()),
    wall: () => instant(Date.now()),
    boot: bootClock(),
    sleep(duration, signal) {
      if (signal?.aborted === true) return Promise.resolve();
      return new Promise((resolve) => {
        const end = performance.now() + duration;
        let timer: NodeJS.Timeout;
        const wake = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        const wait = () => {
          const left = end - performance.now();
          // Timers may fire up to a millisecond early; `now` must not be short of what was slept for.
          if (left <= 0) wake();
          else timer = setTimeout(wait, Math.min(Math.ceil(left), MAX_DELAY_MS));
        };
        signal?.addEventListener('abort', wake);
        wait();
      });
    },
  };
}

/** The kernel's name for this boot, new with each. */
const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';

/** Null where the kernel does not tell. `hrtime` counts from the boot on Linux, and is the same for all processes. */
function bootClock(): () => BootTime | null {
  let id: string | null = null;
  return () => {
    try {
      id ??= readFileSync(BOOT_ID_FILE, 'latin1').trim();
      return { id, uptime: milliseconds(Number(process.hrtime.bigint()) / 1e6) };
    } catch {
      return null;
    }
  };
}
