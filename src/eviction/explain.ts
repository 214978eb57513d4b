import type {
  Availability,
  BallastReason,
  EventOf,
  EvictionEvent,
  Goal,
  RemovalKind,
  RemovalSubject,
  StoreTrouble,
} from './event.js';
import { imageNewsText } from './image-text.js';
import { limitText } from './limit-text.js';
import { lineOf } from './line.js';
import { amountText, bytesText, storageMessage } from './message.js';
import type { Standing } from './rank.js';
import { SIGNALS, type Signal } from './signal.js';
import type { Threshold } from './threshold.js';
import { sourcesText } from './usage-text.js';
import { warningText } from './warning.js';

/** One event as a sentence for people. Every text about what happened is written here, once. */
export function explain(event: EvictionEvent): string {
  switch (event.kind) {
    case 'observed':
      return 'looked at the node';
    case 'layout-changed':
      return event.from === null
        ? `filesystem layout: ${event.to}`
        : `the filesystem layout changed from ${event.from} to ${event.to}`;
    case 'layout-unknown':
      return `the filesystem layout cannot be told (${event.message}); ${event.kept === null ? 'none was known before' : `going on with ${event.kept}`}`;
    case 'layout-refused':
      return `the filesystem layout ${event.layout} is not supported while KubeletSeparateDiskGC is off`;
    case 'look-failed':
      return `cannot look at the node: ${event.message}`;
    case 'notifiers-updated':
      return 'told the kernel at which use of memory to wake us';
    case 'notifier-failed':
      return `cannot have the kernel watch memory for the ${event.notifier}: ${event.message}`;
    case 'threshold-served':
      return `serving ${thresholdText(event.threshold)}: the node is low on ${event.resource}`;
    case 'storage-limits-checked':
      return event.pods === null
        ? 'could not hold pods against storage limits of their own'
        : `held ${event.pods} pods against storage limits of their own`;
    case 'storage-limit-exceeded':
      return `pod ${event.pod.label} is over a limit of its own: ${storageMessage(event.violation)}`;
    case 'storage-limit-served':
      return `pod ${event.pod.label}, which was over a limit of its own, ${ENDED[event.outcome.kind]}: ${storageMessage(event.violation)}`;
    case 'image-path-fallback':
      return `${event.path}, where the runtime keeps images, does not exist; watching ${event.used} instead`;
    case 'signal-unknown':
      return event.reason === 'not-measurable'
        ? `${event.signal} cannot be measured here: ${event.detail}`
        : `${event.signal} is unknown: ${event.detail}`;
    case 'signal-unknown-for-long':
      return `${event.signal} has been unknown for ${secondsText(event.at - event.since)}: ${event.detail}`;
    case 'signal-known':
      return `${event.signal} can be seen again after ${secondsText(event.unknownFor)}`;
    case 'available-above-capacity':
      return `${event.clamped.signal} reports ${event.clamped.available} available, more than its capacity of ${event.clamped.capacity}; taken as that`;
    case 'line-above-capacity':
      return `the threshold ${thresholdText(event.threshold)}, a line at ${event.line}, lies above the capacity of ${event.capacity} and could never clear; it is set aside`;
    case 'threshold-met':
      return `pressure: ${measuredText(event)} is below ${amountText(event.threshold.signal, event.line)} (${thresholdText(event.threshold)})`;
    case 'threshold-cleared':
      return `relieved: ${measuredText(event)} has reached ${amountText(event.threshold.signal, event.target)}`;
    case 'will-be-full':
      return `${event.signal} goes down by ${amountText(event.signal, Math.round(event.forecast.rate))} a second: ${amountText(event.signal, event.observation.available)} last ${roughTimeText(event.forecast.timeToFull)} (watched for ${roughTimeText(event.forecast.watched)})`;
    case 'fills-no-more':
      return `${event.signal} goes down no more`;
    case 'collecting-ahead':
      return `${event.signal} will be used up in ${roughTimeText(event.forecast.timeToFull)}: collecting garbage now, as asked for when it is less than ${roughTimeText(event.within)}`;
    case 'condition-on':
      return `${event.condition} is on`;
    case 'condition-off':
      return `${event.condition} is off`;
    case 'reclaim-started':
      return `reclaiming ${event.steps.join(', then ') || 'nothing, as no collector helps'}: ${goalsText(event.goals, event.available)}`;
    case 'reclaim-planned':
      return plannedText(event);
    case 'removed':
      return `removed ${subjectText(event.subject)}${availableText(event.availableBefore, event.availableAfter)}`;
    case 'removal-failed':
      return `could not remove ${subjectText(event.subject)}: ${event.message}`;
    case 'removal-skipped':
      return `left ${subjectText(event.subject)} alone: ${event.why}`;
    case 'batch-measured':
      return `measured after ${event.removals} ${event.removals === 1 ? 'removal' : 'removals'}${gainText(event.availableBefore, event.availableAfter)}, waited ${Math.round(event.waited)} ms`;
    case 'image-reference-unresolved':
    case 'protect-pattern-unused':
    case 'image-came-back':
    case 'protected-images-hold-space':
      return imageNewsText(event);
    case 'space-not-freed':
      return `cannot have the space of removed containers freed at once, it is waited for: ${event.message}`;
    case 'list-failed':
      return `cannot list ${event.what}: ${event.message}`;
    case 'reclaim-finished':
      return finishedText(event);
    case 'would-remove':
      return `${event.onlyIfNeeded ? 'if that is not enough, would remove' : 'would remove'} ${subjectText(event.subject)}`;
    case 'would-evict':
      return `${event.onlyIfNeeded ? 'if all that is not enough, would evict' : 'would evict'} pod ${standingText(event.standing, event.threshold.signal)}`;
    case 'eviction-decided':
      return `evicting pod ${event.pod.label}: ${event.message}`;
    case 'eviction-hastened':
      return `cutting the grace of pod ${event.pod.label} short: meanwhile the hard line ${thresholdText(event.threshold)} is missed`;
    case 'pod-lingers':
      return `pod ${event.pod.label} ${ENDED[event.outcome.kind]}${'message' in event.outcome ? `: ${event.outcome.message}` : ''}`;
    case 'stop-hangs':
      return `the end of pod ${event.pod.label} cannot be recorded, as ${event.filesystem} has ${bytesText(event.available)} available: ${HELPED_BY[event.freed]}`;
    case 'kill-outstanding':
      return `pod ${event.pod.label} is still ending; nobody else goes for now, and what comes from it is waited for`;
    case 'pod-killed':
      return killedText(event);
    case 'eviction-measured':
      if (event.availableAfter === null) {
        return `what the end of pod ${event.pod.label} brought cannot be told: ${event.signal} could not be seen`;
      }
      return `the end of pod ${event.pod.label} brought ${changeText(event.signal, event.availableAfter - event.availableBefore)}${event.endsSeries ? '; that is next to nothing, so no other pod goes for now' : ''}`;
    case 'helpless':
      return `nothing here can relieve ${event.threshold.signal} (${amountText(event.threshold.signal, event.observation.available)} available): ${event.reason}`;
    case 'writer-goes-first':
      return `pod ${event.pod.label} goes before anything is collected: it fills the disk, which loses ${bytesText(Math.round(event.fillRate))}/s, so that all garbage (${bytesText(event.garbage)}) would last ${secondsText((event.garbage / event.fillRate) * 1_000)}`;
    case 'usage-impossible':
      return `pod ${event.pod.label} is said to use ${amountText(event.signal, event.usage)} of ${event.signal}, of which all together use ${amountText(event.signal, event.inUse)}: its use counts as unknown`;
    case 'ballast-laid':
      return `${bytesText(event.held)} of ballast on ${event.filesystem} ${event.adopted ? 'taken over from an earlier run' : 'laid'} (${event.directory})`;
    case 'ballast-released':
      return releasedText(event);
    case 'ballast-failed':
      return `could not ${event.doing} the ballast on ${event.filesystem}: ${event.message}`;
    case 'restored':
      return restoredText(event);
    case 'store-trouble':
      return `${TROUBLES[event.trouble]}: ${event.message}`;
    case 'store-mended':
      return 'the state file is written again, and what had waited has been saved';
    case 'kubelet-beside':
      return event.evicts
        ? 'a kubelet runs on this node; evicting beside it, as asked for'
        : 'a kubelet runs on this node and evicts pods itself: containers and images are reclaimed, pods are not evicted';
    case 'runtime-lost':
      return `the container runtime is lost: ${event.message}`;
    case 'runtime-back':
      return `the container runtime is back (${event.name} ${event.version}) after ${secondsText(event.downFor)}`;
    case 'usage-checked':
      return 'read what pods use';
    case 'warning':
      return warningText(event.warning);
    case 'pass-failed':
      return `a pass failed: ${event.message}`;
  }
}

/** A threshold as configured, such as `nodefs.available < 10%`, with its grace if it is soft. */
export function thresholdText(threshold: Threshold): string {
  const grace = threshold.urgency.kind === 'soft' ? `, soft, grace ${secondsText(threshold.urgency.grace)}` : '';
  return `${threshold.signal} < ${limitText(threshold.limit)}${grace}`;
}

/** A duration for people, in seconds with one decimal where it matters. */
export function secondsText(duration: number): string {
  const seconds = duration / 1_000;
  return `${seconds >= 100 ? Math.round(seconds) : Number(seconds.toFixed(1))} s`;
}

/** A time that is only known roughly: in seconds, minutes or hours, as a person would say it. */
export function roughTimeText(duration: number): string {
  const seconds = duration / 1_000;
  if (seconds < 100) return secondsText(seconds < 10 ? duration : Math.round(seconds) * 1_000);
  return seconds < 6_000 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

/** A pod's place in the ranking for people. */
export function standingText(standing: Standing, signal: Signal): string {
  const amount = (value: number) => amountText(signal, value);
  const usage =
    standing.usage === null
      ? 'usage unknown'
      : `uses ${amount(standing.usage)}${sourcesText(standing.parts ?? [], amount)}`;
  return `${standing.label} (${usage}${standing.isFilling === true ? '; fills the disk now' : ''}${standing.protectedBy === null ? '' : `; stays: ${standing.protectedBy}`})`;
}

/** What is removed and why. */
export function subjectText(subject: RemovalSubject): string {
  const what = subject.what === 'image' ? `image ${subject.label}` : `${subject.what} ${subject.label}`;
  const claimed = subject.claimed === null ? '' : `, ${bytesText(subject.claimed)} claimed`;
  return `${what} (${subject.reason}${claimed})`;
}

/** Line and target of a threshold at one capacity, for tables. */
export function lineText(threshold: Threshold, capacity: number): string {
  const { line, target } = lineOf(threshold, capacity);
  const { signal } = threshold;
  return target > line
    ? `${amountText(signal, line)}, cleared at ${amountText(signal, target)}`
    : amountText(signal, line);
}

function measuredText({ threshold, observation }: EventOf<'threshold-met' | 'threshold-cleared'>): string {
  return `${threshold.signal} ${amountText(threshold.signal, observation.available)} of ${amountText(threshold.signal, observation.capacity)}`;
}

function goalsText(goals: readonly Goal[], available: Availability): string {
  return goals
    .map(({ signal, target }) => {
      const seen = available[signal];
      const now = seen === undefined ? 'unknown' : amountText(signal, seen);
      return `${signal} is ${now} and must reach ${amountText(signal, target)}`;
    })
    .join(', ');
}

function gainText(before: Availability, after: Availability): string {
  const changes = (Object.keys(after) as readonly Signal[]).flatMap((signal) => {
    const [was, is] = [before[signal], after[signal]];
    return was === undefined || is === undefined || SIGNALS[signal].unit !== 'bytes'
      ? []
      : [{ signal, change: is - was }];
  });
  const [first] = changes;
  return first === undefined ? '' : `: ${changeText(first.signal, first.change)}`;
}

/** Before and after, not the difference: removals run side by side, and a container's space comes after the call. */
function availableText(before: Availability, after: Availability): string {
  const signals = (Object.keys(after) as readonly Signal[]).filter((signal) => SIGNALS[signal].unit === 'bytes');
  const [first] = signals;
  const [was, is] = first === undefined ? [] : [before[first], after[first]];
  return was === undefined || is === undefined ? '' : `: ${bytesText(was)} available before, ${bytesText(is)} after`;
}

function changeText(signal: Signal, change: number): string {
  return `${change < 0 ? '-' : '+'}${amountText(signal, Math.abs(change))}`;
}

/** Subjects named in a sentence; the event holds all. */
const NAMED = 3;

function plannedText({ what, subjects }: EventOf<'reclaim-planned'>): string {
  const named = subjects.slice(0, NAMED).map((each) => each.label);
  const more = subjects.length > NAMED ? `, and ${subjects.length - NAMED} more` : '';
  return `may remove ${MANY[what](subjects.length)}, in this order: ${named.join(', ')}${more}`;
}

const RELEASED_AS: Readonly<Record<BallastReason, string>> = {
  'disk-full': 'the disk is full',
  'removal-failed': 'the runtime has no room to remove anything',
  'stop-hangs': 'the runtime has no room to record that a container has ended',
};

function releasedText({
  filesystem,
  held,
  reason,
  availableBefore,
  availableAfter,
}: EventOf<'ballast-released'>): string {
  const gain =
    availableBefore === null || availableAfter === null
      ? ''
      : `: ${changeText(`${filesystem}.available`, availableAfter - availableBefore)}`;
  return `released ${bytesText(held)} of ballast on ${filesystem}, as ${RELEASED_AS[reason]}${gain}`;
}

function restoredText({ remembered, images }: EventOf<'restored'>): string {
  const { conditions, firstMet, evictionUnderWay, ending, toldToEnd } = remembered;
  const pod = evictionUnderWay?.podLabel ?? ending?.podLabel;
  const parts = [
    ...conditions.map((condition) => `${condition} is on`),
    ...(firstMet.size > 0 ? [`thresholds met: ${[...firstMet.keys()].join(', ')}`] : []),
    ...(pod === undefined ? [] : [`pod ${pod} was told to end`]),
    ...(toldToEnd.length > 0 ? [`${toldToEnd.length} pods were told to end and are not chosen again`] : []),
    `${images} ${images === 1 ? 'image' : 'images'} known`,
  ];
  return `going on from the saved state: ${parts.join('; ')}`;
}

const TROUBLES: Readonly<Record<StoreTrouble, string>> = {
  unreadable: 'what was saved cannot be read, so the daemon goes on without a past, and forgets again at its end',
  'not-understood': 'some of what was saved is not understood and is passed over',
  'set-aside': 'a new state file was begun, the one that lay there is kept',
  full: 'the state cannot be saved for want of space; the newest is kept in memory and saved when there is room',
  'not-writing': 'the state cannot be saved for now; the newest is kept in memory and tried again',
};

const HELPED_BY: Readonly<Record<EventOf<'stop-hangs'>['freed'], string>> = {
  ballast: 'released ballast, and the runtime will try again by itself',
  garbage: 'removed something, and the runtime will try again by itself',
  nothing:
    'there is no ballast and nothing that may be removed; any file deleted there would help, and `ballast` the next time',
};

const ENDED: Readonly<Record<EventOf<'pod-killed'>['outcome']['kind'], string>> = {
  gone: 'is gone',
  remains: 'has ended, but not all of it could be removed',
  unrecorded: 'has ended, but the runtime has not recorded it',
  'still-running': 'was told to end and still counts as running',
  failed: 'could not be ended',
  unverified: 'was told to end, and whether it did is not known',
};

const OUTCOMES: Readonly<Record<EventOf<'reclaim-finished'>['outcome'], string>> = {
  reached: 'that was enough',
  exhausted: 'that was all there is',
  'no-effect': 'the last removals changed nothing, so the others were left alone',
  'runtime-failed': 'the runtime could not be asked on',
  'runtime-lost': 'the runtime went away meanwhile',
  aborted: 'the daemon ends',
};

const MANY: Readonly<Record<RemovalKind, (many: number) => string>> = {
  container: (many) => `${many} ${many === 1 ? 'container' : 'containers'}`,
  sandbox: (many) => `${many} ${many === 1 ? 'sandbox' : 'sandboxes'}`,
  image: (many) => `${many} ${many === 1 ? 'image' : 'images'}`,
  'pod-logs': (many) => `logs of ${many} ${many === 1 ? 'pod' : 'pods'}`,
  'pod-volumes': (many) => `volumes of ${many} ${many === 1 ? 'pod' : 'pods'}`,
};

function finishedText(event: EventOf<'reclaim-finished'>): string {
  // `Object.entries` forgets that the keys are kinds of removals.
  const removed = (Object.entries(event.removed) as [RemovalKind, number][]).map(([what, many]) => MANY[what](many));
  const gain = gainText(event.availableBefore, event.availableAfter);
  return (
    `reclaimed ${removed.join(', ') || 'nothing'}${gain === '' ? ':' : `${gain} measured,`} ` +
    `${bytesText(event.claimed)} claimed, in ${secondsText(event.took)}; ${OUTCOMES[event.outcome]}`
  );
}

function killedText(event: EventOf<'pod-killed'>): string {
  const { outcome } = event;
  switch (outcome.kind) {
    case 'gone':
      return `pod ${event.pod.label} is gone: ${changeText(event.signal, event.availableAfter - event.availableBefore)} in ${secondsText(event.took)}`;
    case 'remains':
      return `pod ${event.pod.label} has ended, but not all of it could be removed: ${outcome.message}`;
    case 'unrecorded':
      return `the processes of pod ${event.pod.label} are gone, but the runtime has not recorded it and nothing of it can be removed: ${outcome.message}`;
    case 'still-running':
      return `pod ${event.pod.label} was told to end and still counts as running; it may be dead and its end not recorded: ${outcome.message}`;
    case 'failed':
      return `pod ${event.pod.label} could not be ended: ${outcome.message}`;
    case 'unverified':
      return `whether pod ${event.pod.label} has ended cannot be told: ${outcome.message}`;
  }
}
