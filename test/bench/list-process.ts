import { setTimeout as delay } from 'node:timers/promises';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { connectRuntime, DEFAULT_MAX_MESSAGE_BYTES } from '../../src/adapters/cri/client.js';
import { systemClock } from '../../src/adapters/host/clock.js';
import { ListContainersRequest, ListContainersResponse, RuntimeServiceService } from '../../src/proto/generated/cri.js';
import type { ListMemory, ListTask, ListTimes } from './list-protocol.js';
import { memory } from './process-numbers.js';

// The program of a fresh process that lists containers; started by rows/list.ts.

/** Between two lists, so that the collector gets the pauses that it gets in the daemon. */
const PAUSE_MS = 100;
/** What the daemon rests between two lists where the runtime has no events. */
const SHORT_REST_MS = 10_000;
/** V8 shrinks the heap of an idle process some 20 s after its last collection. With events the daemon rests five minutes. */
const LONG_REST_MS = 30_000;
const WARM_UP = 3;

const [endpoint, task, rounds] = process.argv.slice(2) as [string, ListTask, string]; // given by rows/list.ts
const clock = systemClock();
const answer = task === 'time' ? await measureTimes(Number(rounds)) : await measureMemory(Number(rounds));
process.send?.(answer);
process.disconnect();

async function measureTimes(times: number): Promise<ListTimes> {
  const runtime = connectRuntime({ endpoint, now: () => clock.wall() });
  const client = new Client(endpoint, credentials.createInsecure(), {
    'grpc.max_receive_message_length': DEFAULT_MAX_MESSAGE_BYTES,
  });
  const listed: number[] = [];
  const raw: number[] = [];
  let containers = 0;
  let bytes = 0;
  for (let round = 0; round < times + WARM_UP; round += 1) {
    const list = await timed(() => runtime.listContainers());
    const received = await timed(async () => {
      const buffer = await receiveRaw(client);
      return { size: buffer.length, message: ListContainersResponse.decode(buffer) };
    });
    containers = list.result.length;
    bytes = received.result.size;
    if (received.result.message.containers.length !== containers)
      throw new Error(`Cannot compare the two ways as both must list alike: ${containers}`);
    if (round >= WARM_UP) {
      listed.push(list.ms);
      raw.push(received.ms);
    }
    await delay(PAUSE_MS);
  }
  client.close();
  await runtime.close();
  return { kind: 'time', listed, raw, containers, bytes };
}

async function measureMemory(times: number): Promise<ListMemory> {
  const runtime = connectRuntime({ endpoint, now: () => clock.wall() });
  let containers = 0;
  for (let round = 0; round < times; round += 1) {
    containers = (await runtime.listContainers()).length;
    await delay(PAUSE_MS);
  }
  await delay(SHORT_REST_MS);
  const shortly = memory('self').resident;
  await delay(LONG_REST_MS - SHORT_REST_MS);
  const { peak, resident } = memory('self');
  await runtime.close();
  return { kind: 'memory', peak, shortly, idle: resident, containers };
}

async function timed<T>(job: () => Promise<T>): Promise<{ readonly result: T; readonly ms: number }> {
  const before = performance.now();
  const result = await job();
  return { result, ms: performance.now() - before };
}

/** The answer's bytes as they came. */
function receiveRaw(client: Client): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      RuntimeServiceService.listContainers.path,
      (request: ListContainersRequest) => Buffer.from(ListContainersRequest.encode(request).finish()),
      (buffer) => buffer,
      { filter: undefined },
      new Metadata(),
      {},
      (error, buffer) => {
        if (error !== null) reject(error);
        else if (buffer === undefined) reject(new Error('Cannot receive a list as the answer is empty'));
        else resolve(buffer);
      },
    );
  });
}
