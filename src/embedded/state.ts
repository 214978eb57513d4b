import type { Disks } from './disk.js';
import type { BehaviourTraits, Now } from './options.js';
import type { Random } from './random.js';
import type { ContainerRecord, ImageRecord, SandboxRecord } from './records.js';

/** What the parts of the runtime share: what is known, and the world it is known in. */
export interface RuntimeState {
  readonly traits: BehaviourTraits;
  readonly disks: Disks;
  readonly random: Random;
  readonly now: Now;
  readonly sandboxImage: string;
  readonly images: Map<string, ImageRecord>;
  readonly sandboxes: Map<string, SandboxRecord>;
  readonly containers: Map<string, ContainerRecord>;
  /** What a restart on a full disk could not load: not listed, but there, processes and all, until a later restart. */
  readonly lost: { readonly sandboxes: Map<string, SandboxRecord>; readonly containers: Map<string, ContainerRecord> };
}

/** The images that a name, an id or the start of an id leads to: none or one. */
export function findImage(state: RuntimeState, reference: string): ImageRecord | undefined {
  const direct = state.images.get(reference) ?? state.images.get(`sha256:${reference}`);
  if (direct !== undefined) return direct;
  for (const image of state.images.values()) if (image.tags.includes(reference)) return image;
  return undefined;
}
