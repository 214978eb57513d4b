/** Logs many lines to its standard output or to the file that is given, then says on standard error how that went. */
import { logDestination } from '../../../src/adapters/log/destination.js';
import { createLogger } from '../../../src/adapters/log/logger.js';

const [count = '0', path] = process.argv.slice(2);
const target = path === undefined ? { fd: 1 } : { path };
const destination = logDestination({ target, maxWaiting: 64 * 1024, retryMs: 5 });
const logger = await createLogger({ level: 'info', format: 'json', destination });
const before = performance.now();
for (let number = 0; number < Number(count); number += 1) logger.info({ number, pad: 'x'.repeat(100) }, 'line');
process.stderr.write(`${JSON.stringify({ took: performance.now() - before, ...destination.state() })}\n`);
// Stays until it is told to end, so that what waits can be written when the reader wakes up.
process.stdin.on('end', () => process.exit(0)).resume();
