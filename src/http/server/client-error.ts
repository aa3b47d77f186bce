import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { EchelonError } from '../../core/errors.ts';
import { PROBLEM_TYPE, toProblem } from './to-problem.ts';

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
