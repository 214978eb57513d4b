import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release } from 'node:os';
import { parseArgs } from 'node:util';
import { failures, type Outcome, PartMissing, type Row } from './row.js';
import { ROWS } from './rows.js';
import { digits } from './statistics.js';
import { renderTable } from './table.js';

// The benchmark: `main.js [--quick] [ROW…]`. Runs the rows one after the other, prints all of them in one table whatever
// happens, and ends with 1 when one misses its mark (with --quick: only when one cannot run), with 2 for a wrong call.

const USAGE = `Usage: npm run bench [-- [--quick] [ROW…]]
${ROWS.map(({ name, question }) => `  ${name.padEnd(10)} ${question}`).join('\n')}
  --quick    fewer repetitions; marks are shown, but only a row that cannot run fails
RECLAIMD_REQUIRE_REAL=1: a row that lacks its parts fails
`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const call = parse(args);
  if (typeof call === 'string') {
    process.stderr.write(`${call}\n${USAGE}`);
    return 2;
  }
  const outcomes: Outcome[] = [];
  for (const row of call.rows) outcomes.push(await outcomeOf(row, call.isQuick));
  const failed = failures(outcomes, {
    isQuick: call.isQuick,
    requireReal: process.env['RECLAIMD_REQUIRE_REAL'] === '1',
  });
  process.stdout.write(`\n${machine()}\n\n${renderTable(outcomes)}\n`);
  for (const reason of failed) process.stdout.write(`FAILED ${reason}\n`);
  process.stdout.write(failed.length === 0 ? 'benchmark: ok\n' : `benchmark: ${failed.length} failed\n`);
  return failed.length === 0 ? 0 : 1;
}

function parse(args: readonly string[]): { readonly isQuick: boolean; readonly rows: readonly Row[] } | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { quick: { type: 'boolean', default: false } },
    });
    const unknown = positionals.find((name) => !ROWS.some((row) => row.name === name));
    if (unknown !== undefined) return `Cannot run a row as there is none of this name: ${unknown}`;
    const rows = positionals.length === 0 ? ROWS : ROWS.filter(({ name }) => positionals.includes(name));
    return { isQuick: values.quick, rows };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function outcomeOf(row: Row, isQuick: boolean): Promise<Outcome> {
  const missing = row.missing();
  if (missing.length > 0) return { kind: 'lacks-parts', row, missing };
  try {
    const say = (text: string): void => void process.stderr.write(`${row.name}: ${text}\n`);
    return { kind: 'measured', row, result: await row.run({ isQuick, say }) };
  } catch (error) {
    if (error instanceof PartMissing) return { kind: 'lacks-parts', row, missing: [error.message] };
    process.stderr.write(`${row.name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return { kind: 'broken', row, message: error instanceof Error ? error.message : String(error) };
  }
}

/** What the numbers were measured on; others at work on the same machine show in the load. */
function machine(): string {
  const [minute, fiveMinutes] = loadavg();
  const memory = /MemTotal:\s+(\d+) kB/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? '0';
  return [
    `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'})`,
    `${digits(Number(memory) / 1024 / 1024)} GiB`,
    `Linux ${release()}`,
    `Node ${process.version}`,
    `load ${digits(minute ?? 0)} now, ${digits(fiveMinutes ?? 0)} over 5 min`,
  ].join(', ');
}
