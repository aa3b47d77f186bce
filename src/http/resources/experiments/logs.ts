import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { holderOf } from '../../../core/scopes.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { count, text } from '../../../schemas/optional-fields.ts';
import type { LogCount } from '../../../schemas/streams.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { createSlots, type Slots } from '../../server/slots.ts';
import type { Place, Streams } from '../../server/streams.ts';
import { AfterParam, ExperimentParams, experimentOf, streamPlace } from '../common.ts';
import { countLines, type LogFilter, logText, progressOf, readLastLines, readLines } from './log-lines.ts';

const LARGEST = 2 ** 48;
const FilterQuery = {
  attempt: count(1, LARGEST, 'Return only entries of this attempt.'),
  source: Type.Optional(
    Type.Enum(['stdout', 'stderr'], {
      type: 'string',
      description: 'Return only lines of this output of the driver.',
    }),
  ),
  contains: text(1, 200, 'Return only lines that contain this text. It is case-sensitive and not a pattern.'),
};
const Since = count(1, LARGEST, 'Number of the first line to return.');
const Query = StrictObject({
  tail: count(1, 10_000, 'Number of last lines to return.'),
  since: Since,
  after: AfterParam,
  ...FilterQuery,
});

/** The driver's output: lines as JSON or text, and the whole log as a file. */
export function addLogs(app: App, deps: RouteDeps, streams: Streams): void {
  const searches = createSlots(
    MAX_SEARCHES,
    `No more than ${MAX_SEARCHES} searches of logs at once; wait for one to end.`,
  );
  addLines(app, deps, searches);
  addCount(app, deps, searches);
  addDownload(app, deps, streams);
}

/** Downloads at once, of one caller and of all: each holds a part of the log until its client has read it. */
const DOWNLOADS = 4;
const ALL_DOWNLOADS = 32;

/** Searches of one caller at once: each may look through 10,000 events. */
const MAX_SEARCHES = 2;

function addLines(app: App, { store }: RouteDeps, searches: Slots): void {
  route(app, {
    at: 'GET /v1/experiments/:id/logs',
    operationId: 'getLogs',
    summary: "Lines of the driver's output.",
    description:
      'Starts with the first line, line `since`, the event after `after`, or the last `tail` lines; at most one of these is allowed. Lines are numbered over all attempts, including lines that mark gaps. A page ends after about 2,000 lines, 2 MB or 10,000 events. Continue with `after` while `more` is true. With `contains`, `attempt` or `source` the request is a search; a caller may run two at a time. With `Accept: text/plain`, the header X-After has the position.',
    tag: 'streams',
    params: ExperimentParams,
    querystring: Query,
    answers: {
      200: {
        description: 'A page of lines',
        headers: {
          'X-After': { type: 'string', description: 'Position after this page; with text/plain only.' },
        },
        content: {
          'application/json': { schema: { $ref: 'LogPage#' } },
          'text/plain': { schema: { type: 'string' } },
        },
      },
    },
    problems: ['not-found', 'invalid-cursor'],
    handler: async (request, reply) => {
      const experiment = await experimentOf(store, request, request.params.id);
      const { tail, since, after: place, ...filter } = request.query;
      if ([tail, since, place].filter((value) => value !== undefined).length > 1) throw oneOfThree();
      const after = streamPlace({ value: place, field: 'after', experiment });
      const { id } = experiment;
      const release = Object.keys(filter).length === 0 ? () => {} : searches.take(holderOf(request.caller));
      const page = await (tail === undefined
        ? readLines(store, { id, filter, ...(after && { after }), ...(since && { since }) })
        : readLastLines(store, { id, tail, filter })
      ).finally(release);
      if (!wantsText(request.headers.accept))
        return { ...page, progress: page.more ? [] : await progressOf(store, { id, filter }) };
      if (page.after !== null) reply.header('x-after', page.after);
      reply.type('text/plain; charset=utf-8');
      return reply.send(page.lines.map(({ text }) => `${text}\n`).join(''));
    },
  });
}

function addCount(app: App, { store }: RouteDeps, searches: Slots): void {
  route(app, {
    at: 'GET /v1/experiments/:id/logs/count',
    operationId: 'countLogLines',
    summary: "Count lines of the driver's output",
    description:
      'Counts the lines that match the filter, without lines that mark gaps. An answer covers 10,000 events; while `more` is true, continue with `after` and add the counts. The request is a search; a caller may run two at a time.',
    tag: 'streams',
    params: ExperimentParams,
    querystring: StrictObject({ after: AfterParam, ...FilterQuery }),
    answer: 'LogCount',
    problems: ['not-found', 'invalid-cursor'],
    handler: async (request): Promise<LogCount> => {
      const experiment = await experimentOf(store, request, request.params.id);
      const { after: value, ...filter } = request.query;
      const after = streamPlace({ value, field: 'after', experiment });
      const release = searches.take(holderOf(request.caller));
      return await countLines(store, { id: experiment.id, after, filter }).finally(release);
    },
  });
}

function oneOfThree(): EchelonError {
  return new EchelonError('invalid-request', 'Only one of tail, since and after says where to begin.', {
    problems: ['tail', 'since', 'after'].map((field) => ({
      field,
      message: 'goes with neither of the other two',
    })),
  });
}

const DOWNLOADED = {
  description: 'The log.',
  headers: {
    'X-Log-Lines': {
      type: 'integer',
      description: 'Number of lines of the complete log at the time of the request',
    },
    'X-Log-Bytes': {
      type: 'integer',
      description: 'Number of bytes of the complete log at the time of the request',
    },
  },
  content: { 'text/plain': { schema: { type: 'string' } } },
};

function addDownload(app: App, { store, log }: RouteDeps, streams: Streams): void {
  const downloads = downloadSlots();
  route(app, {
    at: 'GET /v1/experiments/:id/logs/download',
    operationId: 'downloadLogs',
    summary: "Download the driver's output",
    description:
      'Returns all lines up to now as they were recorded, with control characters. The download counts as an open event stream. A caller may run four at a time. If it is interrupted, continue with `since` set to the number of complete lines plus one.',
    tag: 'streams',
    params: ExperimentParams,
    querystring: StrictObject({ since: Since, ...FilterQuery }),
    answer: DOWNLOADED,
    problems: ['not-found'],
    options: { exposeHeadRoute: false },
    handler: async (request, reply) => {
      const { id } = await experimentOf(store, request, request.params.id);
      const { since, ...filter }: { since?: number } & LogFilter = request.query;
      const { lines, bytes } = await store.events.logPosition(id, { line: 1 });
      reply.headers({
        'content-type': 'text/plain; charset=utf-8',
        // An id has nothing that would have to be quoted.
        'content-disposition': `attachment; filename="${id}.log"`,
        'x-log-lines': lines,
        'x-log-bytes': bytes,
      });
      const { refused, release } = takePlaces(streams, downloads, request);
      try {
        const pages = logText(store, { id, since, filter });
        // What fails before the first page is an answer of its own.
        const first = await pages.next();
        reply.hijack(); // it takes as long as the client does
        reply.raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
        // One page waits for a slow client. If reading fails, the connection is cut: that is no end of a log.
        const text = Readable.from(withFirst(first, pages), { highWaterMark: 1 });
        await pipeline(text, reply.raw, { signal: refused }).catch((error: unknown) =>
          log.info({ err: error, experiment: id }, 'download of a log interrupted'),
        );
      } finally {
        release();
      }
      return reply;
    },
  });
}

function downloadSlots(): Slots {
  return createSlots(DOWNLOADS, `No more than ${DOWNLOADS} downloads of logs at once; wait for one to end.`, {
    most: ALL_DOWNLOADS,
    refusal: `This server has ${ALL_DOWNLOADS} downloads of logs, its most; try later.`,
  });
}

/** A place among the open streams, which also ends at a sign-out, and one among the downloads. */
function takePlaces(streams: Streams, downloads: Slots, request: FastifyRequest): Place {
  const leave = downloads.take(holderOf(request.caller));
  try {
    const { refused, release } = streams.take(request);
    return {
      refused,
      release() {
        release();
        leave();
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}

async function* withFirst(first: IteratorResult<string, void>, rest: AsyncIterable<string>) {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

function wantsText(accept = ''): boolean {
  const text = accept.indexOf('text/plain');
  const json = accept.indexOf('application/json');
  return text !== -1 && (json === -1 || text < json);
}
