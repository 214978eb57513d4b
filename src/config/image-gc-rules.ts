/** Why two image collection marks do not go together. */
export type ImageGcMarksFault = 'high-out-of-range' | 'low-out-of-range' | 'low-above-high' | 'low-equals-high';

/**
 * Checks the two marks, in the order of the kubelet's image manager (`validateImageGCPolicy`), which takes equal marks;
 * its configuration check does not. Null when they are fine.
 */
export function imageGcMarksFault(high: number, low: number): ImageGcMarksFault | null {
  if (high < 0 || high > 100) return 'high-out-of-range';
  if (low < 0 || low > 100) return 'low-out-of-range';
  if (low > high) return 'low-above-high';
  return low === high ? 'low-equals-high' : null;
}
