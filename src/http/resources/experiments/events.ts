import { Type } from 'typebox';
import type { StreamEntry } from '../../../core/events.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { compareIds } from '../../../store/archive/archive-segments.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { createFanOut, type Source } from '../../server/fan-out.ts';
import { route } from '../../server/route.ts';
import { formatEntry } from '../../server/sse.ts';
import type { Streams } from '../../server/streams.ts';
import { AfterParam, ExperimentParams, experimentOf, streamPlace } from '../common.ts';

/** GET /v1/experiments/:id/events: the experiment's stream as server-sent events. */
export function addEvents(app: App, { store, limits }: RouteDeps, streams: Streams): void {
  const fanOut = createFanOut<StreamEntry>({
    compare: compareIds,
    encode: formatEntry,
    bufferBytes: limits.streamBufferBytes,
  });
  route(app, {
    at: 'GET /v1/experiments/:id/events',
    operationId: 'streamEvents',
    summary: 'Stream the events of an experiment (server-sent events)',
    description:
      'The `id` of each event is its stream id. Send the last one as Last-Event-ID (or `after`) to continue without loss or repetition. After the last event of an ended experiment, the stream sends `end`; reconnect if it stops without one. Status 204 means that there is nothing more. If the API key becomes invalid, the last event is `closed`, with the reason.',
    tag: 'streams',
    params: ExperimentParams,
    querystring: StrictObject({ after: AfterParam }),
    headers: Type.Object({
      'last-event-id': Type.Optional(
        Text('Stream id after which to continue. Takes precedence over `after`.'),
      ),
    }),
    answers: {
      200: {
        description: 'Stream of events; `data` of each is an EventMessage.',
        content: { 'text/event-stream': { schema: { $ref: 'EventMessage#' } } },
      },
      204: { type: 'null', description: 'The experiment has ended and there is no later event.' },
    },
    problems: ['not-found', 'invalid-cursor'],
    options: { exposeHeadRoute: false },
    handler: async (request, reply) => {
      const experiment = await experimentOf(store, request, request.params.id);
      const header = request.headers['last-event-id'];
      const after = header
        ? streamPlace({ value: header, field: 'Last-Event-ID', experiment })
        : streamPlace({ value: request.query.after, field: 'after', experiment });
      // EventSource reconnects forever after a stream ended, unless it gets 204.
      if (after !== undefined && (await store.events.isOver(experiment.id))) {
        const rest = await store.events.read(experiment.id, after, 1);
        if (rest.length === 0) return reply.code(204).send(null);
      }
      return streams.send(request, reply, {
        frames: (signal) =>
          fanOut.frames(experiment.id, { source: sourceOf(store, experiment.id), after, signal }),
        what: { experiment: experiment.id },
      });
    },
  });
}

function sourceOf(store: RouteDeps['store'], id: string): Source<StreamEntry> {
  return {
    newest: async () => (await store.events.tail(id, 1))[0]?.id,
    read: (after, limit) => store.events.read(id, after, limit),
    follow: (after, signal) => store.events.follow(id, after, signal),
  };
}
