import type { RemovalSubject } from '../eviction/event.js';
import type { Bytes, Instant } from '../units/units.js';
import { whyContainerStays, whySandboxStays } from './container-stay.js';
import type { ImageTimes } from './image-collection.js';
import { freedInOrder, type ImageContent, type Measure, sharesOf } from './image-content.js';
import type { ImageUse } from './image-use.js';
import { imageLabel, type PlannedContainer, type PlannedSandbox } from './inventory.js';
import type { JudgedImage } from './plan-images.js';
import type { PlanEntry } from './removal-plan.js';

/** What a container holds. Null = unknown. */
export interface ContainerFacts {
  /** As the runtime counts it. */
  readonly claimed: Bytes | null;
  /** Its writable layer, in the unit that is planned in. */
  readonly layer: number | null;
  /** Its log with all that was rotated from it. */
  readonly logs: number | null;
  readonly finishedAt: Instant | null;
}

/** Which of a container's parts lie on the disk that is planned for. */
export interface PartsHere {
  readonly layers: boolean;
  readonly logs: boolean;
}

const NO_LAYERS = { ownLayers: null, sharedLayers: null } as const;
const NOTHING_KNOWN: ContainerFacts = { claimed: null, layer: null, logs: null, finishedAt: null };

/** The containers: those that go in order, then all others. */
export function containerEntries(
  subjects: readonly RemovalSubject[],
  containers: readonly PlannedContainer[],
  facts: ReadonlyMap<string, ContainerFacts>,
  rules: Parameters<typeof whyContainerStays>[1] & { readonly here: PartsHere },
): readonly PlanEntry[] {
  const byId = new Map(containers.map((each) => [each.id, each]));
  const going = new Set(subjects.map((each) => each.id));
  const entryOf = (
    container: PlannedContainer | undefined,
    entry: Pick<PlanEntry, 'id' | 'label' | 'goes' | 'why'>,
  ) => {
    const known = facts.get(entry.id) ?? NOTHING_KNOWN;
    const unique = heldHere(known, rules.here);
    return {
      what: 'container',
      ...entry,
      inUse: container?.state === 'running',
      claimed: known.claimed,
      unique,
      frees: entry.goes ? unique : null,
      ...NO_LAYERS,
      firstSeen: container?.createdAt ?? null,
      lastUsed: known.finishedAt,
    } as const;
  };
  return [
    ...subjects.map(({ id, label, reason }) => entryOf(byId.get(id), { id, label, goes: true, why: reason })),
    ...containers
      .filter((each) => !going.has(each.id))
      .map((each) =>
        entryOf(each, { id: each.id, label: labelOf(each), goes: false, why: whyContainerStays(each, rules) }),
      ),
  ];
}

/** The sandboxes: those that go in order, then all others. What one takes on the disk nobody says. */
export function sandboxEntries(
  subjects: readonly RemovalSubject[],
  sandboxes: readonly PlannedSandbox[],
  staying: readonly Pick<PlannedContainer, 'sandboxId'>[],
  rules: Pick<Parameters<typeof whyContainerStays>[1], 'ownerScope'>,
): readonly PlanEntry[] {
  const byId = new Map(sandboxes.map((each) => [each.id, each]));
  const going = new Set(subjects.map((each) => each.id));
  const used = new Set(staying.map((each) => each.sandboxId));
  const rest = { claimed: null, unique: null, frees: null, ...NO_LAYERS, lastUsed: null } as const;
  return [
    ...subjects.map(({ id, label, reason }): PlanEntry => {
      const firstSeen = byId.get(id)?.createdAt ?? null;
      return { what: 'sandbox', id, label, goes: true, why: reason, inUse: false, firstSeen, ...rest };
    }),
    ...sandboxes
      .filter((each) => !going.has(each.id))
      .map((each): PlanEntry => {
        const isUsed = used.has(each.id);
        return {
          what: 'sandbox',
          id: each.id,
          label: `${each.pod.namespace}/${each.pod.name}`,
          goes: false,
          why: whySandboxStays(each, isUsed, rules.ownerScope),
          inUse: isUsed || each.state === 'ready',
          firstSeen: each.createdAt,
          ...rest,
        };
      }),
  ];
}

/** The log directories of nobody. */
export function logEntries(
  judged: readonly {
    readonly name: string;
    readonly path: string;
    readonly goes: boolean;
    readonly why: string;
    readonly bytes: Bytes | null;
    readonly inodes: number | null;
    readonly changedAt: Instant | null;
  }[],
  measure: Measure,
): readonly PlanEntry[] {
  return judged.map(({ name, path, goes, why, bytes: claimed, inodes, changedAt }) => {
    const held = measure === 'bytes' ? claimed : inodes;
    return {
      what: 'pod-logs',
      id: path,
      label: name,
      goes,
      why,
      inUse: false,
      claimed,
      unique: held,
      frees: goes ? held : null,
      ...NO_LAYERS,
      firstSeen: null,
      lastUsed: changedAt,
    };
  });
}

/** The images: those that go in order, then all others. `content` null = nobody says what they share. */
export function imageEntries(
  judged: readonly JudgedImage[],
  use: ImageUse,
  history: Pick<ReadonlyMap<string, ImageTimes>, 'get'>,
  content: ImageContent | null,
  measure: Measure,
): readonly PlanEntry[] {
  const shares = content === null ? new Map<string, never>() : sharesOf(content, measure);
  const going = judged.flatMap(({ item, verdict }) => (verdict.kind === 'goes' ? [item.id] : []));
  const freed = new Map(
    content === null ? [] : freedInOrder(going, content, measure).map((each, index) => [going[index], each]),
  );
  return judged.map(({ item, verdict }): PlanEntry => {
    const share = shares.get(item.id) ?? null;
    const times = history.get(item.id);
    return {
      what: 'image',
      id: item.id,
      label: imageLabel(item),
      goes: verdict.kind === 'goes',
      why: verdict.why,
      inUse: use.users.has(item.id),
      claimed: item.size,
      unique: share?.unique ?? null,
      frees: freed.get(item.id) ?? null,
      ownLayers: share?.own ?? null,
      sharedLayers: share?.shared ?? null,
      firstSeen: times?.firstDetected ?? null,
      lastUsed: times?.lastUsed ?? null,
    };
  });
}

/** Null as soon as a part that lies here is unknown. */
function heldHere({ layer, logs }: ContainerFacts, here: PartsHere): number | null {
  const parts = [...(here.layers ? [layer] : []), ...(here.logs ? [logs] : [])];
  return parts.reduce((total: number | null, each) => (total === null || each === null ? null : total + each), 0);
}

function labelOf({ name, pod }: PlannedContainer): string {
  return pod === null ? name : `${pod.namespace}/${pod.name}/${name}`;
}
