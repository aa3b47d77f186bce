/** HTTP status, retry and title of an error code. `retry`: the same request may succeed later. */
interface ErrorKind {
  status: number;
  retry: boolean;
  title: string;
}

/**
 * Every error that leaves the program, by code. A problem document's `type` is `/errors/<code>`; the
 * documentation is generated from these rows.
 */
export const ERRORS = {
  'invalid-request': { status: 400, retry: false, title: 'The request is malformed' },
  'invalid-spec': { status: 400, retry: false, title: 'The experiment spec is invalid' },
  'invalid-cursor': { status: 400, retry: false, title: 'The cursor or stream id is invalid' },
  unauthenticated: { status: 401, retry: false, title: 'No valid API key, token or session' },
  forbidden: { status: 403, retry: false, title: 'The caller may not do this' },
  'not-found': { status: 404, retry: false, title: 'The resource does not exist' },
  'method-not-allowed': { status: 405, retry: false, title: 'This path does not support the method' },
  'request-timeout': { status: 408, retry: true, title: 'The request did not arrive in time' },
  'idempotency-conflict': {
    status: 409,
    retry: false,
    title: 'The Idempotency-Key belongs to a different request',
  },
  'idempotency-in-progress': {
    status: 409,
    retry: true,
    title: 'A request with this Idempotency-Key is in progress',
  },
  'not-ended': { status: 409, retry: true, title: 'The experiment has not ended' },
  'precondition-failed': { status: 412, retry: false, title: 'The ETag does not match the current record' },
  'not-queued': { status: 409, retry: false, title: 'The experiment is not queued' },
  'already-final': { status: 409, retry: false, title: 'The experiment has already ended' },
  expired: { status: 410, retry: false, title: 'Retention deleted this data' },
  'history-trimmed': { status: 410, retry: false, title: 'Entries after this stream id were trimmed' },
  'body-too-large': { status: 413, retry: false, title: 'The request body is too large' },
  'unsupported-media-type': { status: 415, retry: false, title: 'The body must be application/json' },
  'rate-limited': { status: 429, retry: true, title: 'Too many requests' },
  'queue-closed': {
    status: 409,
    retry: true,
    title: 'The queue is closed to new experiments',
  },
  'queue-full': { status: 429, retry: true, title: "The project's queue is full" },
  'quota-exceeded': {
    status: 429,
    retry: true,
    title: 'The project stores as many bytes as it may',
  },
  'headers-too-large': { status: 431, retry: false, title: 'The request headers are too large' },
  internal: { status: 500, retry: true, title: 'Internal error' },
  'deadline-exceeded': { status: 503, retry: true, title: 'The request exceeded its deadline' },
  'store-unavailable': { status: 503, retry: true, title: 'Redis does not respond' },
  'store-full': { status: 503, retry: true, title: 'Redis is nearly full and accepts no new work' },
  'record-too-new': {
    status: 503,
    retry: true,
    title: 'A later version of Echelon wrote the record',
  },
  'identity-unavailable': { status: 503, retry: true, title: 'The OpenID provider does not respond' },
  'store-misconfigured': {
    status: 503,
    retry: true,
    title: 'The Redis settings do not guarantee durability',
  },
  'store-foreign': {
    status: 503,
    retry: true,
    title: 'Redis is empty or belongs to another installation',
  },
  'verifier-busy': { status: 503, retry: true, title: 'Too many batches are being recomputed' },
  'archive-mismatch': {
    status: 503,
    retry: false,
    title: 'The archive belongs to another Redis',
  },
  'lease-lost': { status: 409, retry: false, title: 'Another process owns this attempt' },
  'event-conflict': { status: 409, retry: false, title: 'The number belongs to another event' },
  'sequence-gap': { status: 409, retry: true, title: 'The preceding event is missing' },
  'rayworker-unavailable': { status: 503, retry: true, title: 'The ray-worker does not respond' },
  'rayworker-refused': { status: 502, retry: false, title: 'The ray-worker refused the call' },
  'cluster-not-found': { status: 404, retry: false, title: 'The cluster does not exist' },
  'project-not-found': { status: 404, retry: false, title: 'The project does not exist' },
  'project-exists': { status: 409, retry: false, title: 'A project with this name exists' },
  'limit-reached': { status: 409, retry: false, title: 'A limit on the number of resources is reached' },
  'project-busy': {
    status: 409,
    retry: true,
    title: 'The project still has experiments, sweeps or API keys',
  },
  'cluster-busy': { status: 409, retry: true, title: 'The cluster is busy' },
  'unreadable-file': { status: 422, retry: false, title: 'The file cannot be read' },
  'not-verifiable': { status: 422, retry: false, title: 'The batch lacks data that the recomputation needs' },
} as const satisfies Record<string, ErrorKind>;

/** A code of {@link ERRORS}. */
export type ErrorCode = keyof typeof ERRORS;

/** A faulty input field: its JSON pointer or parameter name, and the remedy. */
export interface FieldProblem {
  field: string;
  message: string;
}

/** The only error class that leaves the program. `message` is a sentence for the caller. */
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
