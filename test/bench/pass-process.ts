import { decoding } from './decoded-records.js';
import { nodeRecords } from './node-records.js';
import type { PassTimes } from './pass-protocol.js';
import { recordNode } from './record-node.js';

// The program of a fresh process that passes over a node of records; started by rows/pass.ts.

const [containers, images, pods, rounds, warmUp] = process.argv.slice(2).map(Number) as [
  number,
  number,
  number,
  number,
  number,
]; // given by rows/pass.ts
process.send?.(await measure());
process.disconnect();

async function measure(): Promise<PassTimes> {
  const decode = decoding(nodeRecords({ containers, images, pods }));
  const node = recordNode();
  const cpuMs: number[] = [];
  let wouldRemove = 0;
  let wouldEvict: string | null = null;
  for (let round = 0; round < rounds + warmUp; round += 1) {
    const records = decode();
    const before = process.cpuUsage();
    const events = await node.pass(records, () => {
      const { user, system } = process.cpuUsage(before);
      cpuMs.push((user + system) / 1_000);
    });
    wouldRemove = events.filter((event) => event.kind === 'would-remove').length;
    wouldEvict = events.flatMap((event) => (event.kind === 'would-evict' ? [event.standing.label] : []))[0] ?? null;
  }
  return { firstMs: cpuMs[0] ?? 0, cpuMs: cpuMs.slice(warmUp), wouldRemove, wouldEvict };
}
