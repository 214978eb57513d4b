import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

/** Something of the machine that a test needs: what it is, and whether it is there. */
export type Need = readonly [name: string, there: () => boolean];

export const ROOT: Need = ['the rights of root', () => process.getuid?.() === 0];
export const FUSE: Need = ['/dev/fuse', () => existsSync('/dev/fuse')];
export const program = (name: string): Need => [`the program ${name}`, () => succeeds('which', name)];
/** Being root is not enough in a container without CAP_SYS_ADMIN. */
export const MOUNTING: Need = [
  'the right to mount',
  () => {
    const directory = mkdtempSync(join(tmpdir(), 'reclaimd-probe-'));
    const mounted = succeeds('mount', '-t', 'tmpfs', '-o', 'size=64k', 'probe', directory);
    if (mounted) run('umount', directory);
    rmSync(directory, { recursive: true });
    return mounted;
  },
];

/**
 * Whether a test against the real machine can run here. When it cannot, the reason is logged; where `RECLAIMD_REQUIRE_REAL=1`
 * says that it has to, it fails instead.
 */
export function canRun(t: ExecutionContext, ...needs: readonly Need[]): boolean {
  const missing = needs.find(([, there]) => !there());
  if (missing === undefined) return true;
  const reason = `not run, as it needs ${missing[0]}`;
  t.log(reason);
  if (process.env['RECLAIMD_REQUIRE_REAL'] === '1') t.fail(reason);
  else t.pass();
  return false;
}

/** A directory of its own for a test, removed at its end. */
export function scratch(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'reclaimd-test-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Runs a program to its end; what it prints, or an Error with what it complained of. */
export function run(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr || error?.message}`);
  return stdout;
}

/** Whether a program that runs to its end is content. */
export function succeeds(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Keeps the process going for a test that waits for things that do not. */
export function stayAwake(t: ExecutionContext): void {
  const ticks = setInterval(() => undefined, 1_000_000);
  t.teardown(() => clearInterval(ticks));
}

/** Asks until it is so. The test's own timeout is the limit. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resume) => setTimeout(resume, 5));
}
