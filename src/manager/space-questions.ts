import type { Pressed } from '../eviction/decide.js';
import type { EvictionEvent } from '../eviction/event.js';
import { deviceUnder } from '../eviction/layout.js';
import type { Standing } from '../eviction/rank.js';
import { type FilesystemName, SIGNALS } from '../eviction/signal.js';
import type { Warning } from '../eviction/warning.js';
import type { ContainerUsage, ImageFsInfo } from '../ports/runtime.js';
import { layerUsage } from '../reclaim/layer-usage.js';
import { elapsed, type Instant, milliseconds } from '../units/units.js';
import type { Pass, SpaceAsker, SpaceHolders } from './pass.js';

/** The questions cost lists: while nobody can go they are not asked ten times a second. */
const ASK_EVERY = milliseconds(10_000);
/** Nobody's life depends on the answers: they must not hold up an eviction. */
const LAYERS_WITHIN = milliseconds(1_000);

const CODES = ['NO_EVICTABLE_POD', 'USAGE_NOT_OWNED_BY_PODS', 'USAGE_NOT_EXPLAINED', 'SPACE_UNACCOUNTED'] as const;

/** What the runtime lists, as far as it answered. */
interface Listed {
  readonly images: number;
  readonly layers: ReadonlyMap<string, ContainerUsage>;
  readonly info: ImageFsInfo | null;
}

/**
 * Asks, when pods would have to go, whose the space is: whether those that may go hold it at all, whether files explain it, and
 * whether the runtime's own count does. An eviction that cannot help is seen by a person only if somebody says so.
 */
export class SpaceQuestions implements SpaceAsker {
  #askedAt: Instant | null = null;

  async *ask(pass: Pass, pressed: Pressed, ranking: SpaceHolders): AsyncGenerator<EvictionEvent, void> {
    const { warnings } = pass.deps;
    const { filesystem, unit } = SIGNALS[pressed.threshold.signal];
    const now = pass.now();
    const isTooSoon = pass.deps.isSingle !== true && this.#askedAt !== null && elapsed(this.#askedAt, now) < ASK_EVERY;
    if (warnings === undefined || filesystem === null || isTooSoon) return;
    this.#askedAt = now;
    const listed = unit === 'bytes' ? await listsOf(pass) : null;
    const found = [
      notOwned(pass, pressed, ranking.standings),
      listed === null ? null : notExplained(pass, filesystem, ranking, listed),
      listed === null ? null : await unaccounted(pass, filesystem, listed),
    ];
    const device = deviceUnder(filesystem, pass.layout);
    for (const warning of found) {
      if (warning !== null && warnings.notices.begins(`${warning.code} ${device}`)) {
        yield* pass.tell({ kind: 'warning', at: pass.now(), warning });
      }
    }
  }

  /** Nobody has to go any longer: what is found next is news. */
  over({ deps: { warnings } }: Pass): void {
    this.#askedAt = null;
    for (const code of CODES) warnings?.notices.last(code, []);
  }
}

async function listsOf({ deps: { runtime, clock }, abort }: Pass): Promise<Listed> {
  const [images, layers, info] = await Promise.all([
    runtime.listImages(abort).catch(() => []),
    layerUsage(runtime, clock, LAYERS_WITHIN, abort),
    runtime.imageFsInfo(abort).catch(() => null),
  ]);
  return { images: images.reduce((sum, { size }) => sum + size, 0), layers, info };
}

/** One of whom nobody knows what it holds may hold everything: then nothing can be said. */
function notOwned(pass: Pass, { threshold: { signal } }: Pressed, standings: readonly Standing[]): Warning | null {
  const evictable = standings.filter(({ protectedBy }) => protectedBy === null);
  if (evictable.some(({ usage }) => usage === null)) return null;
  const held = evictable.reduce((sum, { usage }) => sum + (usage ?? 0), 0);
  const missing = pass.missing(signal, pass.state.observations);
  if (held >= missing / 2) return null;
  return { code: 'USAGE_NOT_OWNED_BY_PODS', signal, held, missing, pods: evictable.length };
}

function notExplained(
  pass: Pass,
  filesystem: FilesystemName,
  { standings, pods }: SpaceHolders,
  { images, layers }: Listed,
): Warning | null {
  const seen = pass.state.observations.get(`${filesystem}.available`);
  if (seen === undefined) return null;
  const used = seen.capacity - seen.available;
  const isHere = (other: FilesystemName) => deviceUnder(other, pass.layout) === deviceUnder(filesystem, pass.layout);
  const parts = standings.flatMap((each) => each.parts ?? []);
  const sumOf = (isMeant: (source: string) => boolean) =>
    parts.filter(({ source }) => isMeant(source)).reduce((sum, { amount }) => sum + (amount ?? 0), 0);
  const deletedOpen = sumOf((source) => source === 'deleted-open');
  const ranked = new Set([...pods.values()].flatMap(({ containers }) => containers.map(({ id }) => id)));
  const others = [...layers.values()].filter(({ id }) => !ranked.has(id));
  const files =
    sumOf((source) => source !== 'deleted-open') +
    (isHere('imagefs') ? images : 0) +
    (isHere('containerfs') ? bytesOf(others) : 0);
  if (files >= used / 2) return null;
  return { code: 'USAGE_NOT_EXPLAINED', filesystem, used, unexplained: used - files, deletedOpen };
}

async function unaccounted(
  { deps: { looker }, layout }: Pass,
  filesystem: FilesystemName,
  { images, layers, info }: Listed,
): Promise<Warning | null> {
  if (info === null || deviceUnder('imagefs', layout) !== deviceUnder(filesystem, layout)) return null;
  const [ofImages] = info.imageFilesystems;
  const [ofLayers] = info.containerFilesystems;
  const isApart = ofLayers !== undefined && ofLayers.mountpoint !== ofImages?.mountpoint;
  const reported = (ofImages?.usedBytes ?? 0) + (isApart ? (ofLayers.usedBytes ?? 0) : 0);
  const look = await looker.lookAt('imagefs');
  if (look.kind !== 'reading') return null;
  const used = look.capacity - look.available;
  const listed = images + bytesOf([...layers.values()]);
  if (reported - listed <= used / 2) return null;
  return { code: 'SPACE_UNACCOUNTED', reported, listed, used };
}

function bytesOf(layers: readonly ContainerUsage[]): number {
  return layers.reduce((sum, { writableLayer }) => sum + (writableLayer?.used ?? 0), 0);
}
