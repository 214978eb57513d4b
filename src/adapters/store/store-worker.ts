/** The program of the thread that reads and writes the state file, one request after the other. */
import { parentPort, workerData } from 'node:worker_threads';
import { StateFile, StateFileError } from './state-file.js';
import type { FileChoice, StoreRequest, StoreResponse } from './store-protocol.js';

const file = new StateFile(workerData as FileChoice); // given by the only one who starts this

function perform(request: StoreRequest): StoreResponse {
  switch (request.kind) {
    case 'open':
      return { kind: 'opened', ...file.open() };
    case 'write':
      return { kind: 'written', begunAnew: file.write(request.entries, request.anew) };
    case 'close':
      file.close();
      return { kind: 'closed' };
  }
}

parentPort?.on('message', (request: StoreRequest) => {
  let response: StoreResponse;
  try {
    response = perform(request);
  } catch (error) {
    const isFull = error instanceof StateFileError && error.isFull;
    response = { kind: 'failed', message: error instanceof Error ? error.message : String(error), isFull };
  }
  parentPort?.postMessage(response);
  if (request.kind === 'close') parentPort?.close();
});
