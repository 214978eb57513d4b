import type { GcEvent, GcSubject, ImagePass } from '../gc/gc-event.js';
import {
  type CollectionRecord,
  type CollectionRecords,
  type EarlierImages,
  type ImageCandidate,
  type ImageFsSpace,
  type ImageRules,
  idOf,
  imageCandidates,
  imageKey,
  type KeysInUse,
  passedOver,
  recordDetection,
  spaceDemand,
  tooOld,
  withEarlier,
} from '../gc/image-collection.js';
import { imageKeysInUse } from '../gc/image-keys-in-use.js';
import type { ImageUse } from '../gc/image-use.js';
import { imageLabel } from '../gc/inventory.js';
import type { Clock } from '../ports/clock.js';
import type { ContainerRecord, ImageRecord, RuntimePort } from '../ports/runtime.js';
import { groupBy } from '../units/group-by.js';
import { bytes, elapsed, type Instant } from '../units/units.js';
import type { Arrivals } from './arrivals.js';
import type { BackOff } from './back-off.js';
import { availableIn, type MarkDeps, type MarkSpace, markPass, marksOf } from './image-mark-pass.js';
import { firstSeenIn, type ImageProtector, keptByRules } from './image-protector.js';
import type {
  CandidateList,
  CollectResult,
  Detection,
  FailedListing,
  ImageCollectionError,
  ImageFailure,
  Listed,
  PassResult,
} from './image-run.js';
import type { ClaimsOnImages, UsersBeside } from './image-users.js';
import type { ImageVolumes, MountedImages } from './image-volumes.js';
import type { RememberedImages } from './remembered-images.js';
import { messageOf, staysListed, toError } from './removal.js';
import type { ReturnedImages } from './returned-images.js';

/** What image collection needs from the world. */
export interface ImageCollectorDeps {
  readonly runtime: Pick<RuntimePort, 'listImages' | 'listContainers'>;
  /** CRI takes the id alone, so a runtime cannot tell two handlers of one id apart. */
  readonly removeImage: (image: Pick<ImageRecord, 'id' | 'runtimeHandler'>, signal: AbortSignal) => Promise<void>;
  /** The profile decides what a container that cannot be asked means. */
  readonly volumes: ImageVolumes;
  readonly clock: Clock;
  readonly rules: ImageRules;
  /** Rules of the operator, who keeps images whatever the kubelet would do; absent = none. */
  readonly protector?: ImageProtector;
  /** What is left alone for having failed; absent = nothing is. */
  readonly backOff?: BackOff;
  /** What is kept for having come back soon after its removal; absent = nothing is. */
  readonly returned?: ReturnedImages;
  /** Who else uses images, asked in each detection of a profile that goes by names; absent = nobody. See `claimsBeside`. */
  readonly claims?: ClaimsOnImages;
  /** Users beside those that the kubelet's look at exact ids finds; none unless given. */
  readonly alsoInUse?: UsersBeside;
  /**
   * Whether a periodic run looks at the disk after each removal and stops there: what a runtime lists is about half of what an
   * image takes, and more would go than the low mark asks for. Else the listed sizes count, as in the kubelet.
   */
  readonly measuresFreed?: boolean;
  /** Where a periodic run goes by what the disk says, in bytes and inodes, and not by listed sizes; absent = in the kubelet profile. */
  readonly marks?: MarkDeps;
  /**
   * Hears, after each space pass that could remove what it wanted, the ids that the pass looked at and kept. Not the images
   * that are left on the node: those in use, pinned, or never reached are not among them.
   */
  readonly afterSpacePass?: (kept: readonly string[], freeTime: Instant) => void;
  /** Hears of each image that was removed, by whatever run. */
  readonly afterRemoval?: () => void;
  /** What outlives the process; absent = nothing does. */
  readonly remembered?: RememberedImages;
  /** When images came, where nothing is remembered of them; absent = nobody tells. */
  readonly arrivals?: Arrivals;
}

/**
 * Collects images as the kubelet does: records of when each was seen and used, candidates least recently used first, a pass by
 * age and a pass for space. What it has seen lives as long as it does. Mirrors `realImageGCManager`, but for one thing: just
 * before an image is removed its users are listed anew, since a runtime removes one that a new container runs on.
 */
export class ImageCollector {
  readonly #deps: ImageCollectorDeps;
  #records = new Map<string, CollectionRecord>();

  constructor(deps: ImageCollectorDeps) {
    this.#deps = deps;
  }

  /** What is remembered, by record key. */
  get records(): CollectionRecords {
    return this.#records;
  }

  /** Looks what is there and in use. After a failure all records are as before. */
  async detect(detectTime: Instant, signal: AbortSignal): Promise<Listed<Detection>> {
    const { runtime, volumes } = this.#deps;
    const images = await runtime.listImages(signal).catch(toError);
    if (images instanceof Error) return failed('list-images', 'list images', images);
    const containers = await runtime.listContainers(signal).catch(toError);
    if (containers instanceof Error) return failed('list-containers', 'list containers', containers);
    const mounted = await volumes.of(containers, signal).catch(toError);
    if (mounted instanceof Error) return failed('container-status', 'tell which images are mounted', mounted);
    const claimed = (await this.#deps.claims?.of(images, containers, mounted, signal).catch(toError)) ?? null;
    if (claimed instanceof Error) return failed('list-containers', 'tell who else uses images', claimed);
    return { kind: 'listed', list: this.learn(images, containers, mounted, detectTime, claimed) };
  }

  /** A detection from lists that somebody else has made, who may know already which images are in use by name. */
  learn(
    images: readonly ImageRecord[],
    containers: readonly ContainerRecord[],
    mounted: MountedImages,
    detectTime: Instant,
    byName: ImageUse['users'] | null = null,
  ): Detection {
    const { clock, rules, remembered } = this.#deps;
    const inUse = this.#keysInUse(images, containers, mounted, byName);
    const times = { detectTime, now: clock.now() };
    const before = remembered?.takeRestored() ? withEarlier(this.#records, this.#earlier) : this.#records;
    this.#records = recordDetection(before, images, inUse, times, rules.runtimeHandlerAware, this.#earlier);
    remembered?.saw(this.#records, inUse);
    return { images, containers, inUse };
  }

  /** A detection, and what may go by it, in order. Tells record keys that name no image. */
  async *listCandidates(freeTime: Instant, signal: AbortSignal): AsyncGenerator<GcEvent, Listed<CandidateList>> {
    const detected = await this.detect(freeTime, signal);
    if (detected.kind === 'failed') return detected;
    const { rules, protector, claims, clock } = this.#deps;
    const { candidates, keysWithoutId } = imageCandidates(
      this.#records,
      detected.list.inUse,
      rules.runtimeHandlerAware,
    );
    for (const key of keysWithoutId) {
      const message = `Cannot collect an image as its record must name an id: "${key}"`;
      yield { kind: 'node-event', at: clock.now(), reason: 'InvalidImageID', message };
    }
    const { images } = detected.list;
    for (const each of claims?.newlyUnresolved() ?? []) {
      yield { kind: 'image-reference-unresolved', at: clock.now(), ...each };
    }
    for (const { id, image, why } of this.newlyReturned(images)) {
      yield { kind: 'image-came-back', at: clock.now(), id, image, why };
    }
    const kept = yield* keptByRules(protector, images, firstSeenIn(this.#records), clock.now(), signal);
    return {
      kind: 'listed',
      list: {
        ...detected.list,
        candidates: candidates.filter(
          (each) => !kept.has(each.id) && this.restReason(each, each.record.firstDetected) === null,
        ),
        keptByRules: candidates.filter((each) => kept.has(each.id)),
        // Of two entries of one id the first gives the name.
        labels: new Map(images.toReversed().map((each) => [each.id, imageLabel(each)])),
      },
    };
  }

  /** Removes what was not used for longer than the maximum age. Answers with the candidates that are left. */
  async *agePass(
    list: CandidateList,
    times: { readonly freeTime: Instant; readonly gcBegan: Instant },
    signal: AbortSignal,
  ): AsyncGenerator<GcEvent, Listed<CandidateList>> {
    const going = new Set(tooOld(list.candidates, this.#deps.rules, times));
    const failures: string[] = [];
    const left: ImageCandidate[] = [];
    for (const candidate of list.candidates) {
      if (signal.aborted) return { kind: 'failed', error: ABORTED };
      const removal = going.has(candidate) ? yield* this.#remove(candidate, list, 'age', signal) : null;
      if (removal !== 'removed') left.push(candidate);
      if (removal instanceof Error) failures.push(messageOf(removal));
    }
    if (failures.length > 0 && this.#deps.marks === undefined) {
      const message = `Cannot remove ${failures.length} images that are too old: ${failures.join('; ')}`;
      return { kind: 'failed', error: { kind: 'age-removal-failed', message, cause: null } };
    }
    return { kind: 'listed', list: { ...list, candidates: left } };
  }

  /**
   * Removes candidates in order until `wanted` bytes are freed; infinity = all that may go. The target is asked after each
   * removal, so one image goes whatever it is. `measure` says how much is freed by now; null, or none = claimed sizes count.
   */
  async *spacePass(
    list: CandidateList,
    wanted: number,
    freeTime: Instant,
    signal: AbortSignal,
    measure: ((signal: AbortSignal) => Promise<number | null>) | null = null,
  ): AsyncGenerator<GcEvent, PassResult> {
    const failures: Error[] = [];
    const kept: string[] = [];
    let freed = 0;
    for (const candidate of list.candidates) {
      if (signal.aborted) return { error: ABORTED, freed: bytes(freed), kept: [] };
      if (passedOver(candidate, freeTime, this.#deps.rules.minAge) !== null) {
        kept.push(candidate.id);
        continue;
      }
      const removal = yield* this.#remove(candidate, list, 'space', signal);
      if (removal !== 'removed') kept.push(candidate.id);
      if (removal instanceof Error) failures.push(removal);
      if (removal !== 'removed') continue;
      freed = (await measure?.(signal)) ?? freed + candidate.record.size;
      if (freed >= wanted) break;
    }
    const [first] = failures;
    if (first === undefined) return { error: null, freed: bytes(freed), kept };
    const target = Number.isFinite(wanted) ? `${wanted} bytes` : 'all unused images';
    const said = failures.map(messageOf).join('; ');
    const message = `Cannot remove ${failures.length} images (wanted ${target}, freed ${freed} bytes): ${said}`;
    return { error: { kind: 'space-removal-failed', message, cause: first }, freed: bytes(freed), kept: [] };
  }

  /** A periodic run: by age, then for space where the high mark is reached. `gcBegan` is when periodic runs began. */
  async *collect(
    gcBegan: Instant,
    imageFs: (signal: AbortSignal) => Promise<ImageFsSpace>,
    signal: AbortSignal,
  ): AsyncGenerator<GcEvent, CollectResult> {
    const { clock, rules, measuresFreed = false } = this.#deps;
    const freeTime = clock.now();
    const ended = (error: ImageCollectionError | null): CollectResult => ({ ...NOTHING_FREED, error });
    const listed = yield* this.listCandidates(freeTime, signal);
    if (listed.kind === 'failed') return ended(listed.error);
    const left = yield* this.agePass(listed.list, { freeTime, gcBegan }, signal);
    if (left.kind === 'failed') return ended(left.error);
    const space = await imageFs(signal).catch(toError);
    if (space instanceof Error) return ended(failed('image-fs', 'tell how full the image filesystem is', space).error);
    const { marks } = this.#deps;
    if (marks !== undefined) return yield* this.#byMarks(marks, left.list, listed.list, space, imageFs, signal);
    const demand = spaceDemand(space, rules);
    if (demand.kind === 'below-mark') return ended(null);
    if (demand.kind === 'capacity-zero') {
      const message = 'Cannot tell how full the image filesystem is as its capacity must be more than 0: 0';
      yield { kind: 'node-event', at: clock.now(), reason: 'InvalidDiskCapacity', message };
      return ended({ kind: 'capacity-zero', message, cause: null });
    }
    const { usagePercent, bytesToFree } = demand;
    const before = space.available ?? 0;
    // What others write meanwhile counts against it: the mark is one of the disk.
    const measure = async (each: AbortSignal) => {
      const now = await imageFs(each).catch(toError);
      return now instanceof Error || now.available === null ? null : Math.max(0, now.available - before);
    };
    const pass = yield* this.spacePass(left.list, bytesToFree, freeTime, signal, measuresFreed ? measure : null);
    const result = { usagePercent, bytesToFree, freed: pass.freed };
    if (pass.error !== null) return { ...result, error: pass.error };
    this.#deps.afterSpacePass?.(pass.kept, freeTime);
    if (pass.freed >= bytesToFree) return { ...result, error: null };
    const held = this.#deps.protector?.newlyHeld(
      left.list.keptByRules?.map(({ record }) => record) ?? [],
      true,
      clock.now(),
    );
    if (held !== null && held !== undefined) yield { kind: 'protected-images-hold-space', at: clock.now(), ...held };
    const message =
      `Cannot bring the image filesystem below its mark as unused images gave ${pass.freed} of ${bytesToFree} bytes: ` +
      `${usagePercent} % of ${space.capacity ?? 0} bytes are used, by something else than images that may go`;
    yield { kind: 'node-event', at: clock.now(), reason: 'FreeDiskSpaceFailed', message };
    return { ...result, error: { kind: 'not-enough-freed', message, cause: null } };
  }

  /** The space part of a run that measures: until the low marks are reached, in bytes and inodes. */
  async *#byMarks(
    deps: MarkDeps,
    list: CandidateList,
    before: CandidateList,
    space: ImageFsSpace,
    imageFs: (signal: AbortSignal) => Promise<ImageFsSpace>,
    signal: AbortSignal,
  ): AsyncGenerator<GcEvent, CollectResult> {
    const { clock, rules, protector } = this.#deps;
    const { capacity } = space;
    const now = clock.now();
    // No capacity is no reading: a pass that watches says so when it lasts.
    if (capacity === null || capacity === 0) return NOTHING_DONE;
    const { available } = space;
    const isAbove = available !== null && available > capacity;
    const key = `AVAILABLE_ABOVE_CAPACITY ${deps.imageDisk()} bytes`;
    if (!isAbove) deps.notices.ends(key);
    else if (deps.notices.begins(key)) {
      const warning = { code: 'AVAILABLE_ABOVE_CAPACITY', filesystem: 'imagefs', available, capacity } as const;
      yield { kind: 'warning', at: now, warning };
    }
    const marks = marksOf(spaceWithInodes(space), rules);
    if (marks.length === 0) return NOTHING_DONE;
    const result = yield* markPass({
      candidates: list.candidates.filter((each) => passedOver(each, now, rules.minAge) === null),
      marks,
      clock,
      deps,
      available: availableIn(spaceWithInodes(space)),
      removalsBefore: before.candidates.length - list.candidates.length,
      images: list.images.length,
      inUse: list.images.filter((each) => list.inUse.has(this.keyOf(each))).length,
      space: () => imageFs(signal).then(spaceWithInodes, () => null),
      remove: (candidate) => this.#remove(candidate, list, 'space', signal),
    });
    const kept = list.keptByRules?.map(({ record }) => record) ?? [];
    const held = protector?.newlyHeld(kept, !result.isReached, clock.now()) ?? null;
    if (held !== null) yield { kind: 'protected-images-hold-space', at: clock.now(), ...held };
    const [mark] = marks;
    return {
      error: null,
      usagePercent: null,
      bytesToFree: mark?.unit === 'bytes' ? mark.target - mark.before : null,
      freed: bytes(result.freed),
    };
  }

  /** Removes all unused images that are old enough, whatever the disk says. Mirrors `DeleteUnusedImages`. */
  async *deleteUnused(signal: AbortSignal): AsyncGenerator<GcEvent, PassResult> {
    const freeTime = this.#deps.clock.now();
    const listed = yield* this.listCandidates(freeTime, signal);
    if (listed.kind === 'failed') return { error: listed.error, freed: bytes(0), kept: [] };
    const pass = yield* this.spacePass(listed.list, Number.POSITIVE_INFINITY, freeTime, signal);
    if (pass.error === null) this.#deps.afterSpacePass?.(pass.kept, freeTime);
    return pass;
  }

  async *#remove(
    candidate: ImageCandidate,
    list: CandidateList,
    countedAs: ImagePass,
    signal: AbortSignal,
  ): AsyncGenerator<GcEvent, 'removed' | 'spared' | Error> {
    const { clock, removeImage } = this.#deps;
    const subject = subjectOf(candidate, list.labels, countedAs);
    const began = clock.now();
    const users = await this.usersSince(list, signal).catch(toError);
    const user = users instanceof Error ? users : users(candidate.key);
    if (typeof user === 'string') {
      yield { kind: 'spared', at: clock.now(), subject, why: user };
      return 'spared';
    }
    const image = { id: candidate.id, runtimeHandler: candidate.record.runtimeHandler };
    const error = user instanceof Error ? user : await removeImage(image, signal).then(() => null, toError);
    const took = elapsed(began, clock.now());
    if (error !== null) {
      const still = staysListed(error) ? { isStillListed: true as const } : {};
      yield { kind: 'not-collected', at: clock.now(), subject, message: messageOf(error), took, countedAs, ...still };
      return error;
    }
    this.#forgetKey(candidate.key);
    this.#deps.afterRemoval?.();
    yield { kind: 'collected', at: clock.now(), subject, took, countedAs };
    return 'removed';
  }

  /** Asks which containers have come since a detection: answers with why an image is now in use, by record key. */
  async usersSince(list: Detection, signal: AbortSignal): Promise<(key: string) => string | null> {
    const { runtime, volumes } = this.#deps;
    const known = new Set(list.containers.map((each) => each.id));
    const listed = await runtime.listContainers(signal);
    const containers = listed.filter((each) => !known.has(each.id));
    const mounted = containers.length === 0 ? [] : await volumes.of(containers, signal, listed);
    const byContainer = groupBy(mounted, (volume) => volume.container);
    const users = containers.map((each) => {
      return { id: each.id, keys: this.#keysInUse(list.images, [each], byContainer.get(each.id) ?? []) };
    });
    return (key) => {
      const user = users.find((each) => each.keys.has(key));
      return user === undefined ? null : `used by container ${user.id.slice(0, 13)}`;
    };
  }

  #keysInUse(
    images: readonly ImageRecord[],
    containers: readonly ContainerRecord[],
    mounted: MountedImages,
    byName: ImageUse['users'] | null = null,
  ): KeysInUse {
    const { rules, alsoInUse } = this.#deps;
    const takesNames = alsoInUse?.byName === true && !rules.runtimeHandlerAware;
    if (takesNames) return byName ?? alsoInUse.of(images, containers, mounted);
    const keys = imageKeysInUse(images, containers, mounted, rules.runtimeHandlerAware);
    const also = alsoInUse?.of(images, containers, mounted);
    if (also === undefined || also.size === 0) return keys;
    return new Set([...keys, ...images.filter(({ id }) => also.has(id)).map((each) => this.keyOf(each))]);
  }

  /** The key under which an image is remembered. */
  keyOf(image: Pick<ImageRecord, 'id' | 'runtimeHandler'>): string {
    return imageKey(image.id, image.runtimeHandler, this.#deps.rules.runtimeHandlerAware);
  }

  readonly #earlier: EarlierImages = (key) => this.#deps.remembered?.earlier(key) ?? this.#deps.arrivals?.earlier(key);

  /** Forgets an image that has been removed, under all its handlers; pulled again it is a new one. */
  forgetImage(id: string): void {
    const { rules } = this.#deps;
    const keys = rules.runtimeHandlerAware ? [...this.#records.keys()].filter((key) => idOf(key, true) === id) : [id];
    for (const key of keys) this.#forgetKey(key);
    this.#deps.afterRemoval?.();
  }

  #forgetKey(key: string): void {
    const { rules, remembered, returned } = this.#deps;
    this.#records.delete(key);
    remembered?.removed(key);
    returned?.removed(idOf(key, rules.runtimeHandlerAware));
  }

  /** Images that are kept from now on for having come back soon after their removal, each told once. */
  newlyReturned(
    images: readonly ImageRecord[],
  ): readonly { readonly id: string; readonly image: string; readonly why: string }[] {
    const { returned } = this.#deps;
    const seen = images.map((each) => ({
      id: each.id,
      image: imageLabel(each),
      firstSeen: this.#records.get(this.keyOf(each))?.firstDetected ?? null,
    }));
    return (returned?.newly(seen) ?? []).map((each) => ({
      id: each.id,
      image: each.image,
      why: returned?.reason(each) ?? '',
    }));
  }

  /** Why an image is left alone for its own past: a removal that failed, or one after which it came back; null = it is not. */
  restReason(image: Pick<ImageRecord, 'id'>, firstSeen: Instant | null): string | null {
    const { backOff, returned } = this.#deps;
    return backOff?.reason(image.id) ?? returned?.reason({ id: image.id, firstSeen }) ?? null;
  }

  /** Tells the follower of space passes what one that somebody else has carried out has looked at and kept. */
  tellKept(kept: readonly string[], freeTime: Instant): void {
    this.#deps.afterSpacePass?.(kept, freeTime);
  }
}

const NOTHING_DONE: CollectResult = { error: null, usagePercent: null, bytesToFree: null, freed: bytes(0) };

function spaceWithInodes(space: ImageFsSpace): MarkSpace {
  return { ...space, inodeCounts: space.inodeCounts ?? null };
}

const NOTHING_FREED = { usagePercent: null, bytesToFree: null, freed: bytes(0) } as const;
const ABORTED: ImageCollectionError = { kind: 'aborted', message: 'Image collection was ended', cause: null };
const REASONS: Readonly<Record<ImagePass, string>> = {
  age: 'not used for longer than the maximum age',
  space: 'unused, for space',
};

function subjectOf({ id, key, record }: ImageCandidate, labels: CandidateList['labels'], pass: ImagePass): GcSubject {
  return { what: 'image', id, label: labels.get(id) ?? key, reason: REASONS[pass], claimed: record.size };
}

function failed(kind: ImageFailure, what: string, cause: Error): FailedListing {
  return { kind: 'failed', error: { kind, message: `Cannot ${what}: ${messageOf(cause)}`, cause } };
}
