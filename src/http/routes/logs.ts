import { Type } from 'typebox';
import type { StreamEntry } from '../../core/events.ts';
import { parseEntryId } from '../../core/ids.ts';
import type { LogPage } from '../../schemas/streams.ts';
import type { App, RouteDeps } from '../deps.ts';
import { readOn, readTail } from '../read-on.ts';
import { problems } from '../responses.ts';
import { AfterParam, ExperimentParams, experimentOf, streamPlace, strict } from './common.ts';

/** Log events in one answer at most. */
const MOST_EVENTS = 1000;

const Query = Type.Object(
  {
    tail: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'Only the last lines, so many' }),
    ),
    after: AfterParam,
  },
  strict,
);

/** GET /v1/experiments/:id/logs: the driver's output, as JSON or (Accept: text/plain) as it was. */
export function addLogs(app: App, { store }: RouteDeps): void {
  app.get(
    '/v1/experiments/:id/logs',
    {
      schema: {
        operationId: 'getLogs',
        summary: "Lines of the driver's output",
        description:
          'Without `tail`, from the first line (or behind `after`) on; go on with `after` while `more` is true. As text/plain, the header X-After says where to go on.',
        tags: ['streams'],
        params: ExperimentParams,
        querystring: Query,
        response: {
          200: {
            description: 'A page of lines',
            headers: { 'X-After': { type: 'string', description: 'As `after`; with text/plain' } },
            content: {
              'application/json': { schema: { $ref: 'LogPage#' } },
              'text/plain': { schema: { type: 'string' } },
            },
          },
          ...problems('not-found', 'invalid-cursor'),
        },
      },
    },
    async (request, reply) => {
      const experiment = await experimentOf(store, request, request.params.id);
      const { tail } = request.query;
      const after = streamPlace({ value: request.query.after, field: 'after', experiment });
      const page =
        tail !== undefined && after === undefined
          ? await readTail(store, {
              id: experiment.id,
              isWanted,
              isEnough: (entries) => linesOf(entries).length >= tail,
            })
          : await readOn(store, { id: experiment.id, after, most: MOST_EVENTS, isWanted });
      const lines = linesOf(page.entries).slice(tail === undefined ? 0 : -tail);
      if (!wantsText(request.headers.accept)) return { lines, after: page.after, more: page.more };
      if (page.after !== null) reply.header('x-after', page.after);
      reply.type('text/plain; charset=utf-8');
      return reply.send(lines.map(({ text }) => `${text}\n`).join(''));
    },
  );
}

function wantsText(accept = ''): boolean {
  const text = accept.indexOf('text/plain');
  const json = accept.indexOf('application/json');
  return text !== -1 && (json === -1 || text < json);
}

function isWanted({ event }: StreamEntry): boolean {
  return event.type === 'log' || (event.type === 'gap' && event.what === 'logs');
}

/** The lines of log events; a gap is a line that says what is missing. */
export function linesOf(entries: readonly StreamEntry[]): LogPage['lines'] {
  return entries.flatMap(({ id, at, event }): LogPage['lines'] => {
    const attempt = parseEntryId(id)?.attempt ?? 0;
    if (event.type === 'log') {
      return event.lines.map((text) => ({ id, at, attempt, source: event.source, text }));
    }
    if (event.type !== 'gap') return [];
    const text = `[${event.count} lines, ${event.bytes} bytes dropped: ${event.reason}]`;
    return [{ id, at, attempt, source: 'gap', text }];
  });
}
