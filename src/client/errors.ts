import type { Problem } from './gen/types.gen.ts';

/** Whatever this client throws or returns as an error. */
export class ClientError extends Error {
  /**
   * Stable name of the error: that of the API, or `unreachable` (no answer), `unexpected-answer` (an answer that is not
   * the API's), `unauthenticated` (a stream was closed because its key is accepted no longer).
   */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ClientError';
    this.code = code;
  }
}

/** A refusal of the API, with everything that its problem document says. */
export class ApiError extends ClientError implements Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly retry: boolean;
  readonly problems: Problem['problems'];

  constructor({ type, title, status, detail, code, retry, problems }: Problem) {
    const fields = problems.map(({ field, message }) => `\n  ${field === '' ? '' : `${field}: `}${message}`);
    super(code, `${detail}${fields.join('')}`);
    this.name = 'ApiError';
    this.type = type;
    this.title = title;
    this.status = status;
    this.detail = detail;
    this.retry = retry;
    this.problems = problems;
  }
}

/** What a request came to, as an Error with a code. A request that its caller has aborted throws the caller's reason. */
export function toClientError(error: unknown, response: Response | undefined): Error {
  if (isProblem(error)) return new ApiError(error);
  if (error instanceof ClientError || (error instanceof Error && error.name === 'AbortError')) return error;
  if (response === undefined) {
    const { cause, message } = error as Error & { cause?: Error };
    return new ClientError('unreachable', `No answer: ${cause?.message ?? message}`, { cause: error });
  }
  const what = `${response.status} ${response.statusText}`.trim();
  return new ClientError('unexpected-answer', `Not an answer of Echelon's API: ${what}`, { cause: error });
}

function isProblem(error: unknown): error is Problem {
  const { code, detail, problems } = (error ?? {}) as Partial<Problem>;
  return typeof code === 'string' && typeof detail === 'string' && Array.isArray(problems);
}
