import { setTimeout as delay } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ClientError } from './errors.ts';

/** A message of an event stream: `id` resumes behind it, `data` is its JSON. */
export interface StreamMessage<T> {
  id: string;
  data: T;
}

/** The server has ended a stream for good: the key was revoked or has expired. */
export class StreamClosed extends ClientError {
  /** Why, in the server's words. */
  readonly reason: string;

  constructor(reason: string) {
    super('unauthenticated', `The stream was closed: ${reason}.`);
    this.name = 'StreamClosed';
    this.reason = reason;
  }
}

/** How {@link follow} goes on. */
export interface FollowOptions {
  /** Only what came behind this id; undefined: from the start. */
  after?: string | undefined;
  /** Ends the stream without an error. */
  signal?: AbortSignal | undefined;
  /** True for an error that a new connection would meet again; it is thrown at once. */
  isFatal?: (error: unknown) => boolean;
  /** A server that is silent for so long is given up, and the last error thrown. */
  patienceMs?: number;
  /** Between two connections. */
  pauseMs?: number;
}

/**
 * The messages of an event stream, each once and in order, over any number of connections: a broken one is made again
 * from the last id. Ends with the stream's `end` event, with an answer of 204, or with `signal`. Throws
 * {@link StreamClosed} where the server lets nobody go on.
 *
 * `open` makes a connection with these headers; it throws where there is no answer of 200 or 204.
 */
export async function* follow<T>(
  open: (headers: Record<string, string>, signal: AbortSignal) => Promise<Response>,
  options: FollowOptions = {},
): AsyncIterable<StreamMessage<T>> {
  const { isFatal = () => false, patienceMs = 60_000, pauseMs = 500 } = options;
  const signal = options.signal ?? new AbortController().signal;
  let last = options.after;
  let silentSince = 0;
  while (!signal.aborted) {
    try {
      const resume = last === undefined ? {} : { 'last-event-id': last };
      const response = await open({ accept: 'text/event-stream', ...resume }, signal);
      silentSince = 0;
      if (response.status === 204 || response.body === null) return;
      const messages = response.body
        .pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream());
      for await (const message of messages) {
        if (message.event === 'end') return;
        if (message.event === 'closed')
          throw new StreamClosed((JSON.parse(message.data) as { reason: string }).reason);
        if (message.id === undefined) continue;
        last = message.id;
        // It only says where the stream begins.
        if (message.event === 'start') continue;
        yield { id: message.id, data: JSON.parse(message.data) as T };
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof StreamClosed || isFatal(error)) throw error;
      silentSince ||= Date.now();
      if (Date.now() - silentSince > patienceMs) throw error;
    }
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
