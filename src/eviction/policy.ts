/**
 * The rules in which the kubelet's behaviour and a better one differ, each a named field. `kubelet` is compatible, quirks
 * included; `reclaimd`, the default, is what a careful operator would want. `src/ARCHITECTURE.md` lists each rule with its
 * test.
 */
export interface Policy {
  readonly name: ProfileName;
  readonly eviction: {
    /** Which thresholds must be clear after collecting before pods are safe. */
    readonly clearedBy: 'all-thresholds' | 'pressed-filesystem';
    /** What ends a node condition, once the transition period has passed. */
    readonly conditionEnds: 'line-or-due-band' | 'target';
    /** What becomes of a threshold above the capacity of its signal. */
    readonly lineAboveCapacity: 'always-met' | 'set-aside';
    /** How often a pass looks: fixed, or by headroom and fill rate. */
    readonly cadence: 'fixed' | 'derived';
    /** Whether it is foretold when a filesystem will be full. */
    readonly forecasts: 'none' | 'told';
    /** Where pods without numbers stand in the ranking. */
    readonly unknownUsage: 'first' | 'after-known-over-request';
    /** Who goes first among pods of one class by request and of one priority. */
    readonly amongEquals: 'larger' | 'filling-then-larger';
    /** What is done first where a pod that may go fills the disk so fast that all garbage would last seconds only. */
    readonly fastWriter: 'garbage-first' | 'writer-in-same-pass';
    /** What "usage minus request" subtracts when inodes are ranked. */
    readonly inodeRequest: 'byte-request' | 'none';
    /** Whether several pressed filesystems are served in one pass. */
    readonly filesystemsPerPass: 'first' | 'all';
    /** When another pod may go. */
    readonly nextEviction: 'next-pass' | 'after-effect-was-measured';
    /** Whether a pod that was told to end and is still there may be chosen again. */
    readonly toldPods: 'chosen-again' | 'never-again';
    /** What an eviction that freed less than a tenth of what was expected leads to. */
    readonly futileEviction: 'next-pod' | 'ends-series';
    /** What a hard line does that is missed while a pod ends with a soft grace. */
    readonly hardDuringSoftGrace: 'waits' | 'cuts-grace';
    /** Pods that hold less than a hundredth of what is missing, and are not seen filling the disk. */
    readonly smallPods: 'ranked' | 'passed-over';
    /** What a transition period of zero reports. */
    readonly zeroTransition: 'nothing' | 'what-holds-now';
    /** What ends a pass's collecting early: a collector that failed, or nothing, so that only the numbers judge. */
    readonly failedCollection: 'only-numbers-judge' | 'ends-serving';
    /** When a pass looks again, and whether what it then sees moves clocks and conditions. */
    readonly looksAgain: 'after-collecting-aside' | 'before-each-choice-folded';
    /** What a filesystem that cannot be read leads to: nothing is judged at all, or only its own signals are unknown. */
    readonly blindSignal: 'blinds-the-pass' | 'unknown-alone';
    /** A capacity of 0, a read-only mount, more available than there is, a pod that uses more than the disk has in use. */
    readonly doubtfulNumbers: 'taken-as-told' | 'put-right-or-unknown';
    /** From which pass on the thresholds count that containerfs was given. */
    readonly derivedThresholds: 'from-second-pass' | 'at-once';
    /** Whether a layout that was told once can become another. */
    readonly layout: 'kept-for-life' | 'as-last-seen';
    /** What a layout that was never told leads to. */
    readonly unknownLayout: 'ends-pass' | 'taken-for-one-disk';
    /** Whether each pass that serves a threshold says so, or only what it does. */
    readonly announces: 'each-serving' | 'deeds';
    /** How a soft eviction's grace is found: the kubelet's override, raised to a second by its pod worker, or pod and cap. */
    readonly softGrace: 'override-of-a-second-or-more' | 'own-or-cap';
    /** What becomes of conditions, soft clocks, evictions under way and the last use of images when the process ends. */
    readonly restart: 'forgets' | 'remembers';
    /** When pods are held against storage limits of their own: it means to list them all and to walk their files. */
    readonly storageLimits: 'each-pass' | 'every-ten-seconds';
    /** What a priority that nobody tells means: none, or that pods of kube-system may be critical and stay. */
    readonly unknownPriority: 'none' | 'keeps-system-pods';
    /** What counts against a container's limit: its layer only where it shares a disk with the logs, or in every layout. */
    readonly containerLimit: 'layer-beside-logs-alone' | 'layer-and-logs';
    /** Whether pods are let in after a start and before anything was seen. */
    readonly beforeFirstLook: 'admits' | 'not-yet';
  };
  readonly gc: {
    /** How much unused content goes under pressure. */
    readonly amount: 'everything' | 'until-target';
    /** Which dead containers go under pressure. */
    readonly deadContainers: 'finished-and-over-limits' | 'all-dead';
    /** Images below the minimum age under hard pressure. */
    readonly youngImages: 'kept' | 'last';
    /** Whether nodefs pressure on a node with an image disk collects dead containers. */
    readonly nodefsOnImageDisk: 'nothing' | 'containers';
    /** What becomes of an object whose removal failed or had no effect. */
    readonly failedRemovals: 'tried-each-time' | 'back-off';
    /** What becomes of an image that is pulled again within minutes of its removal. */
    readonly returnedImages: 'like-any-other' | 'kept-for-an-hour';
    /** How many removals run at a time under pressure. */
    readonly concurrency: number;
    /** Whether freed space that comes back late is waited for. */
    readonly waitsForSpace: boolean;
    /** Whether the runtime is asked to free at once what removed containers held, where it has a call for that. */
    readonly asksForSpace: boolean;
    /** Whether unfinished starts (state `created`) count as dead at any age. */
    readonly createdCountsAsDead: boolean;
    /** What becomes of log directories of nobody under pressure. */
    readonly orphanLogs: 'kept' | 'removed';
    /** What the operator's program after image collection is told. */
    readonly afterCollection: 'looked-at-and-kept' | 'left-on-node';
    /** How the collector from before CRI runs where it is asked for: to the letter, or sparing what is not sure to be dead. */
    readonly dockerEra: 'as-it-was' | 'careful';
  };
}

/** The two profiles. */
export type ProfileName = 'reclaimd' | 'kubelet';

/** The two rows. */
export const POLICIES = {
  kubelet: {
    name: 'kubelet',
    eviction: {
      clearedBy: 'all-thresholds',
      conditionEnds: 'line-or-due-band',
      lineAboveCapacity: 'always-met',
      cadence: 'fixed',
      forecasts: 'none',
      unknownUsage: 'first',
      amongEquals: 'larger',
      fastWriter: 'garbage-first',
      inodeRequest: 'byte-request',
      filesystemsPerPass: 'first',
      nextEviction: 'next-pass',
      toldPods: 'chosen-again',
      futileEviction: 'next-pod',
      hardDuringSoftGrace: 'waits',
      smallPods: 'ranked',
      zeroTransition: 'nothing',
      failedCollection: 'only-numbers-judge',
      looksAgain: 'after-collecting-aside',
      blindSignal: 'blinds-the-pass',
      doubtfulNumbers: 'taken-as-told',
      derivedThresholds: 'from-second-pass',
      layout: 'kept-for-life',
      unknownLayout: 'ends-pass',
      announces: 'each-serving',
      softGrace: 'override-of-a-second-or-more',
      restart: 'forgets',
      storageLimits: 'each-pass',
      containerLimit: 'layer-beside-logs-alone',
      unknownPriority: 'none',
      beforeFirstLook: 'admits',
    },
    gc: {
      amount: 'everything',
      deadContainers: 'finished-and-over-limits',
      youngImages: 'kept',
      nodefsOnImageDisk: 'nothing',
      failedRemovals: 'tried-each-time',
      returnedImages: 'like-any-other',
      concurrency: 1,
      waitsForSpace: false,
      asksForSpace: false,
      createdCountsAsDead: true,
      orphanLogs: 'kept',
      afterCollection: 'looked-at-and-kept',
      dockerEra: 'as-it-was',
    },
  },
  reclaimd: {
    name: 'reclaimd',
    eviction: {
      clearedBy: 'pressed-filesystem',
      conditionEnds: 'target',
      lineAboveCapacity: 'set-aside',
      cadence: 'derived',
      forecasts: 'told',
      unknownUsage: 'after-known-over-request',
      amongEquals: 'filling-then-larger',
      fastWriter: 'writer-in-same-pass',
      inodeRequest: 'none',
      filesystemsPerPass: 'all',
      nextEviction: 'after-effect-was-measured',
      toldPods: 'never-again',
      futileEviction: 'ends-series',
      hardDuringSoftGrace: 'cuts-grace',
      smallPods: 'passed-over',
      zeroTransition: 'what-holds-now',
      failedCollection: 'ends-serving',
      looksAgain: 'before-each-choice-folded',
      blindSignal: 'unknown-alone',
      doubtfulNumbers: 'put-right-or-unknown',
      derivedThresholds: 'at-once',
      layout: 'as-last-seen',
      unknownLayout: 'taken-for-one-disk',
      announces: 'deeds',
      softGrace: 'own-or-cap',
      restart: 'remembers',
      storageLimits: 'every-ten-seconds',
      containerLimit: 'layer-and-logs',
      unknownPriority: 'keeps-system-pods',
      beforeFirstLook: 'not-yet',
    },
    gc: {
      amount: 'until-target',
      deadContainers: 'all-dead',
      youngImages: 'last',
      nodefsOnImageDisk: 'containers',
      failedRemovals: 'back-off',
      returnedImages: 'kept-for-an-hour',
      concurrency: 4,
      waitsForSpace: true,
      asksForSpace: true,
      createdCountsAsDead: false,
      orphanLogs: 'removed',
      afterCollection: 'left-on-node',
      dockerEra: 'careful',
    },
  },
} as const satisfies Record<ProfileName, Policy>;
