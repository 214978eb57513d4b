import type { Settings } from '../config/settings.js';
import { LineBook } from '../eviction/evaluate.js';
import type { Threshold } from '../eviction/threshold.js';
import { type Check, checkKubeletFirst, checkThresholds } from '../eviction/threshold-checks.js';
import { PortError } from '../ports/port-error.js';
import { RuntimeError } from '../ports/runtime.js';
import { messageOf } from '../reclaim/removal.js';
import { buildParts, type Parts, type Replacements } from './build.js';
import { endpointOf } from './endpoint.js';
import { holdRuntime } from './run.js';
import { checkPermissions } from './self-check.js';
import { accountsOf, type DiskAccount } from './space.js';

/** What an examination found. */
export interface Examination {
  readonly endpoint: string | null;
  readonly checks: readonly Check[];
  /** Empty where the runtime could not be asked. */
  readonly accounts: readonly DiskAccount[];
}

/** What is known of a kubelet on this node. */
export interface KubeletFacts {
  readonly runs: boolean;
  /** Its thresholds; null = its configuration was not found. */
  readonly thresholds: readonly Threshold[] | null;
}

/**
 * Checks whether the product can do its work on this node, and who holds its space. Changes nothing; goes beside a daemon. What
 * cannot be told is a check that failed, never a silence.
 */
export async function examine(
  settings: Settings,
  kubelet: KubeletFacts,
  pathExists: (path: string) => boolean,
  replacements: Replacements = {},
): Promise<Examination> {
  const permissions = await checkPermissions(settings);
  const beside = checkKubelet(settings, kubelet);
  let endpoint: string;
  try {
    endpoint = endpointOf(settings, pathExists);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const socket: Check = { what: 'runtime socket', level: 'fail', text: messageOf(error) };
    return { endpoint: null, checks: [socket, ...permissions, ...beside], accounts: [] };
  }
  await using parts = buildParts(settings, { endpoint, kubeletRuns: () => kubelet.runs }, replacements);
  const socket = await checkRuntime(parts, endpoint);
  if (socket.level === 'fail') return { endpoint, checks: [socket, ...permissions, ...beside], accounts: [] };
  for await (const _ of parts.manager.look()) {
    // What is told is folded into the manager's state, which is read below.
  }
  const { state } = parts.manager;
  const lines = new LineBook();
  const { thresholds } = settings;
  return {
    endpoint,
    checks: [
      socket,
      await checkInstance(endpoint),
      ...permissions,
      ...beside,
      ...checkThresholds({ ...state, thresholds, lines }),
      ...(kubelet.runs ? checkKubeletFirst(thresholds, kubelet.thresholds ?? [], state.observations, lines) : []),
    ],
    accounts: await accountsOf(settings, parts, state),
  };
}

async function checkRuntime({ runtime }: Parts, endpoint: string): Promise<Check> {
  const what = 'runtime socket';
  try {
    const { name, version, apiVersion } = await runtime.identify();
    return { what, level: 'ok', text: `${name} ${version} answers CRI ${apiVersion} at ${endpoint}` };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const kind = error instanceof RuntimeError ? error.kind : null;
    const hint =
      kind === 'permission-denied'
        ? '; run as root, or as a user who may use the socket'
        : kind === 'unimplemented'
          ? '; what answers there speaks no CRI v1'
          : '';
    return { what, level: 'fail', text: `${messageOf(error)}${hint}` };
  }
}

async function checkInstance(endpoint: string): Promise<Check> {
  const what = 'daemon';
  try {
    const lock = await holdRuntime(endpoint);
    await lock[Symbol.asyncDispose]();
    return { what, level: 'warn', text: 'no daemon of ours works on this runtime now' };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { what, level: 'ok', text: messageOf(error).replace(/^Cannot run as /, '') };
  }
}

function checkKubelet(settings: Settings, { runs, thresholds }: KubeletFacts): readonly Check[] {
  if (!runs) return [{ what: 'kubelet', level: 'ok', text: 'none runs on this node: pods are ours to evict' }];
  const known = thresholds === null ? '; its configuration was not found, so who acts first is not known' : '';
  return [
    settings.evictBesideKubelet
      ? { what: 'kubelet', level: 'warn', text: `one runs on this node, and both of us evict pods${known}` }
      : { what: 'kubelet', level: 'ok', text: `one runs on this node and evicts; we reclaim garbage alone${known}` },
  ];
}
