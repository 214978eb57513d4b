import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';

/** Where a machine keeps the id that it was given when it was installed (machine-id(5)). */
const MACHINE_ID = '/etc/machine-id';

/** Who this machine is. The id is null where it has none; in a container it may be another one than the host's. */
export async function hostIdentity(): Promise<{ readonly hostname: string; readonly machineId: string | null }> {
  const text = await readFile(MACHINE_ID, 'utf8').catch(() => '');
  const machineId = text.trim();
  return { hostname: hostname(), machineId: /^[0-9a-f]{32}$/.test(machineId) ? machineId : null };
}
