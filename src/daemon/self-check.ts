import { mayWrite } from '../adapters/host/directories.js';
import type { Logger } from '../adapters/log/logger.js';
import type { Settings } from '../config/settings.js';
import { LineBook } from '../eviction/evaluate.js';
import type { EvictionEvent } from '../eviction/event.js';
import type { EvictionState } from '../eviction/state.js';
import { type Check, checkThresholds } from '../eviction/threshold-checks.js';

/** Whether we may remove what reclaiming removes. Also made when a daemon starts. */
export async function checkPermissions(settings: Pick<Settings, 'rootDir' | 'podLogsDir'>): Promise<readonly Check[]> {
  const places = [
    [settings.podLogsDir, 'logs of removed containers would stay', 'fail'],
    [settings.rootDir, 'volumes of evicted pods would stay, and no ballast can be kept there', 'fail'],
  ] as const;
  return Promise.all(
    places.map(async ([path, consequence, level]): Promise<Check> => {
      const answer = await mayWrite(path);
      if (answer === 'yes') return { what: `directory ${path}`, level: 'ok', text: 'may be written' };
      // What is not there yet holds nothing that would have to go.
      if (answer === 'missing') return { what: `directory ${path}`, level: 'warn', text: 'is not there' };
      return { what: `directory ${path}`, level, text: `may not be written: ${consequence}` };
    }),
  );
}

/**
 * The checks that a daemon makes at its start: of permissions at once, of thresholds after the first look. What is in order is not
 * said; the rest is, once. Answers with what to tell each event to.
 */
export async function checkAtStart(
  settings: Settings,
  logger: Logger,
  state: () => EvictionState,
): Promise<(event: EvictionEvent) => void> {
  const say = ({ what, level, text }: Check) => {
    if (level !== 'ok') logger[level === 'fail' ? 'error' : 'warn']({ event: 'self-check', what }, `${what}: ${text}`);
  };
  for (const check of await checkPermissions(settings)) say(check);
  let isDone = false;
  return ({ kind }) => {
    if (isDone || kind !== 'observed') return;
    isDone = true;
    const { thresholds } = settings;
    for (const check of checkThresholds({ ...state(), thresholds, lines: new LineBook() })) say(check);
  };
}
