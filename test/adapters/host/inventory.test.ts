import test from 'ava';
import { hostInventory, type SystemInformation } from '../../../src/adapters/host/inventory.js';
import { milliseconds } from '../../../src/units/units.js';

const never = () => new Promise<never>(() => undefined);
/** A host whose tools all fail in their own way: no df, no lsblk, no meminfo, no ps. */
const BLIND = {
  fsSize: async () => [],
  blockDevices: async () => {
    throw new Error('spawn EAGAIN');
  },
  mem: async () => ({ total: 0, available: 0 }),
  processes: async () => ({ all: 0, running: 0, blocked: 0, list: [] }),
  // Only the fields that are read.
} as unknown as SystemInformation;

test('an answer that shows nothing is a failure and not an empty host', async (t) => {
  const inventory = await hostInventory(milliseconds(1_000), async () => BLIND);
  t.like(inventory, { mounts: null, devices: null, memory: null, processes: null });
  t.is(inventory.problems.length, 4);
  t.regex(inventory.problems.join('\n'), /mounts: .*none[\s\S]*EAGAIN/);
});

test('tools that do not come back are cut off, and the others are told', async (t) => {
  const system = {
    ...BLIND,
    fsSize: never,
    mem: async () => ({ total: 10, available: 4 }),
  } as unknown as SystemInformation;
  const { mounts, memory, problems } = await hostInventory(milliseconds(20), async () => system);
  t.is(mounts, null);
  t.like(memory, { total: 10, available: 4 });
  t.true(problems.some((problem) => /^mounts: .*20 ms/.test(problem)));
});

test('a library that cannot be loaded is a problem of every part', async (t) => {
  const load = () => Promise.reject(new Error('no such module'));
  t.is((await hostInventory(milliseconds(1_000), load)).problems.length, 4);
});

test('this machine has memory and processes', async (t) => {
  const { memory, processes } = await hostInventory();
  t.true(memory !== null && memory.total > memory.available);
  t.true(processes !== null && processes.all > 1);
});
