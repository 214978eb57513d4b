import type { FsLayout } from '../../../src/eviction/layout.js';
import type { ScenarioLayout } from '../format/common.js';

const NAMES = { single: 'one-disk', imagefs: 'image-disk', split: 'split-disks' } as const satisfies Record<
  ScenarioLayout,
  FsLayout
>;

/** The product's name of a layout. */
export function layoutOfScenario(layout: ScenarioLayout): FsLayout {
  return NAMES[layout];
}
