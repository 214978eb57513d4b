import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Two containers. */
export const WEB = 'a'.repeat(64);
export const DB = 'b'.repeat(64);

/** One process as procfs shows it. */
export interface ShownProcess {
  readonly cgroup: string;
  readonly io?: string;
  /** Its mount namespace, such as `mnt:[2]`, and what it sees there. */
  readonly namespace?: string;
  readonly mountinfo?: string;
  /** What each descriptor is a link to, and the mount that it says it lies on. */
  readonly descriptors?: Readonly<Record<string, { readonly to: string; readonly mount: number }>>;
}

/** Lays out a procfs of these processes, with our own among them. */
export function procOf(
  directory: string,
  own: ShownProcess,
  processes: Readonly<Record<string, ShownProcess>>,
): string {
  const proc = join(directory, 'proc');
  for (const [pid, shown] of [...Object.entries(processes), ['self', own] as const]) show(join(proc, pid), shown);
  writeFileSync(join(proc, 'meminfo'), '');
  return proc;
}

function show(at: string, { cgroup, io, namespace = 'mnt:[1]', mountinfo = '', descriptors = {} }: ShownProcess): void {
  mkdirSync(join(at, 'ns'), { recursive: true });
  mkdirSync(join(at, 'fd'));
  mkdirSync(join(at, 'fdinfo'));
  symlinkSync(namespace, join(at, 'ns/mnt'));
  writeFileSync(join(at, 'cgroup'), cgroup);
  writeFileSync(join(at, 'mountinfo'), mountinfo);
  if (io !== undefined) writeFileSync(join(at, 'io'), io);
  for (const [descriptor, { to, mount }] of Object.entries(descriptors)) {
    symlinkSync(to, join(at, 'fd', descriptor));
    writeFileSync(join(at, 'fdinfo', descriptor), `pos:\t0\nflags:\t0100001\nmnt_id:\t${mount}\nino:\t12\n`);
  }
}
