import { normalize } from 'node:path';
import type { FilesPort, TreeUsage } from '../../ports/files.js';
import { PortError } from '../../ports/port-error.js';
import { bytes, count } from '../../units/units.js';
import type { FilesAnswer, FilesJob } from './files-protocol.js';
import { jobThread } from './job-thread.js';

/** The real `FilesPort`. Dispose ends its thread; jobs under way are rejected. */
export interface HostFiles extends FilesPort, AsyncDisposable {}

/** Walks and removes trees in one worker thread, which is started by the first job and does not keep the process alive. */
export function hostFiles(): HostFiles {
  const thread = jobThread<FilesJob, FilesAnswer>(new URL('./files-worker.js', import.meta.url), 'walk files');
  return {
    async usage(path, maxEntries, signal, within): Promise<TreeUsage | null> {
      const until = within === undefined ? null : process.hrtime.bigint() + BigInt(Math.round(within * 1e6));
      const answer = await thread.run({ kind: 'usage', path: absolute(path), maxEntries, until }, signal);
      if (answer === null || answer.usage === null) return null;
      const { bytes: size, inodes, complete } = answer.usage;
      return { bytes: bytes(size), inodes: count(inodes), complete };
    },

    async removeTree(root, name) {
      if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) {
        throw new PortError(`Cannot remove a tree as its name must be a plain one: ${JSON.stringify(name)}`);
      }
      await thread.run({ kind: 'remove', root: absolute(root), name });
    },

    async removeLogs(root, logPath) {
      const [top, log] = [absolute(root), absolute(logPath)];
      const prefix = top === '/' ? '/' : `${top}/`;
      if (!log.startsWith(prefix) || log === prefix) {
        throw new PortError(`Cannot remove a log as it must lie under ${top}: ${logPath}`);
      }
      await thread.run({ kind: 'logs', root: top, path: log.slice(prefix.length) });
    },

    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}

function absolute(path: string): string {
  if (!path.startsWith('/') || path.includes('\0')) {
    throw new PortError(`Cannot walk files as the path must be absolute: ${JSON.stringify(path)}`);
  }
  const normal = normalize(path);
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
}
