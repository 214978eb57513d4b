import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';

/** The names of the directories under a path; empty when it does not exist or is none. Rejects when it cannot be read. */
export async function directoriesIn(path: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.filter((each) => each.isDirectory()).map((each) => each.name);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

/** Whether we may change what lies in a directory; `missing` when there is none. */
export async function mayWrite(path: string): Promise<'yes' | 'no' | 'missing'> {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return 'yes';
  } catch (error) {
    return isAbsent(error) ? 'missing' : 'no';
  }
}

function isAbsent(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
