/** What a registered error means on every border. `retry`: the same request may succeed later, unchanged. */
export interface ErrorKind {
  status: number;
  retry: boolean;
  title: string;
}

/**
 * Every error that leaves the program, by code. A problem document's `type` is `/errors/<code>`; the
 * documentation lists these rows and a test compares the two.
 */
export const ERRORS = {
  'invalid-request': { status: 400, retry: false, title: 'The request is not well formed' },
  'invalid-spec': { status: 400, retry: false, title: 'The experiment spec is not valid' },
  'invalid-cursor': { status: 400, retry: false, title: 'The cursor is not one that a list gave out' },
  unauthenticated: { status: 401, retry: false, title: 'No valid token' },
  forbidden: { status: 403, retry: false, title: 'The request is not allowed' },
  'not-found': { status: 404, retry: false, title: 'There is no such thing' },
  'method-not-allowed': { status: 405, retry: false, title: 'This resource does not have that method' },
  'request-timeout': { status: 408, retry: true, title: 'The request did not arrive in time' },
  'idempotency-conflict': {
    status: 409,
    retry: false,
    title: 'The Idempotency-Key was used with another request',
  },
  'idempotency-in-progress': {
    status: 409,
    retry: true,
    title: 'A request with this Idempotency-Key is being carried out',
  },
  'not-ended': { status: 409, retry: true, title: 'The experiment has not ended' },
  'precondition-failed': { status: 412, retry: false, title: 'It has changed since it was read' },
  'not-queued': { status: 409, retry: false, title: 'The experiment does not wait any more' },
  'already-final': { status: 409, retry: false, title: 'The experiment has already ended' },
  expired: { status: 410, retry: false, title: 'It was deleted by retention' },
  'history-trimmed': { status: 410, retry: false, title: 'What comes behind that id is not kept any more' },
  'body-too-large': { status: 413, retry: false, title: 'The request body is too large' },
  'unsupported-media-type': { status: 415, retry: false, title: 'The body must be application/json' },
  'rate-limited': { status: 429, retry: true, title: 'Too many requests' },
  'queue-draining': { status: 409, retry: true, title: 'The queue is being drained: it takes nothing new' },
  'line-full': { status: 429, retry: true, title: 'The project has as many experiments waiting as it may' },
  'headers-too-large': { status: 431, retry: false, title: 'The request headers are too large' },
  internal: { status: 500, retry: true, title: 'A fault of ours' },
  'took-too-long': { status: 503, retry: true, title: 'The request took too long and was given up' },
  'store-unavailable': { status: 503, retry: true, title: 'The store does not answer' },
  'store-full': { status: 503, retry: true, title: 'The store is nearly full; no new work is accepted' },
  'record-too-new': {
    status: 503,
    retry: true,
    title: 'The record was written by a later version of Echelon',
  },
  'store-unfit': {
    status: 503,
    retry: false,
    title: 'The Redis server is not set up to keep what it accepts',
  },
  'verifier-busy': { status: 503, retry: true, title: 'Too many batches are being recomputed' },
  'archive-mismatch': {
    status: 503,
    retry: false,
    title: 'The archive is not the one that belongs to this Redis',
  },
  'lease-lost': { status: 409, retry: false, title: 'Another dispatcher holds this attempt' },
  'sequence-gap': { status: 409, retry: true, title: 'An event is missing before this one' },
  'rayworker-unavailable': { status: 503, retry: true, title: 'The ray-worker does not answer' },
  'rayworker-refused': { status: 502, retry: false, title: 'The ray-worker refused the call' },
  'cluster-not-found': { status: 404, retry: false, title: 'There is no cluster of that name' },
  'project-not-found': { status: 404, retry: false, title: 'There is no project of that name' },
  'project-exists': { status: 409, retry: false, title: 'There is a project of that name already' },
  'limit-reached': { status: 409, retry: false, title: 'There are as many as there may be' },
  'project-busy': { status: 409, retry: true, title: 'Something belongs to the project still' },
  'cluster-busy': { status: 409, retry: true, title: 'The cluster is busy' },
  'not-verifiable': { status: 422, retry: false, title: 'The batch does not carry what this needs' },
} as const satisfies Record<string, ErrorKind>;

/** A code of {@link ERRORS}. */
export type ErrorCode = keyof typeof ERRORS;

/** One thing wrong with an input: where (a JSON pointer or a parameter's name) and what to do about it. */
export interface FieldProblem {
  field: string;
  message: string;
}

/** The one error class that crosses borders. `message` is a sentence for the person who caused or meets it. */
export class EchelonError extends Error {
  readonly code: ErrorCode;
  readonly problems: readonly FieldProblem[];

  constructor(
    code: ErrorCode,
    message: string,
    options: { problems?: FieldProblem[]; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EchelonError';
    this.code = code;
    this.problems = options.problems ?? [];
  }

  /** HTTP status of this error's code. */
  get status(): number {
    return ERRORS[this.code].status;
  }

  /** Whether the same request may succeed later, unchanged. */
  get retry(): boolean {
    return ERRORS[this.code].retry;
  }
}
