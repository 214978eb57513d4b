import { readFileSync } from 'node:fs';

/** The version in package.json, which lies beside `build/` and `src/` alike. */
export function productVersion(): string {
  const parsed: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  if (typeof parsed === 'object' && parsed !== null && 'version' in parsed) return String(parsed.version);
  throw new Error('Cannot tell the version as package.json must have one: none');
}
