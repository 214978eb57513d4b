import type { FilesPort, TreeUsage } from '../../../src/ports/files.js';
import type { ChangeTimesPort, LogFilesPort } from '../../../src/ports/log-files.js';
import { PortError } from '../../../src/ports/port-error.js';
import { type Bytes, bytes, count, type Instant } from '../../../src/units/units.js';
import { type LivingContainer, type LivingPod, type LogFile, logDirOf } from './inhabitants.js';
import { isUnder } from './places.js';
import type { ScenarioWorld } from './scenario-world.js';

const POD_LOGS = '/var/log/pods';

/** The files of pods: logs, log directories, emptyDirs and termination messages, at the places where a node has them. */
export class ScenarioFiles implements FilesPort, LogFilesPort, ChangeTimesPort {
  constructor(
    readonly world: ScenarioWorld,
    readonly rootDir: string,
  ) {}

  async usage(path: string, _maxEntries: number, signal?: AbortSignal): Promise<TreeUsage | null> {
    this.world.disks.settle();
    if (this.#podOf(path)?.item.statsMissing === true) {
      throw new PortError(`Cannot walk as nothing under it can be read: ${path}`);
    }
    const extents = [...this.#logExtents(path), ...this.#volumeExtents(path)];
    if (extents.length === 0) return null;
    return {
      bytes: bytes(extents.reduce((sum, each) => sum + each.bytes, 0)),
      inodes: count(extents.reduce((sum, each) => sum + each.inodes, 0)),
      complete: signal?.aborted !== true,
    };
  }

  async removeTree(root: string, name: string): Promise<void> {
    this.world.disks.settle();
    if (root === POD_LOGS) {
      const under = `${POD_LOGS}/${name}`;
      for (const container of this.world.containers)
        this.#removeLogFiles(container, ({ path }) => isUnder(path, under));
      this.world.removeLogDir(name);
    }
    if (root !== this.#podsDir) return;
    const pod = this.world.pods.find(({ item }) => item.uid === name);
    if (pod !== undefined) this.world.removeVolumes(pod);
  }

  async removeLogs(_root: string, logPath: string): Promise<void> {
    this.world.disks.settle();
    for (const container of this.world.containers) {
      this.#removeLogFiles(container, ({ path }) => path.startsWith(logPath));
    }
  }

  async list(directory: string): Promise<readonly string[] | null> {
    this.world.disks.settle();
    if (directory === POD_LOGS) {
      const ofContainers = this.world.containers.flatMap(({ pod, logFiles }) =>
        pod === null || logFiles.length === 0 ? [] : [logDirOf(pod)],
      );
      return [...new Set([...this.world.logDirs.map(({ item }) => item.dir), ...ofContainers])];
    }
    const files = this.#logFilesIn(directory).map(({ path }) => path.slice(directory.length + 1));
    if (files.length > 0) return files;
    const place = this.#terminationPlace(directory);
    if (place === null) return null;
    if (place.container === null) return [...place.pod.terminationFiles.keys()];
    return place.pod.terminationFiles.get(place.container) ?? null;
  }

  async size(path: string): Promise<Bytes | null> {
    this.world.disks.settle();
    const file = this.world.containers.flatMap(({ logFiles }) => logFiles).find((each) => each.path === path);
    return file === undefined ? null : bytes(file.bytes);
  }

  async changedAt(path: string): Promise<Instant | null> {
    const directory = this.world.logDirs.find(({ item }) => `${POD_LOGS}/${item.dir}` === path);
    return directory?.changedAt ?? null;
  }

  async rename(from: string, to: string): Promise<void> {
    throw new PortError(`Cannot rename a log as scenarios rotate none: ${from} to ${to}`);
  }

  async remove(path: string): Promise<void> {
    this.world.disks.settle();
    const directory = path.slice(0, path.lastIndexOf('/'));
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (directory === POD_LOGS) this.world.removeLogDir(name);
    for (const container of this.world.containers) this.#removeLogFiles(container, (each) => each.path === path);
    const place = this.#terminationPlace(directory);
    if (place !== null && place.container !== null) {
      this.world.removeTerminationFile(place.pod, place.container, name);
    }
  }

  async compress(source: string, target: string): Promise<void> {
    throw new PortError(`Cannot compress a log as scenarios rotate none: ${source} to ${target}`);
  }

  get #podsDir(): string {
    return `${this.rootDir}/pods`;
  }

  #removeLogFiles(container: LivingContainer, isMeant: (file: LogFile) => boolean): void {
    if (container.state === 'running') {
      const going = container.logFiles.filter(isMeant).map(({ givenName }) => givenName);
      this.world.journal.logFilesRemoved.push(...going);
    }
    this.world.removeLogFiles(container, isMeant);
  }

  #podOf(path: string): LivingPod | undefined {
    return this.world.pods.find(
      ({ item, identity }) =>
        isUnder(path, `${POD_LOGS}/${logDirOf(identity)}`) || isUnder(path, `${this.#podsDir}/${item.uid}`),
    );
  }

  #logFilesIn(path: string): readonly LogFile[] {
    return this.world.containers.flatMap(({ logFiles }) => logFiles.filter((each) => isUnder(each.path, path)));
  }

  /** A log directory that is listed holds at least what containers have logged there. */
  #logExtents(path: string): readonly { readonly bytes: number; readonly inodes: number }[] {
    const files = this.#logFilesIn(path).map((each) => ({ bytes: each.bytes, inodes: 0 }));
    const directory = this.world.logDirs.find(({ item }) => `${POD_LOGS}/${item.dir}` === path)?.item;
    if (directory === undefined || directory.symlinkTo !== undefined) return files;
    const logged = files.reduce((sum, each) => sum + each.bytes, 0);
    return [...files, { bytes: Math.max(0, directory.bytes - logged), inodes: 0 }];
  }

  /** What lies in memory is another device: it counts only where the walk begins on it. */
  #volumeExtents(path: string): readonly { readonly bytes: number; readonly inodes: number }[] {
    return this.world.pods.flatMap(({ item, volumes }) => {
      const directory = `${this.#podsDir}/${item.uid}/volumes/kubernetes.io~empty-dir`;
      return volumes
        .filter(({ type, name, medium }) => {
          const own = `${directory}/${name}`;
          return type === 'emptyDir' && (path === own || (medium === '' && isUnder(own, path)));
        })
        .map((each) => ({ bytes: each.bytes, inodes: each.inodes }));
    });
  }

  /** The pod and container whose termination messages lie in a directory. */
  #terminationPlace(directory: string): { readonly pod: LivingPod; readonly container: string | null } | null {
    for (const pod of this.world.pods) {
      const own = `${this.#podsDir}/${pod.item.uid}/containers`;
      if (directory === own) return { pod, container: null };
      if (directory.startsWith(`${own}/`)) return { pod, container: directory.slice(own.length + 1) };
    }
    return null;
  }
}
