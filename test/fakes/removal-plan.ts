import type { PlanEntry, RemovalPlan } from '../../src/gc/removal-plan.js';
import { bytes } from '../../src/units/units.js';
import { at } from './builders.js';

type Sizes = Partial<Readonly<Record<'claimed' | 'unique' | 'frees', number | null>>>;

/** An unused image of a plan, of unknown size, with some of it replaced. */
export function entry(id: string, changes: Partial<Omit<PlanEntry, keyof Sizes>> & Sizes = {}): PlanEntry {
  const { claimed = null, unique = null, frees = null, ...rest } = changes;
  return {
    what: 'image',
    id,
    label: `${id}:1`,
    goes: true,
    why: 'unused',
    inUse: false,
    ownLayers: null,
    sharedLayers: null,
    firstSeen: null,
    lastUsed: null,
    ...rest,
    claimed: claimed === null ? null : bytes(claimed),
    unique,
    frees,
  };
}

/** A plan for a disk of 1000 bytes of which 100 are available and 150 wanted. */
export function removalPlan(entries: readonly PlanEntry[], changes: Partial<RemovalPlan> = {}): RemovalPlan {
  return {
    node: { hostname: 'node-1', machineId: '0'.repeat(32) },
    endpoint: 'unix:///run/fake.sock',
    runtime: 'fake 1.0',
    madeAt: at(10_000),
    profile: 'reclaimd',
    signal: 'nodefs.available',
    layout: 'one-disk',
    capacity: 1_000,
    available: 100,
    goals: [{ signal: 'nodefs.available', line: 120, target: 150 }],
    entries,
    ranking: null,
    rankingProblem: null,
    problems: [],
    notes: [],
    ...changes,
  };
}
