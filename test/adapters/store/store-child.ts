/**
 * Saves again and again, until it is killed: round after round every key is given the number of the round, in one change. Says on
 * standard output what is on its way. It never saves half a round.
 */
import { fileStore } from '../../../src/adapters/store/file-store.js';

const [path = '', keys = '0'] = process.argv.slice(2);
const store = fileStore({ path, readOnly: false, writeEveryMs: 0 });
await store.load();
for (let round = 1; ; round += 1) {
  const changes = Array.from({ length: Number(keys) }, (_, key) => ({
    shelf: 'images' as const,
    key: `sha256:${key}`,
    value: { round },
  }));
  store.save(changes, 'now');
  if (round % 10 === 0) process.stdout.write(`${round}\n`);
  await new Promise((resolve) => setTimeout(resolve, 1));
}
