import { lstat, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { ChangeTimesPort, LogFilesPort } from '../../ports/log-files.js';
import { PortError } from '../../ports/port-error.js';
import { bytes, instant } from '../../units/units.js';

/** Log files on this machine. */
export function hostLogFiles(): LogFilesPort & ChangeTimesPort {
  return {
    list: (directory) => unlessMissing('list', directory, () => readdir(directory)),
    size: (path) => unlessMissing('look at', path, async () => bytes((await stat(path)).size)),
    changedAt: (path) => unlessMissing('look at', path, async () => instant((await lstat(path)).mtimeMs)),
    rename: (from, to) => telling('rename', from, () => rename(from, to)),
    remove: (path) => telling('remove', path, () => rm(path, { force: true })),
    compress: (source, target) => telling('compress', source, () => compress(source, target)),
  };
}

/** The original goes once this has resolved, so the copy must have reached the disk by then: a full one says so here. */
async function compress(source: string, target: string): Promise<void> {
  await using from = await open(source, 'r');
  const { mode } = await from.stat();
  await using to = await open(target, 'w', mode);
  // The mode given to `open` is cut by the umask, and is not used at all where the file was there already.
  await to.chmod(mode & 0o7777);
  await pipeline(from.createReadStream(), createGzip(), async (compressed: AsyncIterable<Buffer>) => {
    for await (const chunk of compressed) await to.writeFile(chunk);
  });
  await to.sync();
}

async function unlessMissing<T>(what: string, path: string, act: () => Promise<T>): Promise<T | null> {
  try {
    return await act();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new PortError(`Cannot ${what} ${path}`, { cause: error });
  }
}

async function telling(what: string, path: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    throw new PortError(`Cannot ${what} ${path}`, { cause: error });
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
