import { statfsSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type DaemonUnderTest, type LogLine, startDaemon } from '../e2e/daemon.js';
import { noLongerRunning } from '../e2e/scene.js';
import { type LabContainerd, startContainerd } from '../lab/containerd.js';
import { listImageTags } from '../lab/pods.js';
import { deedsOf, timeOf } from './deeds.js';
import { crossingOf, judge, type Verdict } from './judge.js';
import { BYSTANDERS, go, pressTo, runBystander, runDead, runWriter, WRITER } from './pods.js';
import { type PreparedDisks, unusedImages } from './prepared.js';
import { type Sampler, startSampler } from './sampler.js';
import {
  diskFor,
  IMAGE_FILES,
  IMAGE_KIB,
  LINE_PERCENT,
  MIB,
  type Profile,
  type Scenario,
  SOFT_GRACE_MS,
  type Stage,
} from './scenario.js';

/** One run of one scenario. */
export interface Play extends Stage {
  readonly scenario: Scenario;
  readonly profile: Profile;
}

/** Longest time from the crossing on; what has not recovered by then counts as never. */
const LONGEST_MS = 60_000;
/** Longest time until the crossing. */
const CROSSING_MS = 60_000;
/** How long nothing must have happened: for the profile that ticks, more than a tick. */
const CALM_MS = { kubelet: 12_000, reclaimd: 8_000 } as const;
/** A run begins at any phase of the pause between two looks, which is a tick, or short this close to the line. */
const PHASE_MS = { kubelet: 10_000, reclaimd: 1_000 } as const;
/** XFS keeps some blocks to itself: its full is not zero. */
const FULL = MIB / 4;
/** An image's layer lies on the disk as a blob and unpacked, but has inodes only unpacked; two are its folder and its blob. */
const IMAGE_SIZE = { bytes: 2 * IMAGE_KIB * 1_024, inodes: IMAGE_FILES + 2 } as const;

/** Plays one run on a disk and a runtime of its own and judges it. Keeps the daemon's log and the looks in `evidenceFile`. */
export async function play(run: Play, disks: PreparedDisks, evidenceFile: string): Promise<Verdict> {
  const lab = await startLab(run, disks);
  try {
    return await playIn(lab, run, evidenceFile);
  } finally {
    await lab.close();
  }
}

async function startLab({ scenario, runtime, filesystem }: Play, disks: PreparedDisks): Promise<LabContainerd> {
  const prepared = await disks.diskFor(scenario, { runtime, filesystem });
  // The runtime's own default: its numbers of writable layers are up to ten seconds old.
  const common = { generation: runtime, statsPeriodSeconds: 10 };
  return scenario.disks === 'one'
    ? startContainerd({ ...common, ...prepared })
    : startContainerd({ ...common, ...diskFor(scenario, filesystem), imageDisk: prepared });
}

async function playIn(lab: LabContainerd, run: Play, evidenceFile: string): Promise<Verdict> {
  const { scenario } = run;
  const line = lineOf(lab, scenario);
  const containers = new Map<string, string>();
  for (const [name, mib] of BYSTANDERS) containers.set(name, await runBystander(lab, name, mib));
  if (scenario.dead !== null) await runDead(lab, scenario.dead.count, scenario.dead.mib);
  if (!scenario.writer.isYoung) containers.set(WRITER, await runWriter(lab, scenario));
  pressTo(lab, scenario, line);
  const sampler = await startSampler(lab.diskPath, scenario.resource);
  try {
    const daemon = await startDaemon(lab, settingsFor(run));
    const begunAt = await begin(lab, run, daemon, containers);
    await settle(sampler, daemon, run, begunAt, line);
    await daemon.terminate();
    const tags = await listImageTags(lab);
    const ended = await noLongerRunning(lab, [...containers.values()]);
    const evidence = {
      samples: sampler.samples,
      begunAt,
      line,
      target: line,
      full: scenario.resource === 'bytes' ? FULL : 0,
      deeds: deedsOf(daemon.lines),
      imageSize: IMAGE_SIZE[scenario.resource],
      imagesDeleted: unusedImages(scenario).filter((name) => !tags.includes(name)).length,
      evictionsNeeded: scenario.evictions,
      writer: WRITER,
      podsEnded: [...containers].filter(([, id]) => ended.includes(id)).map(([name]) => name),
    };
    const verdict = judge(evidence);
    const { samples, ...rest } = evidence;
    writeFileSync(
      evidenceFile,
      `${JSON.stringify({ verdict, ...rest, samples: samples.map(({ at, available }) => [at, available]) })}\n${daemon.output()}\n`,
    );
    if (verdict === null) throw new Error(`Cannot judge the run as the line was never crossed: ${evidenceFile}`);
    return verdict;
  } finally {
    await sampler.stop();
  }
}

/** Waits for the daemon's first look and a random phase, and lets the writer go; resolves to when. */
async function begin(
  lab: LabContainerd,
  { scenario, profile }: Play,
  daemon: DaemonUnderTest,
  containers: Map<string, string>,
): Promise<number> {
  await daemon.event('observed');
  // All images must be old where they are to be.
  await delay((scenario.minimumImageAge === '1s' ? 1_100 : 0) + Math.random() * PHASE_MS[profile]);
  const begunAt = Date.now();
  go(lab);
  if (scenario.writer.isYoung) containers.set(WRITER, await runWriter(lab, scenario));
  return begunAt;
}

/** Resolves when the outcome is settled: back above the line and calm, or the time is up. */
async function settle(
  { samples }: Sampler,
  { lines }: DaemonUnderTest,
  { profile }: Play,
  begunAt: number,
  line: number,
): Promise<void> {
  for (;;) {
    await delay(200);
    const now = Date.now();
    const crossedAt = crossingOf(samples, line, begunAt);
    if (now > (crossedAt ?? begunAt) + (crossedAt === null ? CROSSING_MS : LONGEST_MS)) return;
    if (crossedAt === null) continue;
    const lastBelow = samples.findLast(({ available }) => available < line)?.at ?? crossedAt;
    const lastNews = lines.findLast(isNews);
    const since = Math.max(lastBelow, lastNews === undefined ? 0 : timeOf(lastNews));
    if (now > since + CALM_MS[profile]) return;
  }
}

/** Whether a line says that something was done; looks alone are no news. */
function isNews({ event }: LogLine): boolean {
  return typeof event === 'string' && NEWS.has(event);
}

const NEWS: ReadonlySet<string> = new Set(['removed', 'eviction-decided', 'pod-killed', 'eviction-measured']);

function lineOf(lab: LabContainerd, { resource }: Scenario): number {
  const { blocks, bsize, files } = statfsSync(lab.diskPath);
  return Math.ceil(((resource === 'bytes' ? blocks * bsize : files) * LINE_PERCENT) / 100);
}

function settingsFor({ scenario, profile }: Play): Parameters<typeof startDaemon>[1] {
  const signals =
    scenario.resource === 'bytes'
      ? ['nodefs.available', 'imagefs.available']
      : ['nodefs.inodesFree', 'imagefs.inodesFree'];
  const lines = Object.fromEntries(signals.map((signal) => [signal, `${LINE_PERCENT}%`]));
  const soft = {
    evictionSoft: lines,
    evictionSoftGracePeriod: Object.fromEntries(signals.map((signal) => [signal, `${SOFT_GRACE_MS / 1_000}s`])),
  };
  return {
    evictionHard: scenario.line === 'hard' ? lines : {},
    settings: {
      profile,
      evictionPressureTransitionPeriod: '30s',
      imageMinimumGCAge: scenario.minimumImageAge,
      ...(scenario.line === 'soft' ? soft : {}),
    },
  };
}
