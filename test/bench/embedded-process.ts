import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { type EmbeddedRuntime, startEmbeddedRuntime } from '../../src/embedded/embedded-runtime.js';
import { type RunningWriter, Writers } from '../../src/embedded/writers.js';
import { ContainerState, RuntimeServiceClient, RuntimeServiceService } from '../../src/proto/generated/cri.js';
import { call } from '../lab/call.js';
import { waitFor } from '../lab/wait.js';
import type { Order, RuntimePlace, Tidings } from './embedded-protocol.js';

// The program of the process that holds an embedded runtime and the writer that fills its disk, so that neither takes turns
// with the daemon or with whoever measures. Started by embedded.ts.

const IMAGE = 'bench.test/app:1';
const MIB = 1 << 20;

class Host {
  readonly #writers = new Writers();
  #runtime: EmbeddedRuntime | null = null;
  #writing: { readonly writer: RunningWriter; readonly path: string } | null = null;
  #made = 0;

  async obey(order: Order): Promise<RuntimePlace | null> {
    switch (order.kind) {
      case 'start':
        return this.#start(order.options);
      case 'make-garbage':
        await this.#makeGarbage(order.bytes);
        return null;
      case 'write': {
        const path = join(this.#started().diskPath, 'filler');
        const writer = this.#writers.start({
          path,
          format: 'raw',
          perSecond: order.bytesPerSecond,
          limit: null,
          onFull: 'stubborn',
          budget: null,
        });
        this.#writing = { writer, path };
        return null;
      }
      case 'stop-writing':
        await this.#stopWriting();
        return null;
      case 'close':
        await this.#stopWriting();
        await this.#writers.close();
        await this.#runtime?.close();
        return null;
    }
  }

  async #start(options: Extract<Order, { kind: 'start' }>['options']): Promise<RuntimePlace> {
    const runtime = await startEmbeddedRuntime(options);
    this.#runtime = runtime;
    await runtime.importImage({ name: IMAGE, layers: [{ seed: 'app', bytes: MIB }] });
    tellRemovals(runtime);
    return {
      endpoint: runtime.endpoint,
      sandboxImage: runtime.sandboxImage,
      diskPath: runtime.diskPath,
      nodePath: runtime.disks.node.path,
      logsPath: runtime.logsPath,
      diskKind: runtime.disks.image.kind,
      description: runtime.describe(),
    };
  }

  async #makeGarbage(bytes: number): Promise<void> {
    const runtime = this.#started();
    this.#made += 1;
    const command = ['dd', 'if=/dev/urandom', 'of=/result', `bs=${bytes}`, 'count=1'];
    const pod = await runtime.startPod({
      name: `job-${this.#made}`,
      containers: [{ name: 'job', image: IMAGE, command }],
    });
    const client = new RuntimeServiceClient(runtime.endpoint, credentials.createInsecure());
    try {
      await waitFor('the job end', 10_000, async () => {
        const { containers } = await call(client, RuntimeServiceService.listContainers, { filter: undefined });
        const job = containers.find(({ id }) => id === pod.containerIds['job']);
        return job?.state === ContainerState.CONTAINER_EXITED || undefined;
      });
    } finally {
      client.close();
    }
  }

  async #stopWriting(): Promise<void> {
    const writing = this.#writing;
    this.#writing = null;
    if (writing === null) return;
    await writing.writer.stop();
    await rm(writing.path, { force: true });
  }

  #started(): EmbeddedRuntime {
    if (this.#runtime === null) throw new Error('Cannot obey as the runtime must be started first: none');
    return this.#runtime;
  }
}

/** Faults are the first thing that every call meets, so that is where arrivals are heard. */
function tellRemovals({ faults }: EmbeddedRuntime): void {
  const before = faults.before.bind(faults);
  faults.before = (name, id, signal) => {
    if (name.startsWith('Remove')) tell({ kind: 'removal', call: name, at: process.hrtime.bigint() });
    return before(name, id, signal);
  };
}

function tell(tidings: Tidings): void {
  process.send?.(tidings);
}

const host = new Host();
process.on('message', (order: Order) => {
  host.obey(order).then(
    (runtime) => tell({ kind: 'done', number: order.number, runtime }),
    (error: unknown) => tell({ kind: 'failed', number: order.number, message: String(error) }),
  );
});
// Whoever started us is gone: the disk must not outlive it.
process.once('disconnect', () => {
  void host.obey({ kind: 'close', number: 0 }).finally(() => process.exit());
});
