import { RuntimeError } from '../../ports/runtime.js';
import type { CallOptions, Connection, Method } from './connection.js';

/** The two ways to one list. Both take the same (empty) filter. */
export interface ListCalls<StreamRequest, StreamResponse, ListRequest, ListResponse, Item> {
  readonly stream: Method<StreamRequest, StreamResponse>;
  readonly unary: Method<ListRequest, ListResponse>;
  readonly request: StreamRequest & ListRequest;
  readonly ofStream: (message: StreamResponse) => readonly Item[];
  readonly ofUnary: (message: ListResponse) => readonly Item[];
}

/** Fetches a whole list, or rejects with a `RuntimeError`: never a part of one. */
export type FetchList<Item> = <Kept>(toRecord: (item: Item) => Kept, options: CallOptions) => Promise<readonly Kept[]>;

/**
 * A list that is fetched by stream where the runtime has one, since a unary answer ends at the message limit (some 16,000
 * containers at 16 MiB). A runtime without it says UNIMPLEMENTED at the first receive, which is an answer: it is remembered
 * until the connection is lost, as a runtime may come back as a newer one.
 */
export function streamedList<StreamRequest, StreamResponse, ListRequest, ListResponse, Item>(
  connection: Connection,
  calls: ListCalls<StreamRequest, StreamResponse, ListRequest, ListResponse, Item>,
): FetchList<Item> {
  let withoutStreamIn: number | null = null;
  return async <Kept>(toRecord: (item: Item) => Kept, options: CallOptions) => {
    const records: Kept[] = [];
    const take = (items: readonly Item[]) => {
      for (const item of items) records.push(toRecord(item));
    };
    if (withoutStreamIn !== connection.generation()) {
      try {
        for await (const message of connection.stream(calls.stream, calls.request, options))
          take(calls.ofStream(message));
        return records;
      } catch (error) {
        const isAnswer = error instanceof RuntimeError && error.kind === 'unimplemented' && records.length === 0;
        if (!isAnswer) throw error;
        withoutStreamIn = connection.generation();
      }
    }
    take(calls.ofUnary(await connection.unary(calls.unary, calls.request, options)));
    return records;
  };
}
