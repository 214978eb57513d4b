import type { ScenarioLayout } from '../format/common.js';
import type { CriFilesystems, StepOf } from '../format/steps.js';
import type { Disks } from './disks.js';

const POD_LOGS = '/var/log/pods';
const CONTAINERD = '/var/lib/containerd';
const LAYERS_OF_SPLIT = '/var/lib/containers';

/** Where a path lies. */
export interface Place {
  readonly exists: boolean;
  readonly filesystem: string;
  readonly readOnly: boolean;
}

/** Which path lies on which filesystem: the table of the steps first, then filesystems that were named, then the layout. */
export class Places {
  mounts: StepOf<'mounts'> | null = null;
  cri: CriFilesystems | null = null;

  constructor(
    readonly layout: ScenarioLayout,
    readonly rootDir: string,
    readonly disks: Disks,
  ) {}

  /** What the runtime says of its filesystems. */
  get reported(): CriFilesystems {
    if (this.cri !== null) return this.cri;
    return {
      imageFilesystems: [{ mountpoint: CONTAINERD }],
      containerFilesystems: this.layout === 'split' ? [{ mountpoint: LAYERS_OF_SPLIT }] : [],
    };
  }

  /** The filesystem of images. */
  get images(): string {
    const path = this.reported.imageFilesystems[0]?.mountpoint ?? CONTAINERD;
    return this.of(path).filesystem;
  }

  /** The filesystem of writable layers. */
  get layers(): string {
    const path = this.reported.containerFilesystems[0]?.mountpoint;
    return path === undefined ? this.images : this.of(path).filesystem;
  }

  /** The filesystem of the root directory, with the pods' volumes. */
  get root(): string {
    return this.of(this.rootDir).filesystem;
  }

  /** The filesystem of the pods' logs. */
  get logs(): string {
    return this.of(POD_LOGS).filesystem;
  }

  /** A filesystem as effects and faults name it. */
  named(name: string): string {
    if (this.disks.has(name)) return name;
    if (name === 'imagefs') return this.images;
    if (name === 'containerfs') return this.layers;
    if (name === 'nodefs') return this.root;
    throw new Error(`Cannot use a filesystem as a step must have named it: ${name}`);
  }

  of(path: string): Place {
    const { exists = {}, missing = [], readOnly = [] } = this.mounts ?? {};
    const parent = longestParent(path, Object.keys(exists));
    const readOnlyParent = longestParent(path, readOnly);
    return {
      exists: longestParent(path, missing) === null,
      filesystem: (parent === null ? undefined : exists[parent]) ?? this.#byLayout(path),
      readOnly: readOnlyParent !== null && readOnlyParent.length >= (parent ?? '').length,
    };
  }

  #byLayout(path: string): string {
    if (isUnder(path, this.rootDir) || isUnder(path, POD_LOGS)) return 'nodefs';
    const { imageFilesystems, containerFilesystems } = this.reported;
    if (containerFilesystems.some(({ mountpoint }) => isUnder(path, mountpoint))) return this.#layersByLayout();
    const ofImages = [CONTAINERD, ...imageFilesystems.map(({ mountpoint }) => mountpoint)];
    return ofImages.some((each) => isUnder(path, each)) ? this.#imagesByLayout() : 'nodefs';
  }

  #imagesByLayout(): string {
    return this.layout !== 'single' || this.disks.has('imagefs') ? 'imagefs' : 'nodefs';
  }

  #layersByLayout(): string {
    if (this.disks.has('containerfs')) return 'containerfs';
    return this.layout === 'split' ? 'nodefs' : this.#imagesByLayout();
  }
}

function longestParent(path: string, parents: readonly string[]): string | null {
  return parents.filter((each) => isUnder(path, each)).toSorted((a, b) => b.length - a.length)[0] ?? null;
}

/** Whether a path is another one or lies below it. */
export function isUnder(path: string, parent: string): boolean {
  return path === parent || path.startsWith(parent.endsWith('/') ? parent : `${parent}/`);
}
