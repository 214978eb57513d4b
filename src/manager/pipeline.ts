import {
  asyncScheduler,
  defer,
  from,
  merge,
  NEVER,
  type Observable,
  race,
  repeat,
  type SchedulerLike,
  Subject,
  share,
  take,
  takeUntil,
  timer,
} from 'rxjs';
import type { EvictionEvent } from '../eviction/event.js';

/** What the pipeline drives. */
export interface PipelineDeps {
  /** One pass, from look to eviction. Never rejects for what the outside does. */
  readonly pass: () => AsyncIterable<EvictionEvent>;
  /** The pause before the next pass, in milliseconds, asked after each. */
  readonly pause: () => number;
  /** Events that come beside the passes. */
  readonly beside: readonly Observable<EvictionEvent>[];
  /** For tests; the real one otherwise. */
  readonly scheduler?: SchedulerLike;
}

/** The running stream of events. */
export interface Pipeline {
  /** Passes one after the other, never two at once. Ends after `stop`. Shared: all subscribers see one run. */
  readonly events$: Observable<EvictionEvent>;
  /** Asks for a pass now. While one runs, the next follows at once; several requests are one. */
  wake(): void;
  /** Ends the stream. */
  stop(): void;
}

/** Drives passes at the pace that each pass asks for. */
export function createPipeline({ pass, pause, beside, scheduler = asyncScheduler }: PipelineDeps): Pipeline {
  const wake$ = new Subject<void>();
  const stop$ = new Subject<void>();
  let isWanted = false;
  wake$.subscribe(() => {
    isWanted = true;
  });
  const passes$ = defer(() => {
    isWanted = false;
    return from(pass());
  }).pipe(
    repeat({ delay: () => (isWanted ? timer(0, scheduler) : race(timer(pause(), scheduler), wake$.pipe(take(1)))) }),
  );
  return {
    events$: merge(passes$, NEVER, ...beside).pipe(takeUntil(stop$), share()),
    wake: () => {
      wake$.next();
    },
    stop: () => {
      stop$.next();
      wake$.complete();
    },
  };
}
