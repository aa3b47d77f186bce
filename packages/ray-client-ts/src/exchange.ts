import { ChunkAssembler, chunkAt, chunkCount } from './chunks.ts';
import { deferred } from './deferred.ts';
import { RayRequestError } from './errors.ts';
import { errorFromPickle } from './exceptions.ts';
import type { ClientTask, DataRequest, DataResponse } from './protocol.ts';

/** A question on the data path, before it has an id. */
export type Question =
  | { readonly kind: 'init'; readonly init: NonNullable<DataRequest['init']> }
  | { readonly kind: 'info' }
  | { readonly kind: 'put'; readonly data: Uint8Array }
  | { readonly kind: 'task'; readonly task: ClientTask; readonly data: Uint8Array }
  | { readonly kind: 'get'; readonly id: Uint8Array }
  | { readonly kind: 'release'; readonly ids: Uint8Array[] }
  | { readonly kind: 'terminate'; readonly terminate: NonNullable<DataRequest['terminate']> }
  | { readonly kind: 'actors'; readonly allNamespaces: boolean };

/** Largest message that is ever sent whole: far below the 2 GiB at which servers refuse. */
export const WHOLE_MESSAGE_BYTES = 2 ** 30;

/**
 * One question on the data path, from the queue to its answer. It can be written again, whole, after a
 * reconnect: the messages are made anew each time, under the same id.
 */
export class Exchange {
  readonly reqId: number;
  readonly question: Question;
  readonly answer: Promise<DataResponse | Uint8Array>;
  /** True if no caller waits any more. It is then not repeated after a reconnect. */
  abandoned = false;
  readonly #assembler = new ChunkAssembler();
  readonly #resolve: (answer: DataResponse | Uint8Array) => void;
  readonly #reject: (error: Error) => void;

  constructor(reqId: number, question: Question) {
    const { promise, resolve, reject } = deferred<DataResponse | Uint8Array>();
    this.reqId = reqId;
    this.question = question;
    this.answer = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    // A waiting caller sees the rejection. Without one (a release), it does not matter.
    promise.catch(() => {});
  }

  /** Whether the server retains the answer until it is acknowledged. It never retains the answer to a get. */
  get isCached(): boolean {
    return this.question.kind !== 'get';
  }

  /** How many messages the question takes. */
  messageCount(chunkBytes: number): number {
    const { question } = this;
    return 'data' in question ? chunkCount(question.data.length, chunkBytes) : 1;
  }

  /** The message `index` of the question. */
  message(index: number, chunkBytes: number): DataRequest {
    return { req_id: this.reqId, ...this.#body(index, chunkBytes) };
  }

  #body(index: number, chunkBytes: number): DataRequest {
    const { question } = this;
    switch (question.kind) {
      case 'init':
        return { init: question.init };
      case 'info':
        return { connection_info: {} };
      case 'put':
        return { put: { ...chunk(question.data, index, chunkBytes), total_size: question.data.length } };
      case 'task':
        return { task: { ...question.task, ...chunk(question.data, index, chunkBytes) } };
      case 'get':
        return { get: { ids: [question.id], asynchronous: true, start_chunk_id: this.#assembler.next } };
      case 'release':
        return { release: { ids: question.ids } };
      case 'terminate':
        return { terminate: question.terminate };
      case 'actors':
        return { list_named_actors: { all_namespaces: question.allNamespaces } };
    }
  }

  /** Takes a reply; true once the question is answered. */
  accept(response: DataResponse): boolean {
    if (this.question.kind !== 'get') {
      this.#resolve(response);
      return true;
    }
    return this.#acceptChunk(response);
  }

  #acceptChunk({ get }: DataResponse): boolean {
    if (get?.valid !== true) {
      const error = get?.error;
      this.#reject(
        error instanceof Uint8Array && error.length > 0
          ? errorFromPickle(error, 'get')
          : new RayRequestError(2, 'get failed without a reason'),
      );
      return true;
    }
    try {
      const data = this.#assembler.add(get);
      if (data === undefined) return false;
      this.#resolve(data);
    } catch (error) {
      this.#reject(error as Error);
    }
    return true;
  }

  /** Ends the question without an answer. */
  fail(error: Error): void {
    this.#reject(error);
  }
}

function chunk(
  data: Uint8Array,
  index: number,
  chunkBytes: number,
): { data: Uint8Array; chunk_id: number; total_chunks: number } {
  return {
    data: chunkAt(data, index, chunkBytes),
    chunk_id: index,
    total_chunks: chunkCount(data.length, chunkBytes),
  };
}
