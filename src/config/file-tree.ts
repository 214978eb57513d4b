import type { KeyType } from './key-row.js';
import { KEYS } from './key-table.js';
import { KEY_ALIASES, keyRow } from './keys.js';
import { KUBELET_FIELDS } from './kubelet-fields.js';
import type { TypeTree } from './type-tree.js';

/** How the types of settings are called in a file. */
const TYPES = {
  text: 'string',
  boolean: 'bool',
  integer: 'int32',
  percent: 'int32',
  duration: 'duration',
  quantity: 'string',
  list: ['string'],
  map: { '*': 'string' },
  choice: 'string',
} as const satisfies Record<KeyType, TypeTree>;

/**
 * The keys and types that a file may have. The kubelet's file has those of a KubeletConfiguration, ours has these and its own.
 * Keys of the kubelet that nothing here uses are not looked into, except under the kubelet's profile: the kubelet does.
 */
export function fileTree(home: 'own' | 'kubelet', profile: 'reclaimd' | 'kubelet'): TypeTree {
  const kubelet = Object.entries(KUBELET_FIELDS).map(([key, type]): [string, TypeTree] => {
    const passedOver = profile === 'reclaimd' && keyRow(key) === null && key !== 'apiVersion' && key !== 'kind';
    return [key, passedOver ? 'any' : type];
  });
  return Object.fromEntries(home === 'kubelet' ? kubelet : [...kubelet, ...ownEntries()]);
}

/** Our own keys, nested as they stand in a file. */
function ownEntries(): [string, TypeTree][] {
  const groups = new Map<string, [string, TypeTree][]>();
  for (const row of KEYS) {
    if (row.home !== 'own') continue;
    const [group, inner] = row.name.split('.');
    if (group === undefined) continue;
    groups.set(group, inner === undefined ? [] : [...(groups.get(group) ?? []), [inner, TYPES[row.type]]]);
  }
  const aliases = Object.entries(KEY_ALIASES).flatMap(([alias, name]): [string, TypeTree][] => {
    const row = keyRow(name);
    return row === null ? [] : [[alias, TYPES[row.type]]];
  });
  const entries = [...groups].map(([key, inner]): [string, TypeTree] => {
    const row = keyRow(key);
    return [key, row === null ? Object.fromEntries(inner) : TYPES[row.type]];
  });
  return [...entries, ...aliases];
}
