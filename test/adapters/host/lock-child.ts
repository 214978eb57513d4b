/** Takes the lock for the path that is given, says what came of it, and ends of itself unless it was told to hold on. */
import { acquireInstanceLock } from '../../../src/adapters/host/instance-lock.js';

const [path = '', hold] = process.argv.slice(2);
const lock = await acquireInstanceLock(path, { pid: process.pid, startedAt: '2026-01-01T00:00:00Z', version: '1.2.3' });
process.stdout.write(`${JSON.stringify(lock)}\n`);
if (hold === 'hold') setInterval(() => undefined, 1_000_000);
