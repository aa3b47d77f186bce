import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** How a stream of events came to its end. */
export type StreamEnd = 'complete' | 'gone' | 'stalled' | 'failed' | 'refused';

export interface EventStreamOptions {
  /** The response; its head must have been written. */
  response: ServerResponse;
  /** The entries as they are sent, one or several together, until they are complete or the signal aborts. */
  frames: (signal: AbortSignal) => AsyncIterable<{ bytes: Buffer }>;
  /** Aborts when the server shuts down: the client comes back elsewhere with its cursor. */
  closing: AbortSignal;
  /** Aborts when the client may no longer read; its reason, a sentence, is sent as the last event, `closed`. */
  refused?: AbortSignal;
  heartbeatMs: number;
  stallMs: number;
  bufferBytes: number;
}

/**
 * Sends entries as server-sent events and ends the response. Frames are taken one by one, as the client reads them, so at most
 * `bufferBytes` and one frame wait for a slow client. A client that reads nothing for `stallMs` is cut, and continues from its
 * last id; if less than `bufferBytes` waits, each heartbeat checks this. A complete stream ends with an `end` event.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the steps of one stream, each of which may be its last
export async function sendEvents(options: EventStreamOptions): Promise<{ end: StreamEnd; error?: unknown }> {
  const { response, bufferBytes, stallMs } = options;
  const gone = new AbortController();
  const onClose = () => gone.abort();
  response.on('close', onClose);
  // A write to a connection that was cut; 'close' follows.
  response.on('error', () => {});
  const refused = options.refused ?? new AbortController().signal;
  const signal = AbortSignal.any([gone.signal, options.closing, refused]);
  let sent = 0;
  let isStalled = false;
  const isStuck = watchProgress(stallMs);
  const heartbeat = setInterval(() => {
    const waiting = response.writableLength;
    // The buffered data may be too little for the loop below to notice, and nothing else may come for hours.
    isStalled = isStuck({ waiting, taken: sent - waiting });
    if (isStalled) response.destroy();
    else if (waiting === 0) response.write(':\n\n');
  }, options.heartbeatMs);
  try {
    response.write(`retry: ${retryMs()}\n\n`);
    for await (const { bytes } of options.frames(signal)) {
      if (signal.aborted) break;
      response.write(bytes);
      sent += bytes.length;
      if (
        response.writableNeedDrain &&
        response.writableLength > bufferBytes &&
        !(await drained(response, stallMs, signal))
      ) {
        response.destroy();
        return { end: 'stalled' };
      }
    }
    if (isStalled) return { end: 'stalled' };
    if (gone.signal.aborted) return { end: 'gone' };
    if (refused.aborted) return await refuse(response, refused, stallMs);
    if (!options.closing.aborted) response.write('event: end\ndata: {}\n\n');
    await finish(response, stallMs);
    return { end: 'complete' };
  } catch (error) {
    if (refused.aborted && !gone.signal.aborted) return await refuse(response, refused, stallMs);
    if (signal.aborted) return { end: 'gone' };
    // Without an `end` event the client comes back and asks for what it misses.
    response.end(': interrupted\n\n');
    return { end: 'failed', error };
  } finally {
    clearInterval(heartbeat);
    response.off('close', onClose);
    if (options.closing.aborted) response.end();
  }
}

/** When a client comes back: not all at one moment, since a server that restarts had thousands of them. */
function retryMs(): number {
  return 1000 + Math.floor(Math.random() * 3000);
}

/** True if something waits and the client has read nothing for `stallMs` since this was first asked. */
function watchProgress(stallMs: number) {
  let stuck: { taken: number; since: number } | undefined;
  return ({ waiting, taken }: { waiting: number; taken: number }): boolean => {
    if (waiting === 0) stuck = undefined;
    else if (stuck === undefined || taken > stuck.taken) stuck = { taken, since: performance.now() };
    return stuck !== undefined && performance.now() - stuck.since >= stallMs;
  };
}

/** Long enough for a client that reads; the bytes for one that does not are gone then. */
const REFUSE_MS = 2000;

/** Sends the reason and ends the stream. A client that reconnects gets 401. */
async function refuse(response: ServerResponse, { reason }: AbortSignal, stallMs: number) {
  response.write(`event: closed\ndata: ${JSON.stringify({ reason: String(reason) })}\n\n`);
  await finish(response, Math.min(stallMs, REFUSE_MS));
  return { end: 'refused' } as const;
}

/** An entry as a server-sent event; JSON has no line breaks, so `data` is one line. */
export function formatEntry(entry: { id: string; event: { type: string } }): string {
  return `id: ${entry.id}\nevent: ${entry.event.type}\ndata: ${JSON.stringify(entry)}\n\n`;
}

/** Waits until the client has read the buffered data; false if it has not within `stallMs`. */
async function drained(response: ServerResponse, stallMs: number, signal: AbortSignal): Promise<boolean> {
  try {
    await once(response, 'drain', { signal: AbortSignal.any([signal, AbortSignal.timeout(stallMs)]) });
    return true;
  } catch {
    return signal.aborted;
  }
}

/** Ends the response; one that cannot get rid of its last bytes is destroyed, so that no socket is kept for it. */
async function finish(response: ServerResponse, stallMs: number): Promise<void> {
  response.end();
  if (response.writableFinished || response.closed) return;
  try {
    await once(response, 'close', { signal: AbortSignal.timeout(stallMs) });
  } catch {
    response.destroy();
  }
}
