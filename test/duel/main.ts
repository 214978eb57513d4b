import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Generation, missingParts, partsFor } from '../lab/parts.js';
import type { Verdict } from './judge.js';
import { missedMarks, RELIEF_SHARE, reliefShares } from './marks.js';
import { type Play, play } from './play.js';
import { prepareDisks } from './prepared.js';
import { appendResult, type Result, readResults } from './results.js';
import { type Filesystem, type Profile, SCENARIOS } from './scenario.js';
import { renderTable, withTable } from './table.js';

// The duel: plays each scenario under both profiles on real runtimes and judges them side by side. Ends with 1 when `reclaimd`
// misses a mark, with 2 for a wrong call, with 3 when a run could not be judged.

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const USAGE = `Usage: npm run duel [-- OPTIONS]
  --scenario TEXT      only scenarios whose title contains it
  --profile P          kubelet or reclaimd
  --runtime G          1.6 or 2.4
  --fs F               ext4 or xfs
  --runs N             runs of each scenario, profile, runtime and filesystem (default 5); what the results file has already counts
  --parallel N         runs at a time, each on a disk of its own (default 1)
  --results FILE       where results are added (default build/duel-results.jsonl)
  --table              play nothing: write the table of the results into README.md
Scenarios:
${SCENARIOS.map(({ title }) => `  ${title}`).join('\n')}
`;

interface Call {
  readonly scenario: string;
  readonly profiles: readonly Profile[];
  readonly runtimes: readonly Generation[];
  readonly filesystems: readonly Filesystem[];
  readonly runs: number;
  readonly parallel: number;
  readonly results: string;
  readonly table: boolean;
}

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const call = parse(args);
  if (typeof call === 'string') {
    process.stderr.write(`${call}\n${USAGE}`);
    return 2;
  }
  if (call.table) return writeTable(readResults(call.results));
  const missing = missingParts(
    call.runtimes.flatMap((runtime) => call.filesystems.flatMap((each) => partsFor(runtime, each))),
  );
  if (missing.length > 0) {
    process.stderr.write(`Cannot duel as parts are missing: ${missing.join('; ')}\n`);
    return 3;
  }
  const wanted = playsOf(call);
  const unjudged = await playAll(wanted, call);
  const results = readResults(call.results).filter((result) => wanted.some((each) => isOf(result, each)));
  process.stdout.write(`\n${renderTable(results)}\n\n`);
  const missed = results.flatMap((result) => missedMarks(result).map((mark) => `${nameOf(result)}: ${mark}`));
  const slow = reliefShares(results)
    .filter(({ share }) => share > RELIEF_SHARE)
    .map(
      ({ scenario, stage, kubelet, reclaimd }) =>
        `${scenario}, ${stage}: relief after ${reclaimd.toFixed(2)} s, more than ${RELIEF_SHARE} of the kubelet profile's ${kubelet.toFixed(2)} s`,
    );
  for (const mark of [...missed, ...slow]) process.stdout.write(`MISSED ${mark}\n`);
  process.stdout.write(
    `duel: ${results.length} runs, ${missed.length + slow.length} marks missed, ${unjudged} not judged\n`,
  );
  if (missed.length + slow.length > 0) return 1;
  return unjudged > 0 ? 3 : 0;
}

/** Every run of the call, round after round, so that an interrupted duel has something of everything. */
function playsOf({ scenario, profiles, runtimes, filesystems }: Call): readonly Play[] {
  return SCENARIOS.filter(({ title }) => title.includes(scenario)).flatMap((each) =>
    runtimes.flatMap((runtime) =>
      filesystems
        .filter((filesystem) => each.filesystems.includes(filesystem))
        .flatMap((filesystem) => profiles.map((profile) => ({ scenario: each, profile, runtime, filesystem }))),
    ),
  );
}

async function playAll(wanted: readonly Play[], { results, runs, parallel }: Call): Promise<number> {
  const done = readResults(results);
  const queue = Array.from({ length: runs }, (_, round) =>
    wanted.filter((each) => done.filter((result) => isOf(result, each)).length <= round),
  ).flat();
  using disks = prepareDisks();
  const evidenceDirectory = `${results.replace(/\.jsonl$/, '')}-evidence`;
  mkdirSync(evidenceDirectory, { recursive: true });
  let unjudged = 0;
  let begun = 0;
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      begun += 1;
      const at = new Date().toISOString();
      const evidence = join(evidenceDirectory, `${at.replaceAll(':', '')}-${process.pid}-${begun}.log`);
      const { profile, runtime, filesystem } = next;
      const result = { scenario: next.scenario.title, profile, runtime, filesystem, at, evidence };
      const begin = performance.now();
      const outcome = await play(next, disks, evidence).catch((error: unknown) => String(error));
      const took = `${((performance.now() - begin) / 1_000).toFixed(0)} s, ${queue.length} to go`;
      if (typeof outcome === 'string') {
        unjudged += 1;
        process.stdout.write(`NOT JUDGED ${nameOf(result)} (${took}): ${outcome}\n`);
        continue;
      }
      const judged = { ...result, verdict: outcome };
      appendResult(results, judged);
      const missed = missedMarks(judged);
      process.stdout.write(
        `${missed.length === 0 ? 'ok' : 'MISSED'} ${nameOf(judged)} (${took}): ${sentence(outcome)}\n`,
      );
      for (const mark of missed) process.stdout.write(`   ${mark} (${evidence})\n`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return unjudged;
}

function writeTable(results: readonly Result[]): number {
  const file = join(ROOT, 'README.md');
  writeFileSync(file, withTable(readFileSync(file, 'utf8'), renderTable(results)));
  return 0;
}

function isOf(result: Result, { scenario, profile, runtime, filesystem }: Play): boolean {
  return (
    result.scenario === scenario.title &&
    result.profile === profile &&
    result.runtime === runtime &&
    result.filesystem === filesystem
  );
}

function nameOf({
  scenario,
  profile,
  runtime,
  filesystem,
}: Pick<Result, 'scenario' | 'profile' | 'runtime' | 'filesystem'>): string {
  return `[${profile}] ${scenario}, containerd ${runtime} on ${filesystem}`;
}

function sentence(verdict: Verdict): string {
  const time = (value: number | null): string => (value === null ? 'never' : `${value.toFixed(2)} s`);
  return [
    `first ${verdict.firstKind ?? 'action'} ${time(verdict.firstAction)}`,
    `relief ${time(verdict.relief)}`,
    `above for good ${time(verdict.aboveForGood)}`,
    `full ${verdict.secondsFull.toFixed(2)} s`,
    `images ${verdict.imagesDeleted} (${verdict.imagesNeeded})`,
    `evicted ${verdict.evicted.join('+') || 'none'}`,
  ].join(', ');
}

function parse(args: readonly string[]): Call | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        scenario: { type: 'string', default: '' },
        profile: { type: 'string' },
        runtime: { type: 'string' },
        fs: { type: 'string' },
        runs: { type: 'string', default: '5' },
        parallel: { type: 'string', default: '1' },
        results: { type: 'string', default: join(ROOT, 'build/duel-results.jsonl') },
        table: { type: 'boolean', default: false },
      },
    });
    return {
      scenario: values.scenario,
      profiles: oneOf('profile', ['kubelet', 'reclaimd'], values.profile),
      runtimes: oneOf('runtime', ['1.6', '2.4'], values.runtime),
      filesystems: oneOf('fs', ['ext4', 'xfs'], values.fs),
      runs: count('runs', values.runs),
      parallel: count('parallel', values.parallel),
      results: values.results,
      table: values.table,
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function oneOf<Name extends string>(
  option: string,
  names: readonly Name[],
  value: string | undefined,
): readonly Name[] {
  if (value === undefined) return names;
  const found = names.filter((name) => name === value);
  if (found.length === 0) throw new Error(`Cannot take --${option} as it must be one of ${names.join(', ')}: ${value}`);
  return found;
}

function count(option: string, value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`Cannot take --${option} as it must be 1 or more: ${value}`);
  return number;
}
