import type { MountsPort } from '../ports/mounts.js';
import { PortError } from '../ports/port-error.js';
import type { RuntimePort } from '../ports/runtime.js';
import { bytes } from '../units/units.js';
import type { MarkSpace } from './image-mark-pass.js';
import { lookWithFallback } from './look-with-fallback.js';

/**
 * Space on the filesystem of images as the disk has it, asked anew. Rejects when the runtime does not say where that is, or it
 * cannot be read.
 */
export async function imageSpace(
  runtime: Pick<RuntimePort, 'imageFsInfo'>,
  mounts: MountsPort,
  signal: AbortSignal,
): Promise<MarkSpace> {
  const path = (await runtime.imageFsInfo(signal)).imageFilesystems[0]?.mountpoint ?? null;
  if (path === null)
    throw new PortError('Cannot tell how full the images are as the runtime must name their filesystem: none');
  const { look, used } = await lookWithFallback(mounts, path, true);
  if (look.kind !== 'reading')
    throw new PortError(`Cannot tell how full the images are as it must be readable: ${used}`);
  if (look.readOnly) throw new PortError(`Cannot free anything as the filesystem must not be read-only: ${used}`);
  return { available: bytes(look.available), capacity: look.capacity, inodeCounts: look.inodes };
}
