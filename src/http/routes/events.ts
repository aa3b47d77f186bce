import type { OutgoingHttpHeaders } from 'node:http';
import { Type } from 'typebox';
import { EchelonError } from '../../core/errors.ts';
import { isFinal } from '../../core/states.ts';
import type { App, RouteDeps } from '../deps.ts';
import { problems } from '../responses.ts';
import { sendEvents } from '../sse.ts';
import { AfterParam, ExperimentParams, experimentOf, streamPlace, strict } from './common.ts';

/** GET /v1/experiments/:id/events: the experiment's stream as server-sent events. */
export function addEvents(app: App, deps: RouteDeps): void {
  const { store, limits, log, callers } = deps;
  const closing = new AbortController();
  const open = new Map<string, number>();
  app.addHook('preClose', async () => closing.abort());

  app.get(
    '/v1/experiments/:id/events',
    {
      exposeHeadRoute: false,
      schema: {
        operationId: 'streamEvents',
        summary: 'Events as they arise (server-sent events)',
        description:
          'Each event has the stream id as its `id`. Send the last one back as Last-Event-ID (or `after`) to go on behind it: nothing is missed, nothing repeated. After the last event of an ended experiment comes an `end` event; a stream that stops without one is to be taken up again. 204: it has ended and you have everything. Where your key ends, the last event is `closed`, with the reason.',
        tags: ['streams'],
        params: ExperimentParams,
        querystring: Type.Object({ after: AfterParam }, strict),
        headers: Type.Object({
          'last-event-id': Type.Optional(Type.String({ description: 'Wins over `after`' })),
        }),
        response: {
          200: {
            description: 'A stream of events; `data` of each is an EventMessage',
            content: { 'text/event-stream': { schema: { $ref: 'EventMessage#' } } },
          },
          204: { type: 'null', description: 'The experiment has ended and there is no later event' },
          ...problems('not-found', 'invalid-cursor'),
        },
      },
    },
    async (request, reply) => {
      const experiment = await experimentOf(store, request, request.params.id);
      const header = request.headers['last-event-id'];
      const after = header
        ? streamPlace({ value: header, field: 'Last-Event-ID', experiment })
        : streamPlace({ value: request.query.after, field: 'after', experiment });
      // EventSource comes back for ever after a stream that ended, unless it is told 204.
      if (after !== undefined && isFinal(experiment.state) && experiment.verification.status === 'complete') {
        const rest = await store.read(experiment.id, after, 1);
        if (rest.length === 0) return reply.code(204).send(null);
      }
      const release = takeSlot(open, request.caller.id, limits.streams);
      const watch = callers.watch(request.credential);
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
          entries: (signal) => store.follow(experiment.id, after, signal),
          closing: closing.signal,
          refused: watch.signal,
          heartbeatMs: limits.heartbeatMs,
          stallMs: limits.stallMs,
          bufferBytes: limits.streamBufferBytes,
        });
        if (end === 'failed') log.warn({ err: error, experiment: experiment.id }, 'event stream interrupted');
        if (end === 'stalled')
          log.info({ experiment: experiment.id }, 'event stream cut: the client did not read');
      } finally {
        release();
        watch.release();
      }
      return reply;
    },
  );
}

/** Counts an open stream; the answer gives it back. Throws EchelonError `rate-limited` at the limit. */
function takeSlot(open: Map<string, number>, identity: string, most: number): () => void {
  const count = open.get(identity) ?? 0;
  if (count >= most) {
    throw new EchelonError('rate-limited', `No more than ${most} event streams at once; close one first.`);
  }
  open.set(identity, count + 1);
  return () => {
    const left = (open.get(identity) ?? 1) - 1;
    if (left === 0) open.delete(identity);
    else open.set(identity, left);
  };
}
