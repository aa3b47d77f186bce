import { EchelonError, ERRORS, type ErrorCode } from '../../core/errors.ts';
import type { Problem } from '../../schemas/api.ts';

/** The media type of problem documents. */
export const PROBLEM_TYPE = 'application/problem+json';

/** An error as the document that a client gets. */
export function toProblem(error: EchelonError): Problem {
  return {
    type: `/errors/${error.code}`,
    title: ERRORS[error.code].title,
    status: error.status,
    detail: error.message,
    code: error.code,
    retry: error.retry,
    problems: error.problems.map(({ field, message }) => ({ field, message })),
  };
}

/** What Fastify, its plugins and the verifier throw, in our words. A code that is not here counts by its status. */
const KNOWN: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported-media-type', 'Send the body as application/json.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid-request', "The body's length is not what its header says."],
  FST_ERR_BAD_URL: ['invalid-request', 'The path is not well formed.'],
  'verifier-busy': ['verifier-busy', 'No process that verifies could start. Retry later.'],
  FST_ERR_HANDLER_TIMEOUT: ['deadline-exceeded', 'The request took too long and was given up.'],
};

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not-found',
  413: 'body-too-large',
  415: 'unsupported-media-type',
  429: 'rate-limited',
  431: 'headers-too-large',
};

const INTERNAL = 'Something failed that should not have; it was logged.';

const QUOTING: Partial<Record<ErrorCode, string>> = {
  internal: INTERNAL,
  'store-unavailable':
    'Redis cannot be reached or does not serve. Running experiments continue; try again later. /readyz says what is wrong.',
};

/**
 * Anything that a request can throw, as one of ours. What is not recognised is `internal`, and its own message
 * stays in the log: it may say what a client must not see.
 */
export function toEchelonError(error: unknown, { bodyLimit }: { bodyLimit?: number } = {}): EchelonError {
  if (error instanceof EchelonError) return withoutCause(error);
  const { code, statusCode, message } = facts(error);
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new EchelonError('body-too-large', tooLarge(bodyLimit));
  const known = KNOWN[code];
  if (known) return new EchelonError(known[0], known[1], { cause: error });
  if (statusCode >= 400 && statusCode < 500) {
    return new EchelonError(BY_STATUS[statusCode] ?? 'invalid-request', `${message}.`, { cause: error });
  }
  return new EchelonError('internal', INTERNAL, { cause: error });
}

function tooLarge(limit: number | undefined): string {
  const most = limit === undefined ? '' : `, ${limit.toLocaleString('en-US')} bytes`;
  return `The body is larger than this resource takes${most}.`;
}

/** An error that wraps another one may quote it: addresses, commands. Those stay in the log. */
function withoutCause(error: EchelonError): EchelonError {
  const detail = QUOTING[error.code];
  return detail === undefined || error.cause === undefined
    ? error
    : new EchelonError(error.code, detail, { cause: error });
}

function facts(error: unknown): { code: string; statusCode: number; message: string } {
  if (!(error instanceof Error)) return { code: '', statusCode: 0, message: '' };
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  return {
    code: typeof code === 'string' ? code : '',
    statusCode: typeof statusCode === 'number' ? statusCode : 0,
    message: error.message,
  };
}
