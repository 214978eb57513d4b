import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startContainerd } from '../lab/containerd.js';
import type { DiskSpec } from '../lab/disk.js';
import { APP } from './pods.js';
import { diskFor, IMAGE_FILES, IMAGE_KIB, IMAGES, type Scenario, type Stage } from './scenario.js';

/** Disks with a runtime's images on them, made once and copied for each run. */
export interface PreparedDisks extends Disposable {
  /** The disk of the runtime for a run of the scenario. */
  diskFor(scenario: Scenario, stage: Stage): Promise<DiskSpec>;
}

/** Opens an empty collection; what is made for it goes when it is disposed of. */
export function prepareDisks(): PreparedDisks {
  const directory = mkdtempSync(join(tmpdir(), 'reclaimd-duel-'));
  const made = new Map<string, Promise<string>>();
  return {
    diskFor: async (scenario, stage) => {
      const { runtime, filesystem } = stage;
      const key = `${runtime}-${filesystem}-${scenario.images.replaceAll(/\W+/g, '-')}`;
      const file = made.get(key) ?? make(scenario, stage, join(directory, `${key}.img`));
      made.set(key, file);
      return { ...diskFor(scenario, filesystem), copyOf: await file };
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Names of the images that nobody uses. */
export function unusedImages(scenario: Scenario): readonly string[] {
  if (scenario.images === 'none') return [];
  return Array.from({ length: IMAGES }, (_, index) => `local.test/unused-${String(index).padStart(2, '0')}:1`);
}

async function make(scenario: Scenario, { runtime, filesystem }: Stage, file: string): Promise<string> {
  const lab = await startContainerd({ generation: runtime, ...diskFor(scenario, filesystem), keepDiskAs: file });
  try {
    await lab.importImage(APP);
    for (const name of unusedImages(scenario)) {
      const layer =
        scenario.images === 'unused'
          ? ({ kind: 'random', kib: IMAGE_KIB, seed: name } as const)
          : ({ kind: 'files', count: IMAGE_FILES, seed: name } as const);
      await lab.importImage({ name, layers: [layer] });
    }
  } finally {
    await lab.close();
  }
  if (!existsSync(file)) throw new Error(`Cannot find the disk that was made: ${file}`);
  return file;
}
