import * as v from 'valibot';
import { loadSettings } from '../../../src/config/load.js';
import type { PathLook } from '../../../src/eviction/path-look.js';
import { NOTHING_FAILED, reportRun } from '../../../src/gc/periodic-report.js';
import type { DockerEraContainer } from '../../../src/gc/plan-docker-era.js';
import type { RuntimeFilesystem } from '../../../src/ports/runtime.js';
import { AdmissionGuard } from '../../../src/reclaim/admission-guard.js';
import { collectDockerEra, deleteDockerEraContainer } from '../../../src/reclaim/docker-era-gc.js';
import { type FilesystemStatistics, imageFsStatistics } from '../../../src/reclaim/image-fs-stats.js';
import { bytes, count, instant, milliseconds } from '../../../src/units/units.js';
import { CASE, compare, compareAsSets, compareExpected, type Difference, type PlayFiles, playFile } from '../case.js';
import { refusal } from '../fakes/image-runtime.js';
import { told } from '../fakes/run-events.js';
import { StillClock } from '../fakes/still-clock.js';

const TEXTS = v.array(v.string());
const AMOUNT = v.nullable(v.number());

const REPORTS = v.strictObject({
  ...CASE,
  collector: v.picklist(['container', 'image']),
  results: v.array(v.picklist(['ok', 'fail'])),
  expect: v.strictObject({ log: TEXTS, events: v.array(v.nullable(v.string())) }),
});

async function playReports({ collector, results, expect }: v.InferOutput<typeof REPORTS>) {
  let memory = NOTHING_FAILED;
  const reports = results.map((result) => {
    const report = reportRun(memory, collector, result === 'fail');
    memory = report.memory;
    return report;
  });
  return compare('expect', expect, {
    log: reports.map((each) => each.log),
    events: reports.map((each) => each.event),
  });
}

const STATISTICS = v.strictObject({
  timeNs: v.string(),
  availableBytes: AMOUNT,
  capacityBytes: AMOUNT,
  inodesFree: AMOUNT,
  inodes: AMOUNT,
  usedBytes: AMOUNT,
  inodesUsed: AMOUNT,
});
const IMAGE_FS = v.strictObject({
  ...CASE,
  imageFilesystems: v.array(
    v.strictObject({
      timestampNs: v.string(),
      mountpoint: v.nullable(v.string()),
      usedBytes: AMOUNT,
      inodesUsed: AMOUNT,
    }),
  ),
  localMounts: v.record(
    v.string(),
    v.strictObject({
      availableBytes: v.number(),
      capacityBytes: v.number(),
      inodesFree: v.number(),
      inodes: v.number(),
      device: v.string(),
    }),
  ),
  localError: v.optional(v.picklist(['no-such-device', 'other'])),
  expect: v.strictObject({
    error: v.boolean(),
    imageFs: v.optional(STATISTICS),
    containerFs: v.optional(STATISTICS),
  }),
});

async function playImageFs(each: v.InferOutput<typeof IMAGE_FS>): Promise<readonly Difference[]> {
  const imageFilesystems: readonly RuntimeFilesystem[] = each.imageFilesystems.map((entry) => ({
    mountpoint: entry.mountpoint,
    usedBytes: entry.usedBytes === null ? null : bytes(entry.usedBytes),
    inodesUsed: entry.inodesUsed === null ? null : count(entry.inodesUsed),
    at: instant(Number(BigInt(entry.timestampNs) / 1_000_000n)),
  }));
  const look = async (path: string): Promise<PathLook> => {
    const mount = each.localMounts[path];
    if (mount === undefined) {
      const at = instant(0);
      return each.localError === 'other'
        ? { kind: 'error', path, message: 'the case has it fail', at }
        : { kind: 'missing', path, at };
    }
    return {
      kind: 'reading',
      device: mount.device,
      available: bytes(mount.availableBytes),
      capacity: bytes(mount.capacityBytes),
      inodes: { free: count(mount.inodesFree), total: count(mount.inodes) },
      readOnly: false,
      at: instant(0),
    };
  };
  try {
    const runtime = { imageFsInfo: async () => ({ imageFilesystems, containerFilesystems: [] }) };
    const { imageFs, containerFs } = await imageFsStatistics(runtime, { look });
    return compare('expect', each.expect, {
      error: false,
      imageFs: statisticsOf(imageFs),
      containerFs: statisticsOf(containerFs),
    });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return compare('expect', each.expect, { error: true });
  }
}

function statisticsOf(statistics: FilesystemStatistics): v.InferOutput<typeof STATISTICS> {
  return {
    timeNs: `${BigInt(statistics.at ?? 0) * 1_000_000n}`,
    availableBytes: statistics.available,
    capacityBytes: statistics.capacity,
    inodesFree: statistics.inodesFree,
    inodes: statistics.inodes,
    usedBytes: statistics.used,
    inodesUsed: statistics.inodesUsed,
  };
}

const DOCKER_ERA = v.strictObject({
  ...CASE,
  op: v.picklist(['collect', 'deleteOne']),
  nowMs: v.number(),
  policy: v.nullable(
    v.strictObject({ minAgeMs: v.number(), maxPerPodContainer: v.number(), maxContainers: v.number() }),
  ),
  knownPods: TEXTS,
  allSourcesReady: v.boolean(),
  containers: v.array(
    v.strictObject({
      id: v.string(),
      podUid: v.nullable(v.string()),
      containerName: v.nullable(v.string()),
      running: v.boolean(),
      createdAtMs: v.number(),
      identified: v.boolean(),
    }),
  ),
  target: v.optional(v.string()),
  expect: v.strictObject({
    error: v.boolean(),
    removedIds: TEXTS,
    removedCount: v.optional(v.number()),
    networkTeardownIds: v.optional(TEXTS),
  }),
});

async function playDockerEra(each: v.InferOutput<typeof DOCKER_ERA>): Promise<readonly Difference[]> {
  const clock = new StillClock();
  clock.time = instant(each.nowMs);
  const removed: string[] = [];
  const tornDown: string[] = [];
  const runtime = {
    list: async (): Promise<readonly DockerEraContainer[]> =>
      each.containers.map(({ id, podUid, containerName, running, createdAtMs, identified }) => ({
        id,
        podUid: podUid ?? '',
        name: containerName ?? '',
        running,
        createdAt: instant(createdAtMs),
        identified,
      })),
    remove: async (id: string) => {
      removed.push(id);
      return { kind: 'removed' } as const;
    },
    tearDownNetwork: async (id: string) => {
      tornDown.push(id);
    },
  };
  const { policy, target, op } = each;
  let error = false;
  if (op === 'deleteOne') {
    if (target === undefined) throw new Error('Cannot delete one container as the case must name it');
    error = await deleteDockerEraContainer(runtime, target).then(
      () => false,
      () => true,
    );
  } else {
    if (policy === null) throw new Error('Cannot collect as the case must have a policy');
    const limit = (value: number) => (value < 0 ? null : value);
    const pods = { allSourcesReady: each.allSourcesReady, isKnown: (uid: string) => each.knownPods.includes(uid) };
    const limits = {
      minAge: milliseconds(policy.minAgeMs),
      maxPerPodContainer: limit(policy.maxPerPodContainer),
      maxContainers: limit(policy.maxContainers),
    };
    await told(collectDockerEra({ runtime, clock, limits, pods }));
  }
  const { removedIds, ...rest } = each.expect;
  const seen = { error, removedCount: removed.length, networkTeardownIds: tornDown };
  return [...compareAsSets('expect.removedIds', removedIds, removed), ...compareExpected('expect', rest, seen)];
}

const SPACE = v.nullable(
  v.strictObject({ usageBytes: v.number(), capacityBytes: v.number(), availableBytes: v.number() }),
);
const QUERIED = v.strictObject({
  available: v.boolean(),
  error: v.boolean(),
  errorKind: v.optional(v.string()),
  statisticsCalls: v.optional(v.number()),
});
const DISK = v.strictObject({
  ...CASE,
  policy: v.strictObject({ runtimeFreeMB: v.number(), rootFreeMB: v.number() }),
  runtimeFs: v.optional(SPACE),
  rootFs: v.optional(SPACE),
  fsErrors: v.optional(v.array(v.picklist(['runtime', 'root'])), []),
  steps: v.array(
    v.union([
      v.strictObject({ create: v.literal(true), expect: v.strictObject({ error: v.boolean() }) }),
      v.strictObject({ query: v.picklist(['runtime', 'root']), expect: QUERIED }),
    ]),
  ),
});

async function playDisk(each: v.InferOutput<typeof DISK>): Promise<readonly Difference[]> {
  let calls = 0;
  const make = () =>
    new AdmissionGuard({
      clock: new StillClock(),
      reserve: { runtimeFreeMegabytes: each.policy.runtimeFreeMB, rootFreeMegabytes: each.policy.rootFreeMB },
      transition: milliseconds(5 * 60_000),
      async statistics(filesystem) {
        calls += 1;
        const space = filesystem === 'runtime' ? each.runtimeFs : each.rootFs;
        if (each.fsErrors.includes(filesystem) || !space) throw refusal('statistics');
        return { capacity: space.capacityBytes, available: space.availableBytes };
      },
    });
  const differences: Difference[] = [];
  let guard: AdmissionGuard | null = null;
  for (const [index, step] of each.steps.entries()) {
    const path = `steps[${index}].expect`;
    if ('create' in step) {
      const error = isRefused(make);
      differences.push(...compareExpected(path, step.expect, { error }));
      continue;
    }
    guard ??= make();
    const answer = await guard.query(step.query);
    differences.push(
      ...compareExpected(path, step.expect, {
        available: answer.kind !== 'no-room',
        error: answer.kind === 'doubt',
        errorKind: answer.kind === 'doubt' ? answer.why : null,
        statisticsCalls: calls,
      }),
    );
  }
  return differences;
}

function isRefused(make: () => unknown): boolean {
  try {
    make();
    return false;
  } catch (error) {
    if (error instanceof RangeError) return true;
    throw error;
  }
}

/** The setting and the words of the rule that stand for each error of the vectors. */
const VALIDATION: Readonly<Record<string, readonly [path: string, rule: RegExp]>> = {
  'imageGCLowThresholdPercent-not-below-high': ['imageGCLowThresholdPercent', /below the high mark/],
  'feature-gate-locked': ['featureGates.ImageMaximumGCAge', /locked/],
  'imageMaximumGCAge-negative': ['imageMaximumGCAge', /negative/],
  'imageMinimumGCAge-negative': ['imageMinimumGCAge', /negative/],
  'imageMaximumGCAge-not-above-minimum': ['imageMaximumGCAge', /longer/],
  'containerLogMaxWorkers-below-1': ['containerLogMaxWorkers', /at least 1/],
  'containerLogMonitorInterval-below-3s': ['containerLogMonitorInterval', /at least 3s/],
  'containerLogMaxFiles-below-2': ['containerLogMaxFiles', /at least 2/],
};
const KEYS = {
  imageGCHighThresholdPercent: v.number(),
  imageGCLowThresholdPercent: v.number(),
  imageMinimumGCAgeNs: v.number(),
  imageMaximumGCAgeNs: v.number(),
  containerLogMaxWorkers: v.number(),
  containerLogMonitorIntervalMs: v.number(),
  containerLogMaxFiles: v.number(),
  featureGates: v.strictObject({ ImageMaximumGCAge: v.boolean() }),
};
const BASE = v.strictObject(KEYS);
const CONFIG = v.strictObject({
  ...CASE,
  overrides: v.partial(BASE),
  expect: v.strictObject({ valid: v.boolean(), errorKind: v.nullable(v.string()) }),
});

async function playConfig(
  { overrides, expect }: v.InferOutput<typeof CONFIG>,
  { base }: { readonly base: v.InferOutput<typeof BASE> },
): Promise<readonly Difference[]> {
  const keys = Object.entries({ ...base, ...overrides }).map(([key, value]) => {
    if (typeof value !== 'number') return [key, value];
    if (key.endsWith('Ns')) return [key.slice(0, -2), `${value}ns`];
    return key.endsWith('Ms') ? [key.slice(0, -2), `${value}ms`] : [key, value];
  });
  const text = JSON.stringify(Object.fromEntries(keys)); // JSON is YAML
  const result = loadSettings({
    kubeletConfig: { path: 'kubelet.yaml', text },
    flags: [{ name: '--profile', value: 'kubelet' }],
  });
  const kinds = result.problems.flatMap((problem) =>
    Object.entries(VALIDATION).flatMap(([kind, [path, rule]]) =>
      problem.path === path && rule.test(problem.rule) ? [kind] : [],
    ),
  );
  const errorKind =
    expect.errorKind !== null && kinds.includes(expect.errorKind) ? expect.errorKind : (kinds[0] ?? null);
  return compare('expect', expect, { valid: result.kind === 'loaded', errorKind });
}

/** Settings, statistics, reports, and what the kubelet was before CRI and eviction. */
export const FILES: PlayFiles = {
  'gc-periodic-reporting-derived': playFile(REPORTS, playReports, {}),
  'gc-image-fs-stats': playFile(IMAGE_FS, playImageFs, {}),
  'gc-docker-era-containers': playFile(DOCKER_ERA, playDockerEra, {}),
  'gc-disk-space-manager': playFile(DISK, playDisk, {}),
  'gc-config-validation': playFile(CONFIG, playConfig, { base: BASE }),
};
