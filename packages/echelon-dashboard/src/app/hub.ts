import { refusal } from 'echelon-client/errors';
import { follow } from 'echelon-client/follow';

/** An event of a stream, or how its connection is. */
export type Told =
  | { path: string; kind: 'event'; id: string; data: unknown }
  | { path: string; kind: 'state'; state: StreamState; reason: string };

/** `live`: connected. `broken`: tried again. `ended`: complete. `refused`: not tried again. */
export type StreamState = 'connecting' | 'live' | 'broken' | 'ended' | 'refused';

/** What a page asks of the hub. `after` only counts for the first page that asks for a stream. */
export type Asked = { kind: 'open' | 'close'; path: string; after?: string | undefined };

interface Stream {
  stop: AbortController;
  listeners: Set<(told: Told) => void>;
  last: Told | undefined;
}

/** One connection for each event stream, however many listeners it has; resumed after its last id. */
export function createHub() {
  const streams = new Map<string, Stream>();

  async function run(path: string, stream: Stream, after: string | undefined): Promise<void> {
    const tell = (told: Told) => {
      if (told.kind === 'state') stream.last = told;
      for (const listener of stream.listeners) listener(told);
    };
    const state = (to: StreamState, reason = '') => tell({ path, kind: 'state', state: to, reason });
    const open = async (headers: Record<string, string>, signal: AbortSignal) => {
      const response = await fetch(path, { headers, signal }).catch((error: Error) => {
        if (!signal.aborted) state('broken', error.message);
        throw error;
      });
      if (!response.ok) {
        const error = await refusal(response);
        if (response.status >= 500) state('broken', error.message);
        throw Object.assign(error, { isFinal: response.status < 500 && response.status !== 429 });
      }
      state('live');
      return response;
    };
    try {
      const isFatal = (error: unknown) => (error as { isFinal?: boolean }).isFinal === true;
      const options = { after, signal: stream.stop.signal, isFatal, patienceMs: Number.POSITIVE_INFINITY };
      for await (const { id, data } of follow<unknown>(open, { ...options, pauseMs: 1500 })) {
        tell({ path, kind: 'event', id, data });
      }
      state('ended');
    } catch (error) {
      state('refused', (error as Error).message);
    }
    // Its successor is there already if it was closed and opened again.
    if (streams.get(path) === stream) streams.delete(path);
  }

  return {
    open({ path, after }: Asked, listener: (told: Told) => void): void {
      let stream = streams.get(path);
      if (stream === undefined) {
        stream = { stop: new AbortController(), listeners: new Set(), last: undefined };
        streams.set(path, stream);
        stream.listeners.add(listener);
        void run(path, stream, after);
      }
      stream.listeners.add(listener);
      if (stream.last !== undefined) listener(stream.last);
    },
    close({ path }: Asked, listener: (told: Told) => void): void {
      const stream = streams.get(path);
      stream?.listeners.delete(listener);
      if (stream?.listeners.size !== 0) return;
      stream.stop.abort();
      streams.delete(path);
    },
  };
}
