import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { Exchange } from './exchange.ts';
import type { DataRequest, DataResponse } from './protocol.ts';

/** The stream that carries a session. */
export type DataStream = ClientDuplexStream<DataRequest, DataResponse>;

/** More than this is not handed to the transport before some of it has gone out. */
const MAX_IN_FLIGHT_BYTES = 16 * 2 ** 20;

/**
 * The one writer of a data stream: exchanges go out one after the other, each whole, so that the chunks of one
 * are never mixed with another's. It belongs to one stream; after a reconnect there is a new writer.
 */
export class DataWriter {
  readonly #stream: DataStream;
  readonly #chunkBytes: () => number;
  readonly #queue: (Exchange | DataRequest)[] = [];
  #head = 0;
  #chunk = 0;
  #inFlightBytes = 0;
  #stopped = false;

  constructor(stream: DataStream, chunkBytes: () => number) {
    this.#stream = stream;
    this.#chunkBytes = chunkBytes;
  }

  /** Queues an exchange, or a message that gets no answer. */
  enqueue(item: Exchange | DataRequest): void {
    this.#queue.push(item);
    this.#pump();
  }

  /** Writes nothing more, finished or not. */
  stop(): void {
    this.#stopped = true;
  }

  #pump(): void {
    while (!this.#stopped && this.#inFlightBytes < MAX_IN_FLIGHT_BYTES) {
      const item = this.#queue[this.#head];
      if (item === undefined) return;
      if (!('messageCount' in item)) {
        this.#write(item, 0);
        this.#advance();
        continue;
      }
      const chunkBytes = this.#chunkBytes();
      const bytes = 'data' in item.question ? Math.min(item.question.data.length, chunkBytes) : 0;
      this.#write(item.message(this.#chunk, chunkBytes), bytes);
      if (++this.#chunk >= item.messageCount(chunkBytes)) this.#advance();
    }
  }

  #advance(): void {
    this.#chunk = 0;
    this.#head++;
    if (this.#head < 1024 && this.#head < this.#queue.length) return;
    this.#queue.splice(0, this.#head);
    this.#head = 0;
  }

  #write(message: DataRequest, bytes: number): void {
    // Small messages count as well: the buffer of a blocked stream must not grow without bound.
    const weight = bytes + 1024;
    this.#inFlightBytes += weight;
    this.#stream.write(message, () => {
      this.#inFlightBytes -= weight;
      this.#pump();
    });
  }
}
