/** The program of the worker thread that walks and removes trees, one job after the other. */
import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort } from 'node:worker_threads';
import type { FilesJob, FilesRequest, FilesResponse } from './files-protocol.js';
import { isLocal, mountOf, mountPointsBelow, parseMountTable } from './mount-table.js';
import { readOwnMountInfo } from './mount-table-reader.js';
import { removeLogs, removeTree } from './remove-tree.js';
import { treeUsage } from './tree-usage.js';

function perform(id: number, job: FilesJob, isStopped: () => boolean): FilesResponse {
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
      if (path === null) return { id, kind: 'usage', usage: null };
      const { until } = job;
      const isOver = () => isStopped() || (until !== null && process.hrtime.bigint() > until);
      const usage = treeUsage(path, new Set(mountPointsBelow(table, path)), job.maxEntries, isOver);
      return { id, kind: 'usage', usage };
    }
    case 'remove': {
      refuseForeign(job.root);
      const path = realParent(`${job.root}/${job.name}`, refuseForeign);
      if (path === null) return { id, kind: 'removed' };
      // Before the first removal, so that a tree with somebody's volume in it stays whole.
      const inside =
        table.mounts.find(({ mountPoint }) => mountPoint === path)?.mountPoint ?? mountPointsBelow(table, path)[0];
      if (inside !== undefined) throw new Error(`Cannot remove ${path} as nothing may be mounted in it: ${inside}`);
      removeTree(dirname(path), job.name);
      return { id, kind: 'removed' };
    }
    case 'logs': {
      refuseForeign(job.root);
      const root = realParent(`${job.root}/x`, refuseForeign);
      if (root !== null) removeLogs(dirname(root), job.path);
      return { id, kind: 'removed' };
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

parentPort?.on('message', ({ id, job, stop }: FilesRequest) => {
  const flag = new Int32Array(stop);
  const isStopped = () => Atomics.load(flag, 0) !== 0;
  let response: FilesResponse;
  try {
    response = perform(id, job, isStopped);
  } catch (error) {
    response = { id, kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
  parentPort?.postMessage(response);
});
