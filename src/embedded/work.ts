import { join } from 'node:path';
import { ANNOTATIONS } from './options.js';
import type { Work } from './process.js';
import { parseProgram } from './program.js';
import { type ContainerRecord, layerOf } from './records.js';
import type { SmallDisk } from './small-disk.js';
import type { RuntimeState } from './state.js';

/** Where the program's file lies when only `layer` or `empty-dir` was said. */
const WRITER_FILE = 'written-by-embedded';
/** The path that stands for the container's own log. */
const LOG = 'log';

/** What a container runs: the writer that its annotations ask for, else its command, else that of its image. */
export function workOf(container: ContainerRecord): Work {
  const { annotations, command, args } = container.config;
  const byteRate = positive(annotations[ANNOTATIONS.writeBytesPerSecond]);
  const fileRate = positive(annotations[ANNOTATIONS.writeFilesPerSecond]);
  if (byteRate === null && fileRate === null) {
    return {
      kind: 'steps',
      steps: parseProgram(command.length > 0 ? [...command, ...args] : [...container.command, ...args]),
    };
  }
  const path = writePath(container);
  return {
    kind: 'writer',
    order: {
      path,
      format: byteRate === null ? 'files' : path === LOG ? 'log' : 'raw',
      perSecond: byteRate ?? fileRate,
      limit: positive(annotations[ANNOTATIONS.writeLimitBytes]),
      onFull: 'stubborn',
    },
    onTerm: annotations[ANNOTATIONS.onTerm] === 'ignore' ? 'ignore' : 'exit',
  };
}

/** Finds where a path of the container really lies: its log, a mount from outside, or its writable layer. */
export function locator(
  state: RuntimeState,
  container: ContainerRecord,
): (path: string) => { path: string; disk: SmallDisk | null } {
  const diskOf = (path: string): SmallDisk | null =>
    state.disks.all.find((disk) => path === disk.path || path.startsWith(`${disk.path}/`)) ?? null;
  return (path) => {
    if (path === LOG) return { path: container.logPath, disk: diskOf(container.logPath) };
    // The deepest mount wins, as in a real mount table.
    const mount = container.config.mounts
      .filter(
        ({ containerPath, image }) =>
          image === undefined && (path === containerPath || path.startsWith(`${containerPath}/`)),
      )
      .sort((one, other) => other.containerPath.length - one.containerPath.length)[0];
    if (mount !== undefined) {
      const outside = join(mount.hostPath, path.slice(mount.containerPath.length));
      return { path: outside, disk: diskOf(outside) };
    }
    const inside = join(layerOf(container.directory ?? state.disks.container.path), join('/', path));
    return { path: inside, disk: state.disks.container };
  };
}

function writePath(container: ContainerRecord): string {
  const target = container.config.annotations[ANNOTATIONS.writeTo] ?? 'layer';
  switch (target) {
    case 'layer':
      return `/${WRITER_FILE}`;
    case 'empty-dir':
      return join(container.config.mounts[0]?.containerPath ?? '/', WRITER_FILE);
    case 'log':
      return LOG;
    default:
      return target;
  }
}

function positive(text: string | undefined): number | null {
  const value = Number(text);
  return text !== undefined && value > 0 ? value : null;
}
