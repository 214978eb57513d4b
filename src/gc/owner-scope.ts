/**
 * Whose garbage is removed. `gone-pods`: containers, sandboxes and logs of pods that are gone alone; `images`: images alone, for
 * a node whose kubelet looks after its containers itself.
 */
export type OwnerScope = 'all' | 'gone-pods' | 'images';

/** What of a plan for containers or sandboxes lies within the scope; the order stays. */
export function withinScope<Entry extends { readonly why: string }>(
  scope: OwnerScope,
  plan: readonly Entry[],
): readonly Entry[] {
  switch (scope) {
    case 'all':
      return plan;
    case 'gone-pods':
      return plan.filter(({ why }) => why === 'its pod is gone');
    case 'images':
      return [];
  }
}
