import { echelon } from './gen/ray-worker.js';

const v1 = echelon.rayworker.v1;

/** How one method is called: its path, whether proto/ declares it safe to repeat, and its deadline. */
export interface Method<Request, Response> {
  path: string;
  /** `idempotency_level` in proto/ is IDEMPOTENT or NO_SIDE_EFFECTS: only then a call may be repeated. */
  idempotent: boolean;
  /** Of one try. Stop's grace period and Preflight's own deadline come on top; Attach has none: keepalive watches it. */
  deadlineMs: number;
  encode(request: Request): Buffer;
  decode(bytes: Buffer): Response;
}

interface Codec<Properties, Shape> {
  encode(message: Properties): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Shape;
}

function method<Request, RequestShape, Properties, Response>(
  name: string,
  codecs: { request: Codec<Request, RequestShape>; response: Codec<Properties, Response> },
  options: { idempotent: boolean; deadlineMs: number },
): Method<Request, Response> {
  return {
    path: `/echelon.rayworker.v1.RayWorker/${name}`,
    ...options,
    encode: (request) => Buffer.from(codecs.request.encode(request).finish()),
    decode: (bytes) => codecs.response.decode(bytes),
  };
}

/** The methods of the ray-worker's service; a test compares paths and idempotency with proto/. */
export const METHODS = {
  Describe: method(
    'Describe',
    { request: v1.DescribeRequest, response: v1.DescribeResponse },
    { idempotent: true, deadlineMs: 5_000 },
  ),
  Launch: method(
    'Launch',
    { request: v1.LaunchRequest, response: v1.LaunchResponse },
    { idempotent: true, deadlineMs: 10_000 },
  ),
  Attach: method(
    'Attach',
    { request: v1.AttachRequest, response: v1.AttemptEvent },
    { idempotent: true, deadlineMs: 0 },
  ),
  Stop: method(
    'Stop',
    { request: v1.StopRequest, response: v1.StopResponse },
    { idempotent: true, deadlineMs: 10_000 },
  ),
  List: method(
    'List',
    { request: v1.ListRequest, response: v1.ListResponse },
    { idempotent: true, deadlineMs: 10_000 },
  ),
  Forget: method(
    'Forget',
    { request: v1.ForgetRequest, response: v1.ForgetResponse },
    { idempotent: true, deadlineMs: 30_000 },
  ),
  Autoscale: method(
    'Autoscale',
    { request: v1.AutoscaleRequest, response: v1.AutoscaleResponse },
    { idempotent: true, deadlineMs: 5_000 },
  ),
  Preflight: method(
    'Preflight',
    { request: v1.PreflightRequest, response: v1.PreflightResponse },
    { idempotent: true, deadlineMs: 15_000 },
  ),
} as const;
