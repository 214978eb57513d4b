import type { LogFilesPort } from '../../../src/ports/log-files.js';
import { PortError } from '../../../src/ports/port-error.js';
import { type Bytes, bytes } from '../../../src/units/units.js';

/** A file operation that fails: on the file of that name, for a rename the old one. */
export interface FailingFileOperation {
  readonly op: 'remove' | 'rename' | 'open' | 'create';
  readonly name: string;
}

/** Files of one flat tree, by path, with their text; compressed ones keep the text they were made from. */
export class LogTree implements LogFilesPort {
  readonly files = new Map<string, string>();
  /** Directories under a pod log root, in the order of a listing. */
  directories: readonly string[] = [];
  /** Links whose target is not there. */
  readonly deadLinks = new Set<string>();
  failing: readonly FailingFileOperation[] = [];
  unreadable: readonly string[] = [];
  unremovable: readonly string[] = [];
  /** All removals of trees asked for, failed ones included. */
  readonly treeRemovals: string[] = [];

  async list(directory: string): Promise<readonly string[]> {
    if (this.unreadable.includes(directory)) throw new PortError(`Cannot list ${directory}`);
    const prefix = `${directory}/`;
    const under = [...this.directories, ...this.files.keys()].filter((path) => path.startsWith(prefix));
    return under.map((path) => path.slice(prefix.length));
  }

  async size(path: string): Promise<Bytes | null> {
    const text = this.deadLinks.has(path) ? undefined : this.files.get(path);
    return text === undefined ? null : bytes(Buffer.byteLength(text));
  }

  async rename(from: string, to: string): Promise<void> {
    this.#check('rename', from);
    const text = this.#text(from);
    this.files.delete(from);
    this.files.set(to, text);
  }

  async remove(path: string): Promise<void> {
    this.#check('remove', path);
    if (this.unremovable.includes(path)) throw new PortError(`Cannot remove ${path}`);
    this.files.delete(path);
  }

  async compress(source: string, target: string): Promise<void> {
    this.#check('open', source);
    this.#check('create', target);
    this.files.set(target, this.#text(source));
  }

  async removeLogs(_root: string, logPath: string): Promise<void> {
    for (const path of [...this.files.keys()].filter((each) => each.startsWith(logPath))) await this.remove(path);
  }

  async removeTree(root: string, name: string): Promise<void> {
    const path = `${root}/${name}`;
    this.treeRemovals.push(path);
    if (this.unremovable.includes(path)) throw new PortError(`Cannot remove ${path}`);
    this.directories = this.directories.filter((each) => each !== path);
  }

  #check(op: FailingFileOperation['op'], path: string): void {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (this.failing.some((each) => each.op === op && each.name === name)) throw new PortError(`Cannot ${op} ${path}`);
  }

  #text(path: string): string {
    const text = this.files.get(path);
    if (text === undefined) throw new PortError(`Cannot find ${path}`);
    return text;
  }
}
