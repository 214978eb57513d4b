import { ALL_SIGNALS } from '../eviction/signal.js';
import type { KeyRow } from './key-row.js';
import { KEYS } from './key-table.js';
import { KEY_ALIASES, keyRow } from './keys.js';
import { KUBELET_FIELDS } from './kubelet-fields.js';

/** A JSON Schema, as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema (draft 2020-12) of our own file, for editors: names, types, choices and defaults. It says less than loading does.
 * `config/reclaimd.schema.json` is this, written out.
 */
export function configSchema(): JsonSchema {
  // Other keys of a KubeletConfiguration are passed over, so they must not be marked as mistakes.
  const properties: Record<string, JsonSchema> = Object.fromEntries(
    Object.keys(KUBELET_FIELDS).map((key) => [key, { description: 'a key of the kubelet that is not used' }]),
  );
  properties['apiVersion'] = { const: 'kubelet.config.k8s.io/v1beta1' };
  properties['kind'] = { const: 'KubeletConfiguration' };
  for (const row of KEYS) {
    const [group, inner] = row.name.split('.');
    if (group === undefined) continue;
    if (inner === undefined) properties[group] = schemaOf(row);
    else properties[group] = withProperty(properties[group], inner, schemaOf(row));
  }
  for (const [alias, name] of Object.entries(KEY_ALIASES)) {
    const row = keyRow(name);
    if (row !== null) properties[alias] = { ...schemaOf(row), description: `another name of ${name}` };
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of reclaimd',
    type: 'object',
    properties,
    additionalProperties: false,
  };
}

function withProperty(group: JsonSchema | undefined, key: string, schema: JsonSchema): JsonSchema {
  const properties = group?.['properties'] ?? {};
  return { type: 'object', properties: { ...properties, [key]: schema }, additionalProperties: false };
}

function schemaOf(row: KeyRow): JsonSchema {
  const fallback: unknown = row.fallback instanceof Map ? Object.fromEntries<unknown>(row.fallback) : row.fallback;
  const common = { description: row.help, ...(fallback === null ? {} : { default: fallback }) };
  switch (row.type) {
    case 'text':
      return { type: ['string', 'null'], ...common };
    case 'boolean':
      return { type: 'boolean', ...common };
    case 'integer':
      return { type: 'integer', ...common };
    case 'percent':
      return { type: 'integer', minimum: 0, maximum: 100, ...common };
    case 'duration':
      return { type: 'string', examples: ['90s', '1m30s'], ...common };
    case 'quantity':
      return { type: 'string', examples: ['200M', '1Gi'], ...common };
    case 'list':
      return { type: 'array', items: { type: 'string' }, ...common };
    case 'choice':
      return { enum: row.choices, ...common };
    case 'map':
      return {
        type: ['object', 'null'],
        propertyNames: { enum: ALL_SIGNALS },
        additionalProperties: { type: 'string' },
        ...common,
      };
  }
}
