/** The program of the worker thread that walks and removes trees, one job after the other. */
import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { FilesAnswer, FilesJob } from './files-protocol.js';
import { serveJobs } from './job-loop.js';
import { isLocal, mountOf, mountPointsBelow, parseMountTable } from './mount-table.js';
import { readOwnMountInfo } from './mount-table-reader.js';
import { removeLogs, removeTree } from './remove-tree.js';
import { treeUsage } from './tree-usage.js';

function perform(job: FilesJob, isStopped: () => boolean): FilesAnswer {
  const table = parseMountTable(readOwnMountInfo());
  const refuseForeign = (path: string) => {
    const mount = mountOf(table, path);
    if (mount !== null && isLocal(mount)) return;
    throw new Error(`Cannot walk ${path} as it must be on a local filesystem: ${mount?.type ?? 'unknown'}`);
  };
  switch (job.kind) {
    case 'usage': {
      refuseForeign(job.path);
      const path = realParent(job.path, refuseForeign);
      if (path === null) return { usage: null };
      const { until } = job;
      const isOver = () => isStopped() || (until !== null && process.hrtime.bigint() > until);
      return { usage: treeUsage(path, new Set(mountPointsBelow(table, path)), job.maxEntries, isOver) };
    }
    case 'remove': {
      refuseForeign(job.root);
      const path = realParent(`${job.root}/${job.name}`, refuseForeign);
      if (path === null) return null;
      // Before the first removal, so that a tree with somebody's volume in it stays whole.
      const inside =
        table.mounts.find(({ mountPoint }) => mountPoint === path)?.mountPoint ?? mountPointsBelow(table, path)[0];
      if (inside !== undefined) throw new Error(`Cannot remove ${path} as nothing may be mounted in it: ${inside}`);
      removeTree(dirname(path), job.name);
      return null;
    }
    case 'logs': {
      refuseForeign(job.root);
      const root = realParent(`${job.root}/x`, refuseForeign);
      if (root !== null) removeLogs(dirname(root), job.path);
      return null;
    }
  }
}

/** The path with its parent's symbolic links followed and its own name untouched; null when the parent does not exist. */
function realParent(path: string, check: (path: string) => void): string | null {
  const cut = path.lastIndexOf('/');
  const parent = path.slice(0, cut) || '/';
  try {
    const real = realpathSync.native(parent);
    const whole = `${real === '/' ? '' : real}/${path.slice(cut + 1)}`;
    check(whole);
    return whole;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // undefined for what `check` throws
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

serveJobs(perform);
