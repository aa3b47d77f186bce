import { ERRORS, type ErrorCode } from '../../core/errors.ts';
import { UNDESCRIBED } from './openapi-document.ts';
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

interface Documented {
  description: string;
  headers?: Record<string, object>;
  content?: Record<string, unknown>;
}

const RETRY_AFTER = {
  'Retry-After': { type: 'integer', description: 'Seconds to wait before the next try.' },
};
const CHALLENGE = { 'WWW-Authenticate': { type: 'string', description: 'Authentication scheme.' } };

/** The error answers of a route: one for each status, which names its codes. */
export function problems(...codes: ErrorCode[]) {
  const byStatus = Map.groupBy([...ALWAYS, ...codes], (code) => ERRORS[code].status);
  return Object.fromEntries([...byStatus].map(([status, all]) => [status, problem(status, all)]));
}

function problem(status: number, codes: readonly ErrorCode[]) {
  const headers = {
    ...(codes.some((code) => ERRORS[code].retry) && RETRY_AFTER),
    ...(status === 401 && CHALLENGE),
  };
  return {
    description: codes.map(describe).join('; '),
    ...(Object.keys(headers).length > 0 && { headers }),
    content: { [PROBLEM_TYPE]: { schema: { $ref: 'Problem#' } } },
  };
}

function describe(code: ErrorCode): string {
  return `\`${code}\`: ${ERRORS[code].title}`;
}

/** The answers of a route with more errors; those that it has already stay as they are. */
export function withProblems(response: object, codes: readonly ErrorCode[]): Record<string, unknown> {
  const answers: Record<string, unknown> = { ...response };
  for (const code of codes) {
    const { status } = ERRORS[code];
    const there = answers[status] as Documented | undefined;
    const added = problem(status, [code]);
    if (there === undefined) answers[status] = added;
    else if (!there.description.includes(`\`${code}\``)) {
      const headers = { ...there.headers, ...(added.headers ?? {}) };
      answers[status] = {
        ...there,
        description: `${there.description}; ${describe(code)}`,
        ...(Object.keys(headers).length > 0 && { headers }),
      };
    }
  }
  return answers;
}

/** The answers of a route, each that is no error with these headers too. */
export function withHeaders(response: object, headers: Record<string, object>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(response).map(([status, answer]) => [
      status,
      /^2/.test(status) ? withHeadersOf(answer as Documented, headers) : answer,
    ]),
  );
}

/** What is a plain schema becomes an answer of type JSON; `null` has no content. */
function withHeadersOf(answer: Documented & { type?: string }, headers: Record<string, object>): object {
  if (answer.content !== undefined || answer.type === 'null') {
    return { ...answer, headers: { ...answer.headers, ...headers } };
  }
  return {
    description: answer.description ?? UNDESCRIBED,
    headers,
    content: { 'application/json': { schema: answer } },
  };
}
