import type { Result } from './results.js';
import { IMAGE_KIB, SCENARIOS, type Scenario, SOFT_GRACE_MS } from './scenario.js';

/** From the crossing (or the end of the grace) to the first action. */
export const FIRST_ACTION_S = 0.5;
/** In all, of one run. */
export const FULL_S = 2;
/** Relief of reclaimd against that of the kubelet's profile on the same disk. */
export const RELIEF_SHARE = 0.3;

/** The marks that one run under `reclaimd` misses, each as a sentence; none for a run of the kubelet's profile. */
export function missedMarks(result: Result): readonly string[] {
  if (result.profile !== 'reclaimd') return [];
  const { verdict } = result;
  const scenario = SCENARIOS.find(({ title }) => title === result.scenario);
  const grace = scenario?.line === 'soft' ? SOFT_GRACE_MS / 1_000 : 0;
  const missed: string[] = [];
  if (verdict.innocents.length > 0) missed.push(`innocent evicted: ${verdict.innocents.join(', ')}`);
  if (verdict.needlessEvictions > 0) missed.push(`needless evictions: ${verdict.needlessEvictions}`);
  if (verdict.firstAction === null) missed.push('no action at all');
  else if (verdict.firstAction - grace > FIRST_ACTION_S) {
    missed.push(`first action ${(verdict.firstAction - grace).toFixed(2)} s late`);
  }
  if (verdict.imagesDeleted > verdict.imagesNeeded + 1) {
    missed.push(`${verdict.imagesDeleted} images deleted where ${verdict.imagesNeeded} were needed`);
  }
  if (scenario !== undefined && verdict.surplus > surplusAllowed(scenario)) {
    missed.push(`${verdict.surplus} bytes or inodes deleted beyond the need`);
  }
  if (verdict.secondsFull > FULL_S) missed.push(`${verdict.secondsFull.toFixed(1)} s full`);
  if (!verdict.recovered) missed.push('not recovered');
  return missed;
}

/** One image, where images are what is deleted and nobody had to go; and what a look may lie apart from the next. */
function surplusAllowed({ images, dead, evictions, resource }: Scenario): number {
  if (images === 'none' || dead !== null || evictions > 0 || resource === 'inodes') return Number.POSITIVE_INFINITY;
  return 2 * IMAGE_KIB * 1_024 + (1 << 20);
}

/** Relief under both profiles on one stage, and its share; medians in seconds. */
export interface ReliefShare {
  readonly scenario: string;
  readonly stage: string;
  readonly kubelet: number;
  readonly reclaimd: number;
  readonly share: number;
}

/** Where both profiles have results; a run without relief counts as endless. Soft lines are left out: most of it is grace. */
export function reliefShares(results: readonly Result[]): readonly ReliefShare[] {
  const stages = [...new Set(results.map(stageOf))].sort();
  return SCENARIOS.filter(({ line }) => line === 'hard').flatMap(({ title }) =>
    stages.flatMap((stage) => {
      const [kubelet, reclaimd] = (['kubelet', 'reclaimd'] as const).map((profile) =>
        median(
          results
            .filter((each) => each.scenario === title && each.profile === profile && stageOf(each) === stage)
            .map(({ verdict }) => verdict.relief ?? Number.POSITIVE_INFINITY),
        ),
      );
      if (kubelet === undefined || reclaimd === undefined) return [];
      const share = kubelet === Number.POSITIVE_INFINITY ? 0 : reclaimd / kubelet;
      return [{ scenario: title, stage, kubelet, reclaimd, share }];
    }),
  );
}

/** Runtime and filesystem as one text. */
export function stageOf({ runtime, filesystem }: Pick<Result, 'runtime' | 'filesystem'>): string {
  return `containerd ${runtime} on ${filesystem}`;
}

/** The middle value, or the upper of the two; undefined of nothing. */
export function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
