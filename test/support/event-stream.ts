import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { TOKEN } from './http-app.ts';
import type { Scope } from './store.ts';

/** After this time an event counts as missing: the test fails with a message and does not hang. */
const PATIENCE_MS = 60_000;

/** An open stream of server-sent events, as a test reads it. */
export interface OpenStream {
  response: Response;
  /** The next event; undefined when the stream has ended. Rejects, and closes the stream, if no event arrives. */
  next(): Promise<EventSourceMessage | undefined>;
  /** All events to the end of the stream. */
  rest(): Promise<EventSourceMessage[]>;
  /** Comments that have come so far. */
  comments: string[];
  close(): Promise<void>;
}

/** Opens an event stream with the token of the tests, or with the cookie in `headers`. */
export async function openStream(
  scope: Scope,
  url: string,
  headers: Record<string, string> = {},
): Promise<OpenStream> {
  const gone = new AbortController();
  const response = await fetch(url, {
    headers: { ...('cookie' in headers ? {} : { authorization: `Bearer ${TOKEN}` }), ...headers },
    signal: gone.signal,
  });
  scope.after(async () => gone.abort());
  const waiting: EventSourceMessage[] = [];
  const comments: string[] = [];
  const parser = createParser({
    onEvent: (event) => waiting.push(event),
    onComment: (comment) => comments.push(comment),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();

  let last = 'nothing';
  async function next(): Promise<EventSourceMessage | undefined> {
    const late = new Error(`no event came in ${PATIENCE_MS / 1000} s; the last was ${last}`);
    const timer = setTimeout(() => gone.abort(late), PATIENCE_MS);
    try {
      while (waiting.length === 0) {
        const chunk = await reader?.read();
        if (chunk === undefined || chunk.done) return undefined;
        parser.feed(chunk.value);
      }
    } finally {
      clearTimeout(timer);
    }
    const message = waiting.shift();
    last = `${message?.event} ${message?.id ?? ''}`;
    return message;
  }

  return {
    response,
    next,
    comments,
    async rest() {
      const events: EventSourceMessage[] = [];
      for (let event = await next(); event !== undefined; event = await next()) events.push(event);
      return events;
    },
    async close() {
      gone.abort();
    },
  };
}
