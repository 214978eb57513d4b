import type { KeyRow, RawValue } from './key-row.js';
import { KEYS } from './key-table.js';

/** The name of a setting. */
export type KeyName = (typeof KEYS)[number]['name'];

/** Other names of a setting in our own file. */
export const KEY_ALIASES: Readonly<Record<string, KeyName>> = { runtimeEndpoint: 'containerRuntimeEndpoint' };

/** Other names of a flag. */
export const FLAG_ALIASES: Readonly<Record<string, string>> = {
  'container-runtime-endpoint': 'runtime-endpoint',
  'pod-log-dir': 'pod-logs-dir',
  'pod-manifest-path': 'static-pod-path',
};

const BY_NAME: ReadonlyMap<string, KeyRow> = new Map(KEYS.map((row) => [row.name, row]));

/** The row of a name; null when no setting has it. */
export function keyRow(name: string): KeyRow | null {
  return BY_NAME.get(name) ?? null;
}

/** What a setting is when nobody says. */
export function fallbackOf(row: KeyRow, profile: 'reclaimd' | 'kubelet'): RawValue {
  return profile === 'kubelet' && row.kubeletFallback !== undefined ? row.kubeletFallback : row.fallback;
}
