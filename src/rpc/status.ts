import { type ServiceError, status } from '@grpc/grpc-js';
import { EchelonError, type ErrorCode } from '../core/errors.ts';

/**
 * The meaning of a failed call to a ray-worker for its caller.
 * unreachable: no answer, or an unclear one; the effect may have happened. denied: the token or the certificate is
 * not accepted. unknown-attempt, ahead, damaged: an attach that cannot continue (see Attach in proto/). exhausted: no
 * disk or no process to be had there. version: the launch plan has a version that is not run there. invalid: the request itself;
 * the same request never succeeds. aborted: by us.
 */
export type RayWorkerFault =
  | 'unreachable'
  | 'denied'
  | 'unknown-attempt'
  | 'ahead'
  | 'damaged'
  | 'exhausted'
  | 'version'
  | 'invalid'
  | 'aborted';

/** A failed call to a ray-worker: an EchelonError that also says what the failure means to an attempt. */
export class RayWorkerError extends EchelonError {
  readonly fault: RayWorkerFault;

  constructor(fault: RayWorkerFault, message: string, cause?: unknown) {
    super(CODES[fault], message, { cause });
    this.name = 'RayWorkerError';
    this.fault = fault;
  }
}

const CODES: Record<RayWorkerFault, ErrorCode> = {
  unreachable: 'rayworker-unavailable',
  denied: 'rayworker-refused',
  'unknown-attempt': 'not-found',
  ahead: 'sequence-gap',
  damaged: 'rayworker-refused',
  exhausted: 'rayworker-unavailable',
  version: 'rayworker-refused',
  invalid: 'rayworker-refused',
  aborted: 'rayworker-unavailable',
};

const FAULTS: Record<status, RayWorkerFault> = {
  [status.OK]: 'unreachable', // never an error; a stream that ends with OK too early is one
  [status.CANCELLED]: 'unreachable', // by the server or a proxy: our own abort is known before this table is asked
  [status.UNKNOWN]: 'unreachable', // an exception in the server: whether the effect happened is unclear
  [status.INVALID_ARGUMENT]: 'invalid',
  [status.DEADLINE_EXCEEDED]: 'unreachable',
  [status.NOT_FOUND]: 'unknown-attempt',
  [status.ALREADY_EXISTS]: 'invalid',
  [status.PERMISSION_DENIED]: 'denied',
  [status.RESOURCE_EXHAUSTED]: 'unreachable', // closed with ENHANCE_YOUR_CALM, as after a freeze of ours; see saidBy
  [status.FAILED_PRECONDITION]: 'invalid',
  [status.ABORTED]: 'unreachable',
  [status.OUT_OF_RANGE]: 'ahead',
  [status.UNIMPLEMENTED]: 'invalid', // an older ray-worker without that method
  [status.INTERNAL]: 'unreachable', // also what grpc-js says of a broken HTTP/2 stream
  [status.UNAVAILABLE]: 'unreachable',
  [status.DATA_LOSS]: 'damaged',
  [status.UNAUTHENTICATED]: 'denied',
};

/** What the ray-worker itself says of its status, as proto/ has it; undefined: nothing. */
function saidBy({ code, metadata }: ServiceError): RayWorkerFault | undefined {
  const said = metadata?.get('echelon-fault') ?? [];
  if (code === status.RESOURCE_EXHAUSTED && said.includes('exhausted')) return 'exhausted';
  if (code === status.FAILED_PRECONDITION && said.includes('version')) return 'version';
  return undefined;
}

/** Names of the statuses, for messages. */
const NAMES = new Map(
  Object.entries(status).flatMap(([name, value]) => (typeof value === 'number' ? [[value, name]] : [])),
);

/** The one place where a gRPC failure becomes ours. `what` names the call and its target, e.g. "Launch at host:1". */
export function fromGrpc(error: unknown, what: string, signal?: AbortSignal): RayWorkerError {
  if (error instanceof RayWorkerError) return error;
  if (signal?.aborted) return new RayWorkerError('aborted', `${what}: given up`, error);
  const code = (error as Partial<ServiceError> | null)?.code;
  if (typeof code !== 'number' || !(code in FAULTS)) {
    const message = error instanceof Error ? error.message : String(error);
    return new RayWorkerError('unreachable', `${what}: ${message}`, error);
  }
  const { details, message } = error as ServiceError;
  return new RayWorkerError(
    saidBy(error as ServiceError) ?? FAULTS[code as status],
    `${what}: ${NAMES.get(code)}: ${details || message}`,
    error,
  );
}
