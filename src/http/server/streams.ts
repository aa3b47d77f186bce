import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { holderOf } from '../../core/scopes.ts';
import type { App, RouteDeps } from './deps.ts';
import { createSlots } from './slots.ts';
import { sendEvents } from './sse.ts';

/** Answers requests by streams of server-sent events, within the limits that all of them share. */
export interface Streams {
  /**
   * Takes a place among the caller's open streams for an answer that lasts as long as its client reads. Throws
   * EchelonError `rate-limited` if the caller has too many open.
   */
  take(request: FastifyRequest): Place;
  /**
   * Takes a place among the caller's open streams and answers with these frames; resolves when the stream has ended.
   * Throws EchelonError `rate-limited` if the caller has too many open. `what` names the stream in the log.
   */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    stream: {
      frames: (signal: AbortSignal) => AsyncIterable<{ bytes: Buffer }>;
      what: Record<string, string | null>;
    },
  ): Promise<FastifyReply>;
}

/** The place of one open stream. */
export interface Place {
  /** Aborts when the caller may no longer read: the key or the session has ended. Its reason is a sentence. */
  refused: AbortSignal;
  /** Gives the place back. */
  release(): void;
}

/** The streams of one app; they end when it closes. */
export function createStreams(app: App, { limits, log, callers }: RouteDeps): Streams {
  const closing = new AbortController();
  const slots = createSlots(
    limits.streams,
    `No more than ${limits.streams} event streams at once; close one first.`,
    {
      most: limits.allStreams,
      refusal: `This server has ${limits.allStreams} event streams open, its most; try later.`,
    },
  );
  app.addHook('preClose', async () => closing.abort());

  function take(request: FastifyRequest): Place {
    const giveBack = slots.take(holderOf(request.caller));
    const watch = callers.watch(request);
    return {
      refused: watch.signal,
      release() {
        giveBack();
        watch.release();
      },
    };
  }

  return {
    take,
    async send(request, reply, { frames, what }) {
      const { refused, release } = take(request);
      try {
        reply.hijack();
        reply.raw.writeHead(200, {
          ...(reply.getHeaders() as OutgoingHttpHeaders),
          'content-type': 'text/event-stream; charset=utf-8',
          'x-accel-buffering': 'no',
          // A stream that has ended must not keep a server from closing.
          connection: 'close',
        });
        const { end, error } = await sendEvents({
          response: reply.raw,
          frames,
          closing: closing.signal,
          refused,
          heartbeatMs: limits.heartbeatMs,
          stallMs: limits.stallMs,
          bufferBytes: limits.streamBufferBytes,
        });
        if (end === 'failed') log.warn({ err: error, ...what }, 'event stream interrupted');
        if (end === 'stalled') log.info(what, 'event stream cut: the client did not read');
      } finally {
        release();
      }
      return reply;
    },
  };
}
