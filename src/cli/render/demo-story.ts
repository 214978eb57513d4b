import type { EventOf, EvictionEvent } from '../../eviction/event.js';
import { explain, secondsText } from '../../eviction/explain.js';
import { bytesText } from '../../eviction/message.js';
import type { Instant } from '../../units/units.js';

/** The chapters that must all come, in this order. */
const CHAPTERS = [
  'pressure',
  'containers deleted',
  'images deleted',
  'pressure again',
  'one pod evicted',
  'recovery',
] as const;

/** Tells a demonstration as it happens, in numbered chapters, and sums it up. */
export class DemoStory {
  readonly #print: (line: string) => void;
  #chapters = 0;
  #hasRecovered = false;
  #beganAt: Instant | null = null;
  #crossings: { readonly at: Instant; firstRemoval: Instant | null }[] = [];
  #removed: EventOf<'removed'>[] = [];
  #reclaims: EventOf<'reclaim-finished'>[] = [];
  #kills: EventOf<'pod-killed'>[] = [];

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  /** Whether the last chapter has come. */
  get isOver(): boolean {
    return this.#chapters === CHAPTERS.length;
  }

  /** Whether the writer is gone and relief has come without the whole story: nothing more will happen. */
  get isStuck(): boolean {
    return this.#hasRecovered && !this.isOver;
  }

  begin(runtime: string, behaviour: string): void {
    this.#print('reclaimd demo: a disk fills, and what fills it is dealt with.\n');
    this.#print(`The runtime is embedded: ${runtime}.`);
    this.#print(`It speaks CRI v1 over a unix socket; the daemon talks to it as to ${behaviour}.\n`);
  }

  prepared(lines: readonly string[]): void {
    this.#print('On the node:');
    for (const line of lines) this.#print(`  - ${line}`);
    this.#print('\nThe line is 80 MiB available; relieved is 150 MiB (line + minimum reclaim).\n');
  }

  tell(event: EvictionEvent): void {
    this.#beganAt ??= event.at;
    this.#note(event);
    const chapter = this.#chapterOf(event);
    if (chapter !== null && CHAPTERS[this.#chapters] === chapter) {
      this.#chapters += 1;
      this.#print(`\n${this.#chapters}. ${chapter}`);
    }
    if (SHOWN.has(event.kind)) this.#print(`   ${this.#clock(event.at)}  ${explain(event)}`);
  }

  end(): void {
    if (!this.isOver) {
      this.#print(
        `\nEnded before the story was over; what had not come yet: ${CHAPTERS.slice(this.#chapters).join(', ')}.`,
      );
      return;
    }
    const containers = this.#removed.filter(
      ({ subject }) => subject.what === 'container' && subject.reason !== 'its pod was evicted',
    );
    const images = this.#removed.filter(({ subject }) => subject.what === 'image');
    const reclaimed = this.#reclaims.reduce((sum, each) => sum + gainOf(each), 0);
    const evicted = this.#kills.reduce((sum, each) => sum + each.availableAfter - each.availableBefore, 0);
    const answers = this.#crossings.flatMap(({ at, firstRemoval }) =>
      firstRemoval === null ? [] : [firstRemoval - at],
    );
    this.#print('\nSummary');
    this.#print(
      `  deleted: ${containers.length} containers and ${images.length} images, ${bytesText(reclaimed)} measured on the disk`,
    );
    this.#print(`  evicted: ${this.#kills.map((each) => each.pod.label).join(', ')}, ${bytesText(evicted)} measured`);
    this.#print(
      `  how fast: from noticing pressure to the first removal ${answers.map((each) => `${Math.round(each)} ms`).join(', ')}`,
    );
    for (const each of this.#reclaims)
      this.#print(`  a reclaim of ${bytesText(gainOf(each))} took ${secondsText(each.took)}`);
    for (const each of this.#kills) this.#print(`  the eviction took ${secondsText(each.took)}, its grace included`);
  }

  #note(event: EvictionEvent): void {
    if (event.kind === 'threshold-met') this.#crossings.push({ at: event.at, firstRemoval: null });
    if (event.kind === 'removed') {
      this.#removed.push(event);
      const crossing = this.#crossings.at(-1);
      if (crossing !== undefined) crossing.firstRemoval ??= event.at;
    }
    if (event.kind === 'reclaim-finished') this.#reclaims.push(event);
    if (event.kind === 'pod-killed') this.#kills.push(event);
    if (event.kind === 'condition-off' && this.#kills.length > 0) this.#hasRecovered = true;
  }

  #chapterOf(event: EvictionEvent): (typeof CHAPTERS)[number] | null {
    if (event.kind === 'threshold-met') return this.#chapters === 0 ? 'pressure' : 'pressure again';
    if (event.kind === 'removed' && event.subject.what === 'container') return 'containers deleted';
    if (event.kind === 'removed' && event.subject.what === 'image') return 'images deleted';
    if (event.kind === 'eviction-decided') return 'one pod evicted';
    if (event.kind === 'condition-off') return 'recovery';
    return null;
  }

  #clock(at: Instant): string {
    return `${((at - (this.#beganAt ?? at)) / 1_000).toFixed(2).padStart(6)} s`;
  }
}

const SHOWN: ReadonlySet<EvictionEvent['kind']> = new Set([
  'threshold-met',
  'threshold-cleared',
  'condition-on',
  'condition-off',
  'reclaim-started',
  'reclaim-planned',
  'removed',
  'removal-failed',
  'removal-skipped',
  'reclaim-finished',
  'eviction-decided',
  'pod-killed',
  'eviction-measured',
  'helpless',
  'runtime-lost',
  'runtime-back',
  'pass-failed',
]);

function gainOf(event: EventOf<'reclaim-finished'>): number {
  const [first] = Object.keys(event.availableAfter).filter((signal) =>
    signal.endsWith('.available'),
  ) as (keyof typeof event.availableAfter)[];
  if (first === undefined) return 0;
  return (event.availableAfter[first] ?? 0) - (event.availableBefore[first] ?? 0);
}
