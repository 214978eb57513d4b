import { RuntimeError, type RuntimeEvent } from '../../ports/runtime.js';
import { type ContainerEventResponse, RuntimeServiceService } from '../../proto/generated/cri.js';
import type { Connection } from './connection.js';

/** By number in the protocol. */
const KINDS: readonly RuntimeEvent['kind'][] = ['created', 'started', 'stopped', 'deleted'];

/**
 * Lifecycle events, `subscribed` first. Ends quietly where the runtime has none and when `signal` aborts; throws a
 * `RuntimeError` when the stream breaks, which also an orderly end is: the runtime goes down.
 *
 * A stream without events sends nothing, not even headers, so its opening cannot be seen. `probe` (a unary call on the same
 * connection, made after it) tells: when that is answered, the runtime has read the subscription too.
 */
export async function* containerEvents(
  connection: Connection,
  probe: (signal: AbortSignal) => Promise<unknown>,
  signal: AbortSignal,
): AsyncGenerator<RuntimeEvent, void, undefined> {
  const ended = new AbortController();
  const end = () => ended.abort();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const options = { timeout: null, signal: ended.signal };
  const stream = connection.stream(RuntimeServiceService.getContainerEvents, {}, options);
  try {
    const first = stream.next();
    const probed = probe(ended.signal);
    // Both are awaited below; should one fail while the other is awaited, that is not unhandled.
    first.catch(() => undefined);
    probed.catch(() => undefined);
    try {
      await Promise.race([first, probed]);
      yield { id: '', kind: 'subscribed' };
      for (let next = await first; next.done !== true; next = await stream.next()) yield eventOf(next.value);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof RuntimeError) || error.kind !== 'unimplemented') throw error;
      // "No events" is only an answer of something that speaks CRI.
      await probed;
      return;
    }
  } finally {
    signal.removeEventListener('abort', end);
    // First the call, then the generator: it waits for the next message as long as the call lives.
    end();
    await stream.return();
  }
  if (signal.aborted) return;
  throw new RuntimeError(`Cannot follow container events as the runtime ended the stream: ${connection.endpoint.url}`, {
    kind: 'unavailable',
    call: 'GetContainerEvents',
  });
}

function eventOf(message: ContainerEventResponse): RuntimeEvent {
  // An event of a kind that is not known yet is still a reason to list again.
  return { id: message.containerId, kind: KINDS[message.containerEventType] ?? 'created' };
}
