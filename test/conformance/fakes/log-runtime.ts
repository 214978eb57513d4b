import { PortError } from '../../../src/ports/port-error.js';
import type { ContainerRecord, ContainerState, ContainerStatusRecord } from '../../../src/ports/runtime.js';
import { refusal } from './image-runtime.js';
import type { LogTree } from './log-tree.js';
import { containerRecord, statusRecord } from './records.js';

/** A container with the path of its log. */
export interface LoggingContainer {
  readonly id: string;
  readonly path: string;
  readonly state: ContainerState;
}

/** A runtime whose containers write logs; a reopen makes a new empty one where it is said to. */
export class LogRuntime {
  logs: readonly LoggingContainer[] = [];
  listFails = false;
  statusFailsFor: readonly string[] = [];
  emptyStatusFor: readonly string[] = [];
  reopenFailsFor: readonly string[] = [];
  /** What a reopened log holds instead; null = no file comes. */
  contentAfterReopen: string | null;
  /** Containers whose status was asked for, and whose log was to be reopened, failed calls included. */
  readonly asked: string[] = [];
  readonly reopened: string[] = [];
  readonly #tree: LogTree;

  constructor(tree: LogTree, reopenCreatesFile: boolean) {
    this.#tree = tree;
    this.contentAfterReopen = reopenCreatesFile ? '' : null;
  }

  /** Ends all failures. */
  heal(): void {
    this.listFails = false;
    this.statusFailsFor = [];
    this.emptyStatusFor = [];
    this.reopenFailsFor = [];
  }

  async listContainers(): Promise<readonly ContainerRecord[]> {
    if (this.listFails) throw refusal('ListContainers');
    return this.logs.map(({ id, state }) => containerRecord({ id, state }));
  }

  async containerStatus(id: string): Promise<ContainerStatusRecord | null> {
    this.asked.push(id);
    if (this.statusFailsFor.includes(id)) throw refusal('ContainerStatus');
    if (this.emptyStatusFor.includes(id)) throw new PortError('Cannot read a status as the answer must hold one');
    const log = this.logs.find((each) => each.id === id);
    return log === undefined ? null : statusRecord({ id, state: log.state, logPath: log.path });
  }

  async reopenContainerLog(id: string): Promise<void> {
    this.reopened.push(id);
    if (this.reopenFailsFor.includes(id)) throw refusal('ReopenContainerLog');
    const log = this.logs.find((each) => each.id === id);
    if (log !== undefined && this.contentAfterReopen !== null) this.#tree.files.set(log.path, this.contentAfterReopen);
  }
}
