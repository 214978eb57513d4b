import type { EvictionMapName } from './threshold-text.js';

/** What stands between a signal and its value in a flag. */
export const FLAG_SIGNS: Readonly<Record<EvictionMapName, '<' | '='>> = {
  evictionHard: '<',
  evictionSoft: '<',
  evictionSoftGracePeriod: '=',
  evictionMinimumReclaim: '=',
};

/** One part of a flag: an entry, or a text without its sign. */
export type FlagPart =
  | { readonly kind: 'entry'; readonly signal: string; readonly value: string }
  | { readonly kind: 'malformed'; readonly text: string };

/**
 * Splits the text of a map flag, such as `nodefs.available<10%, imagefs.available<15%`: at commas, then at the first sign, blanks
 * on both sides cut off, empty parts skipped. Mirrors the kubelet's `LangleSeparatedMapStringString` and `MapStringString`.
 */
export function splitFlagMap(text: string, sign: '<' | '='): readonly FlagPart[] {
  return text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf(sign);
      if (at === -1) return { kind: 'malformed', text: part.trim() };
      return { kind: 'entry', signal: part.slice(0, at).trim(), value: part.slice(at + 1).trim() };
    });
}
