import { PortError } from '../../../src/ports/port-error.js';
import type {
  ContainerRecord,
  ContainerState,
  ContainerStatusRecord,
  SandboxRecord,
} from '../../../src/ports/runtime.js';
import { refusal } from './image-runtime.js';
import { statusRecord } from './records.js';

/** A call that fails. `not-found` is what the runtime port takes for success: gone is gone. */
export interface FailingCall {
  readonly call: string;
  readonly id: string;
  readonly how: 'refused' | 'not-found';
}

/** What the runtime says of a container that only a link names. `empty`: an answer without a status. */
export type LinkAnswer = ContainerState | 'refused' | 'empty';

/** A runtime with containers and sandboxes that go when they are told to. */
export class ContainerRuntime {
  containers: readonly ContainerRecord[] = [];
  sandboxes: readonly SandboxRecord[] = [];
  /** Containers that no list shows, by id. */
  readonly linked = new Map<string, LinkAnswer>();
  failingCalls: readonly FailingCall[] = [];
  failingLists: readonly string[] = [];
  logPathOf: (id: string) => string = () => '';
  /** All calls that change something, in order, failed ones included. */
  readonly calls: { readonly call: string; readonly id: string }[] = [];
  /** Containers whose status was asked for. */
  readonly asked: string[] = [];

  async listContainers(): Promise<readonly ContainerRecord[]> {
    if (this.failingLists.includes('ListContainers')) throw refusal('ListContainers');
    return this.containers;
  }

  async listSandboxes(): Promise<readonly SandboxRecord[]> {
    if (this.failingLists.includes('ListPodSandbox')) throw refusal('ListPodSandbox');
    return this.sandboxes;
  }

  async containerStatus(id: string): Promise<ContainerStatusRecord | null> {
    this.asked.push(id);
    const failing = this.#failing('ContainerStatus', id);
    if (failing === 'refused') throw refusal('ContainerStatus');
    if (failing === 'not-found') return null;
    const known = this.containers.find((each) => each.id === id);
    if (known !== undefined) return statusRecord({ id, state: known.state, logPath: this.logPathOf(id) });
    const answer = this.linked.get(id);
    if (answer === 'refused') throw refusal('ContainerStatus');
    if (answer === 'empty') throw new PortError('Cannot read a status as the answer must hold one');
    return answer === undefined ? null : statusRecord({ id, state: answer });
  }

  async stopContainer(id: string): Promise<void> {
    this.#change('StopContainer', id);
  }

  async removeContainer(id: string): Promise<void> {
    if (this.#change('RemoveContainer', id)) this.containers = this.containers.filter((each) => each.id !== id);
  }

  async stopSandbox(id: string): Promise<void> {
    this.#change('StopPodSandbox', id);
  }

  async removeSandbox(id: string): Promise<void> {
    if (this.#change('RemovePodSandbox', id)) this.sandboxes = this.sandboxes.filter((each) => each.id !== id);
  }

  /** Whether the call had its effect. */
  #change(call: string, id: string): boolean {
    this.calls.push({ call, id });
    const failing = this.#failing(call, id);
    if (failing === 'refused') throw refusal(call);
    return failing === null;
  }

  #failing(call: string, id: string): FailingCall['how'] | null {
    return this.failingCalls.find((each) => each.call === call && each.id === id)?.how ?? null;
  }
}
