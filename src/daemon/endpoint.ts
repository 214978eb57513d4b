import { DEFAULT_ENDPOINTS, findEndpoint, parseEndpoint } from '../adapters/cri/endpoint.js';
import type { Settings } from '../config/settings.js';
import type { Clock } from '../ports/clock.js';
import { milliseconds } from '../units/units.js';

/** A stat of two paths costs nothing, and a runtime that is up is to be noticed before its first pod has filled a disk. */
const LOOK_EVERY = milliseconds(3_000);

/**
 * Finds the runtime's socket: as configured, else the first of the usual ones that exists. Throws a `PortError` that names
 * what was tried.
 */
export function endpointOf(settings: Pick<Settings, 'runtimeEndpoint'>, pathExists: (path: string) => boolean): string {
  const { runtimeEndpoint } = settings;
  return (runtimeEndpoint === null ? findEndpoint(pathExists) : parseEndpoint(runtimeEndpoint)).url;
}

/** What waiting for a socket needs. */
export interface AwaitingDeps {
  readonly settings: Pick<Settings, 'runtimeEndpoint'>;
  readonly pathExists: (path: string) => boolean;
  readonly clock: Clock;
  /** Says, once, that nothing is there yet, and which sockets are looked for. */
  readonly tell: (sockets: readonly string[]) => void;
}

/**
 * The same for a daemon, which may be started before its runtime: where no socket is configured and none of the usual ones is
 * there, it waits until one is. Null = `abort` came first. A configured one needs no waiting here, as dialling it waits.
 */
export async function awaitEndpoint(deps: AwaitingDeps, abort: AbortSignal): Promise<string | null> {
  const { settings, pathExists, clock, tell } = deps;
  const isThere = () =>
    settings.runtimeEndpoint !== null || DEFAULT_ENDPOINTS.some((endpoint) => pathExists(endpoint.path));
  if (!isThere()) {
    tell(DEFAULT_ENDPOINTS.map(({ url }) => url));
    while (!abort.aborted && !isThere()) await clock.sleep(LOOK_EVERY, abort);
  }
  return abort.aborted ? null : endpointOf(settings, pathExists);
}
