import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import type { FeedEntry } from '../../../core/events.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { projectOf } from '../../access/caller-projects.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { createFanOut, type Frame, type Source } from '../../server/fan-out.ts';
import { route } from '../../server/route.ts';
import { formatEntry } from '../../server/sse.ts';
import type { Streams } from '../../server/streams.ts';

const Query = StrictObject({
  after: Type.Optional(
    Text('Return only entries after this id; 0 starts with the first. Default: new entries only.'),
  ),
});
const Headers = Type.Object({
  'last-event-id': Type.Optional(Text('Stream id after which to continue. Takes precedence over `after`.')),
});
const ANSWERS = {
  200: {
    description:
      'Stream of events; `data` of the first event, `start`, is a FeedStart, and of each other a FeedMessage.',
    content: {
      'text/event-stream': { schema: { anyOf: [{ $ref: 'FeedMessage#' }, { $ref: 'FeedStart#' }] } },
    },
  },
} as const;
const DESCRIPTION =
  'Streams state changes, batches with wrong rows or errors, fired rules and counts of sweeps, each once and in order. The feed of a project also has its checkpoints and, if it has subscriptions, silent clusters. The first event is `start`, with the position after which the stream begins. Send the last id as Last-Event-ID (or `after`) to continue. Only the newest few thousand entries are retained; an older position gets 410 and the id from which to continue. The stream does not end by itself.';

/** GET /v1/projects/:name/events and GET /v1/events: what happens in a project, and in all of them. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one route: its schema is longer than its code
export function addFeeds(app: App, { store, limits }: RouteDeps, streams: Streams): void {
  const fanOut = createFanOut<FeedEntry>({
    compare: (a, b) => Number(a) - Number(b),
    encode: formatEntry,
    bufferBytes: limits.streamBufferBytes,
  });

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    { project, after }: { project: string | null; after: string | undefined },
  ): Promise<FastifyReply> {
    const place = after ?? (await store.feed.end(project));
    // An invalid position is refused here: after the response headers are sent it would be too late.
    if (after !== undefined) await store.feed.read(project, after, 1);
    const source: Source<FeedEntry> = {
      newest: () => store.feed.end(project),
      read: (from, limit) => store.feed.read(project, from ?? '0', limit),
      follow: (from, signal) => store.feed.follow(project, from ?? '0', signal),
    };
    async function* frames(signal: AbortSignal): AsyncGenerator<Frame, void, undefined> {
      const start = `id: ${place}\nevent: start\ndata: ${JSON.stringify({ id: place })}\n\n`;
      yield { id: place, bytes: Buffer.from(start) };
      yield* fanOut.frames(project === null ? 'all' : `p:${project}`, { source, after: place, signal });
    }
    return streams.send(request, reply, { frames, what: { feed: project } });
  }

  const common = {
    tag: 'streams',
    querystring: Query,
    headers: Headers,
    answers: ANSWERS,
    options: { exposeHeadRoute: false },
  };
  route(app, {
    at: 'GET /v1/projects/:name/events',
    operationId: 'streamProjectEvents',
    summary: 'Stream the events of a project (server-sent events)',
    description: DESCRIPTION,
    ...common,
    params: StrictObject({ name: Text('Name of the project.') }),
    problems: ['project-not-found', 'invalid-cursor', 'history-trimmed'],
    handler: async (request, reply) => {
      const { name } = await projectOf(store, request.caller, request.params.name);
      const after = request.headers['last-event-id'] || request.query.after;
      return answer(request, reply, { project: name, after });
    },
  });

  route(app, {
    at: 'GET /v1/events',
    operationId: 'streamAllEvents',
    summary: 'Stream the events of all projects (server-sent events)',
    description: `${DESCRIPTION} For callers that are bound to no project; ids are not those of a project's feed.`,
    ...common,
    problems: ['invalid-cursor', 'history-trimmed'],
    handler: async (request, reply) => {
      const { project } = request.caller;
      if (project !== null) {
        throw new EchelonError(
          'forbidden',
          `This key is bound to a project; its events are at /v1/projects/${project}/events.`,
        );
      }
      const after = request.headers['last-event-id'] || request.query.after;
      return answer(request, reply, { project: null, after });
    },
  });
}
