import { type ServiceError, status } from '@grpc/grpc-js';
import {
  RayAuthenticationError,
  type RayError,
  RayRequestError,
  RaySessionLostError,
  RayTimeoutError,
  RayUnreachableError,
} from './errors.ts';
import { errorFromPickle } from './exceptions.ts';

const AUTHENTICATION_HINT =
  'give a token (option `token`, or RAY_AUTH_TOKEN, or the file named by RAY_AUTH_TOKEN_PATH, or ~/.ray/auth_token)';

/** What is known of a call when it fails. */
export interface CallContext {
  /** What was being done, for messages: `kv.get`. */
  readonly what: string;
  readonly address: string;
  /** Deadline of the call, for the message of a timeout. */
  readonly timeoutMs?: number;
}

/**
 * The one place where a gRPC status becomes an error of ours.
 * ABORTED carries a pickled Python exception as base64 in its details; everything else is text.
 */
export function errorFromStatus(error: ServiceError, context: CallContext): RayError {
  const { what, address } = context;
  switch (error.code) {
    case status.UNAUTHENTICATED:
    case status.PERMISSION_DENIED:
      return new RayAuthenticationError(`${address} refused: ${error.details}; ${AUTHENTICATION_HINT}`, {
        cause: error,
      });
    case status.UNAVAILABLE:
      return new RayUnreachableError(`${address} cannot be reached: ${error.details}`, { cause: error });
    case status.DEADLINE_EXCEEDED:
      return new RayTimeoutError(what, context.timeoutMs ?? 0);
    case status.ABORTED:
      return errorFromPickle(Buffer.from(error.details, 'base64'), what);
    default:
      return new RayRequestError(error.code, `${what} failed: ${error.details}`, { cause: error });
  }
}

// After these the server has dropped the session, or will refuse it again.
const FINAL = new Set<number>([
  status.RESOURCE_EXHAUSTED,
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.FAILED_PRECONDITION,
  status.ABORTED,
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
]);

/** Whether a session whose stream ended with this status can be taken up again. */
export function isReconnectable(code: number): boolean {
  return !FINAL.has(code);
}

/** The error for a session that ended with `cause`. */
export function sessionLost(reason: string, cause?: ServiceError | Error): RayError {
  if (cause !== undefined && 'code' in cause && cause.code === status.UNAUTHENTICATED) {
    return new RayAuthenticationError(`the session ended: ${cause.message}; ${AUTHENTICATION_HINT}`, {
      cause,
    });
  }
  const details = cause === undefined ? '' : `: ${'details' in cause ? cause.details : cause.message}`;
  return new RaySessionLostError(`${reason}${details}`, cause === undefined ? {} : { cause });
}
