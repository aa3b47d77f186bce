import type { EventSourceMessage } from 'eventsource-parser';
import { ClientError } from './errors.ts';

/** A message of an event stream. `data` is its JSON; a stream that resumes with `id` begins with the next message. */
export interface StreamMessage<T> {
  id: string;
  data: T;
}

/** The server has closed a stream because the key was revoked or has expired. */
export class StreamClosed extends ClientError {
  /** The reason that the server gives. */
  readonly reason: string;

  constructor(reason: string) {
    super('unauthenticated', `The stream was closed: ${reason}.`);
    this.name = 'StreamClosed';
    this.reason = reason;
  }
}

/** Where {@link follow} begins, and how long it retries. */
export interface FollowOptions {
  /** Id of the last known message. Default: the stream begins at its first message. */
  after?: string | undefined;
  /** Ends the stream without an error. */
  signal?: AbortSignal | undefined;
  /** True for an error that a new connection would meet again; it is thrown at once. Default: never. */
  isFatal?: (error: unknown) => boolean;
  /** After this time without an answer the last error is thrown. Default: 60 seconds. */
  patienceMs?: number;
  /** Time between two connections. Default: 500 ms. */
  pauseMs?: number;
  /**
   * A connection on which nothing arrives for this time is replaced, because it may be half open. The server sends a
   * heartbeat every 15 seconds. Default: 45 seconds.
   */
  silenceMs?: number;
}

/**
 * The messages of an event stream, each once and in order, over any number of connections: a broken one is opened again after
 * the last id. The stream ends with its `end` event, with an answer of 204, or with `signal`. Throws {@link StreamClosed} if
 * the server closes it.
 *
 * `open` opens a connection with these headers. It throws unless the answer is 200 or 204.
 */
export async function* follow<T>(
  open: (headers: Record<string, string>, signal: AbortSignal) => Promise<Response>,
  options: FollowOptions = {},
): AsyncIterable<StreamMessage<T>> {
  const { isFatal = () => false, patienceMs = 60_000, pauseMs = 500, silenceMs = 45_000 } = options;
  const signal = options.signal ?? new AbortController().signal;
  // Most callers of the client follow no stream.
  const { createParser } = await import('eventsource-parser');
  let last = options.after;
  let silentSince = 0;
  while (!signal.aborted) {
    try {
      const resume = last === undefined ? {} : { 'last-event-id': last };
      const silence = new AbortController();
      const response = await open(
        { accept: 'text/event-stream', ...resume },
        AbortSignal.any([signal, silence.signal]),
      );
      silentSince = 0;
      if (response.status === 204 || response.body === null) return;
      const messages: EventSourceMessage[] = [];
      const parser = createParser({ onEvent: (message) => void messages.push(message) });
      const decoder = new TextDecoder();
      for await (const chunk of chunksOf(response.body, silence, silenceMs)) {
        parser.feed(decoder.decode(chunk, { stream: true }));
        for (const message of messages.splice(0)) {
          if (message.event === 'end') return;
          if (message.event === 'closed')
            throw new StreamClosed((JSON.parse(message.data) as { reason: string }).reason);
          if (message.id === undefined) continue;
          last = message.id;
          // It only carries the id at which the stream begins.
          if (message.event === 'start') continue;
          yield { id: message.id, data: JSON.parse(message.data) as T };
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof StreamClosed || isFatal(error)) throw error;
      silentSince ||= performance.now();
      if (performance.now() - silentSince > patienceMs) throw error;
    }
    await pause(pauseMs, signal);
  }
}

/** The chunks of a body. Aborts `silence`, which ends the connection, if none arrives for `silenceMs`. */
async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  silence: AbortController,
  silenceMs: number,
): AsyncIterable<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const timer = setTimeout(
        () => silence.abort(new Error(`nothing arrived for ${silenceMs} ms`)),
        silenceMs,
      );
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  } finally {
    // The caller may leave before the end of the stream.
    reader.cancel().catch(() => {});
  }
}

/** Ends early with `signal`. Without modules of Node: browsers run this too. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
