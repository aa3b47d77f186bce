import type { Problem } from './gen/api.ts';

/** Every error of this client. */
export class ClientError extends Error {
  /**
   * Stable name of the error: the API's, or `unreachable` (no answer), `unexpected-answer` (the answer is not the API's),
   * `unauthenticated` (a stream was closed because its key is no longer accepted).
   */
  readonly code: string;
  /** The response, if there was one; its body is consumed. */
  readonly response: Response | undefined;

  constructor(code: string, message: string, options: ErrorOptions & { response?: Response } = {}) {
    super(message, options);
    this.name = 'ClientError';
    this.code = code;
    this.response = options.response;
  }
}

/** A refusal of the API, with all fields of its problem document. */
export class ApiError extends ClientError implements Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly retry: boolean;
  readonly problems: Problem['problems'];

  constructor({ type, title, status, detail, code, retry, problems = [] }: Problem, response?: Response) {
    const fields = problems.map(({ field, message }) => `\n  ${field === '' ? '' : `${field}: `}${message}`);
    super(code, `${detail}${fields.join('')}`, { ...(response && { response }) });
    this.name = 'ApiError';
    this.type = type;
    this.title = title;
    this.status = status;
    this.detail = detail;
    this.retry = retry;
    this.problems = problems;
  }
}

/** The error for an answer that is not 2xx: an {@link ApiError} if it is a problem document. */
export async function refusal(response: Response): Promise<ClientError> {
  const body: unknown = await response.json().catch((error: Error) => {
    if (!(error instanceof SyntaxError)) throw error;
  });
  return isProblem(body) ? new ApiError(body, response) : unexpected(response, body);
}

/** The error for an answer that is not the API's. */
export function unexpected(response: Response, cause: unknown): ClientError {
  const what = `${response.status} ${response.statusText}`.trim();
  return new ClientError('unexpected-answer', `Not an answer of Echelon's API: ${what}`, { response, cause });
}

/** The error for a request without a complete answer. */
export function unanswered(error: unknown): ClientError {
  const { cause, message } = error as Error & { cause?: Error };
  return new ClientError('unreachable', `No answer: ${cause?.message ?? message}`, { cause: error });
}

function isProblem(error: unknown): error is Problem {
  const { code, detail } = (error ?? {}) as Partial<Problem>;
  return typeof code === 'string' && typeof detail === 'string';
}
