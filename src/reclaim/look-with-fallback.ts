import type { MountsPort, PathLook } from '../ports/mounts.js';

/** A path that the runtime reports may not exist yet, or no longer: its nearest existing parent lies on the same disk. */
export async function lookWithFallback(
  mounts: MountsPort,
  path: string,
  mayFallBack: boolean,
): Promise<{ look: PathLook; used: string }> {
  let used = path;
  for (;;) {
    const look = await mounts.look(used);
    const parent = used.slice(0, used.lastIndexOf('/')) || '/';
    if (look.kind !== 'missing' || !mayFallBack || used === '/' || parent === used) return { look, used };
    used = parent;
  }
}
