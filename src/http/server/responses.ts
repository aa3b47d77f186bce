import { ERRORS, type ErrorCode } from '../../core/errors.ts';
import { PROBLEM_TYPE } from './to-problem.ts';

/** Errors that any request with a token can meet; the Content-Type is checked even if the route has no body. */
const ALWAYS: readonly ErrorCode[] = [
  'invalid-request',
  'unauthenticated',
  'forbidden',
  'unsupported-media-type',
  'rate-limited',
  'headers-too-large',
  'internal',
  'deadline-exceeded',
  'store-unavailable',
  'store-foreign',
  'store-misconfigured',
  'record-too-new',
];

/** An answer as OpenAPI has it. */
export interface Answer {
  description: string;
  headers?: Record<string, object>;
  content?: Record<string, { schema: object }>;
}

const RETRY_AFTER = {
  'Retry-After': { type: 'integer', description: 'Seconds to wait before the next try.' },
};
const CHALLENGE = { 'WWW-Authenticate': { type: 'string', description: 'Authentication scheme.' } };

/** The error answers of a route: one for each status, which names its codes. */
export function problems(codes: readonly ErrorCode[]): Record<string, Answer> {
  const byStatus = Map.groupBy(new Set([...ALWAYS, ...codes]), (code) => ERRORS[code].status);
  return Object.fromEntries([...byStatus].map(([status, all]) => [status, problem(status, all)]));
}

function problem(status: number, codes: readonly ErrorCode[]): Answer {
  const headers = {
    ...(codes.some((code) => ERRORS[code].retry) && RETRY_AFTER),
    ...(status === 401 && CHALLENGE),
  };
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('; '),
    ...(Object.keys(headers).length > 0 && { headers }),
    content: { [PROBLEM_TYPE]: { schema: { $ref: 'Problem#' } } },
  };
}

/** The answer of a resource that was made or accepted, with its path in the header Location. */
export function located(description: string, schema: string, location: string): Answer {
  return {
    description,
    headers: { Location: { type: 'string', description: location } },
    content: { 'application/json': { schema: { $ref: `${schema}#` } } },
  };
}
