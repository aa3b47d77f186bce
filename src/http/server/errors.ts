import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EchelonError } from '../../core/errors.ts';
import type { App } from './deps.ts';
import { escapeHtml, htmlPage } from './pages.ts';
import { PROBLEM_TYPE, toEchelonError, toProblem } from './to-problem.ts';

/** Answer to a request for metrics, which the api process does not serve. */
const METRICS_ELSEWHERE =
  'Metrics are served on a port of their own, and on none by default: start with ECHELON_METRICS_PORT=9464 and read http://127.0.0.1:9464/metrics.';

/**
 * Every failure is a problem document. A path that exists with other methods is answered 405 with `Allow`, so the
 * routes that are added after this call are remembered.
 */
export function addErrors(app: App): void {
  const paths = new Map<string, { pattern: URLPattern; methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    const path = paths.get(url) ?? { pattern: new URLPattern({ pathname: url }), methods: new Set() };
    for (const one of [method].flat()) path.methods.add(one);
    paths.set(url, path);
  });

  app.setErrorHandler((error: { code?: string }, request, reply) =>
    // A QUERY without a body is refused before anybody looks whether there is such a route.
    request.is404 && error.code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE'
      ? nothingHere(request, reply)
      : answerProblem(error, request, reply),
  );
  app.setNotFoundHandler(nothingHere);

  function nothingHere(request: FastifyRequest, reply: FastifyReply) {
    const pathname = request.url.split('?', 1)[0]!;
    const matching = [...paths].filter(([, { pattern }]) => pattern.test({ pathname }));
    // A path of its own goes before one with parameters, as in the document.
    const own = matching.filter(([url]) => url === pathname);
    const allowed = (own.length > 0 ? own : matching).flatMap(([, { methods }]) => [...methods]);
    const elsewhere = allowed.length > 0 && !allowed.includes(request.method);
    if (elsewhere) reply.header('allow', [...new Set(allowed)].sort().join(', '));
    const error = elsewhere
      ? new EchelonError('method-not-allowed', `${request.method} is not possible here.`)
      : new EchelonError(
          'not-found',
          pathname === '/metrics' ? METRICS_ELSEWHERE : 'There is nothing at this path.',
        );
    // A person who mistyped an address gets a page with a way back.
    if (!elsewhere && isFromBrowser(request) && !pathname.startsWith('/v1/'))
      return reply.code(404).type('text/html; charset=utf-8').send(NOT_FOUND);
    return answerProblem(error, request, reply);
  }
}

const NOT_FOUND = htmlPage(
  'Not found',
  '<h1>There is nothing at this address</h1><p><a href="/">Open the dashboard</a>, or read the <a href="/docs">API reference</a>.</p>',
);

const isFromBrowser = ({ headers }: FastifyRequest) => headers.accept?.startsWith('text/html') === true;

/** A screen that cannot be shown now, for a person: what is wrong, and the screen itself as soon as it can be. */
const awayPage = (error: EchelonError) =>
  htmlPage(
    'Not now',
    `<meta http-equiv="refresh" content="5"><h1>Echelon cannot answer now</h1><p class="message">${escapeHtml(toProblem(error).detail)}</p><p>This page asks again every 5 seconds.</p>`,
  );

/** Answers with the problem document of whatever was thrown. */
export function answerProblem(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const error = noteFailure(thrown, request, reply);
  if (error.retry && request.routeOptions.config?.page && isFromBrowser(request))
    return reply.code(error.status).type('text/html; charset=utf-8').send(awayPage(error));
  return reply
    .code(error.status)
    .header('content-type', PROBLEM_TYPE)
    .send(JSON.stringify(toProblem(error)));
}

/** The error for anything thrown: logged if it is a defect, and with `Retry-After` if a retry may help. */
export function noteFailure(thrown: unknown, request: FastifyRequest, reply: FastifyReply): EchelonError {
  const error = toEchelonError(thrown, request.routeOptions);
  if (error.code === 'internal') request.log.error({ err: thrown }, 'request failed');
  else if (error.status >= 500)
    request.log.warn({ code: error.code, reason: reasonOf(error) }, 'request refused');
  if (error.retry && !reply.hasHeader('retry-after')) reply.header('retry-after', '1');
  return error;
}

/** What lies behind an error, without a stack: a store that is away is met by every request. */
function reasonOf({ cause, message }: EchelonError): string {
  return cause instanceof Error ? cause.message : message;
}

/** Answers what never became a request (headers too large, too slow, not HTTP) on its socket, and closes it. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = problemOf(error.code);
  const body = JSON.stringify(problem);
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
      `Content-Type: ${PROBLEM_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
    () => socket.destroySoon(),
  );
}

function problemOf(code: string | undefined) {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return toProblem(new EchelonError('headers-too-large', 'The headers are larger than this server takes.'));
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return toProblem(new EchelonError('request-timeout', 'The request did not arrive in time.'));
  }
  return toProblem(new EchelonError('invalid-request', 'This is not an HTTP request that can be read.'));
}
