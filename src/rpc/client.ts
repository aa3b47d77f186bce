import {
  type CallOptions,
  Client,
  type ClientReadableStream,
  type ClientUnaryCall,
  credentials,
  Metadata,
} from '@grpc/grpc-js';
import type { NumberedEvent } from '../core/events.ts';
import { type LaunchPlan, SPEC_VERSION } from '../core/launch-plan.ts';
import { retryUntil } from '../core/retry.ts';
import { toDescription, toFindings } from './description.ts';
import { toEnded, toNumber, toNumberedEvent } from './events.ts';
import { echelon } from './gen/ray-worker.js';
import { METHODS, type Method } from './methods.ts';
import type { AttemptStatus, LaunchOutcome, RayWorkerClient } from './ray-worker.ts';
import { fromGrpc, RayWorkerError } from './status.ts';

const v1 = echelon.rayworker.v1;

/** Where a ray-worker is, and how to be let in. */
export interface RayWorkerAccess {
  /** host:port */
  address: string;
  token: string;
  /** PEM of the authority that signed its certificate; null: no TLS. */
  ca: string | null;
  /** Installation and cluster of the caller, as proto/ has it. Default: the ray-worker is not told. */
  owner?: string;
  /** Every call ends the ownership of the ray-worker. */
  release?: boolean;
  /**
   * A half-open connection is noticed after `timeMs` + `timeoutMs` at the latest. Servers allow a ping every 5 s;
   * with the defaults (6 s, 5 s) none is refused and the notice comes within 11 s.
   */
  keepalive?: { timeMs: number; timeoutMs: number };
  /** Tries of an idempotent call that gets no answer, the first included. */
  tries?: number;
}

/** What a message may have, as proto/ says. */
const REQUEST_BYTES = 4 * 1024 * 1024;
/** Above that, so that no answer is refused for a rounding of ours. */
const MESSAGE_BYTES = 5 * 1024 * 1024;
const RETRY_WAITS = { firstMs: 100, longestMs: 200 };
const FIRST_RECONNECT_MS = 100;
const LONGEST_RECONNECT_MS = 3_000;

interface Caller {
  unary<Request, Response>(
    name: string,
    method: Method<Request, Response>,
    request: Request,
    options?: { extraMs?: number; signal?: AbortSignal | undefined; tries?: number },
  ): Promise<Response>;
}

function createGrpcClient({ address, ca, keepalive }: RayWorkerAccess): Client {
  const security =
    ca === null ? credentials.createInsecure() : credentials.createSsl(Buffer.from(ca, 'utf8'));
  const { timeMs, timeoutMs } = keepalive ?? { timeMs: 6_000, timeoutMs: 5_000 };
  return new Client(address, security, {
    'grpc.keepalive_time_ms': timeMs,
    'grpc.keepalive_timeout_ms': timeoutMs,
    // A ping only while a call is in flight would leave the first Launch after a silence to its deadline.
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.initial_reconnect_backoff_ms': FIRST_RECONNECT_MS,
    'grpc.max_reconnect_backoff_ms': LONGEST_RECONNECT_MS,
    'grpc.max_receive_message_length': MESSAGE_BYTES,
    'grpc.max_send_message_length': MESSAGE_BYTES,
    // Two clients of one process would share a connection, and with it the fate of the other's streams.
    'grpc.use_local_subchannel_pool': 1,
  });
}

function createCaller(
  client: Client,
  metadata: () => Metadata,
  { address, tries: most = 3 }: RayWorkerAccess,
): Caller {
  function once<Request, Response>(
    method: Method<Request, Response>,
    request: Buffer,
    { deadlineMs, signal }: { deadlineMs: number; signal: AbortSignal | undefined },
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const options: CallOptions = { deadline: Date.now() + deadlineMs };
      const call: ClientUnaryCall = client.makeUnaryRequest(
        method.path,
        (bytes: Buffer) => bytes,
        method.decode,
        request,
        metadata(),
        options,
        (error, response) => {
          signal?.removeEventListener('abort', abort);
          if (error || response === undefined) reject(error ?? new Error('no response'));
          else resolve(response);
        },
      );
      const abort = () => call.cancel();
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
  return {
    async unary(name, method, request, { extraMs = 0, signal, tries = most } = {}) {
      const what = `${name} at ${address}`;
      const bytes = method.encode(request);
      if (bytes.length > REQUEST_BYTES)
        throw new RayWorkerError('invalid', `${what}: ${bytes.length} bytes; a request has at most 4 MiB`);
      const call = () =>
        once(method, bytes, { deadlineMs: method.deadlineMs + extraMs, signal }).catch((error) => {
          throw fromGrpc(error, what, signal);
        });
      const shouldRetry = (error: unknown, tried: number): boolean =>
        method.idempotent && (error as RayWorkerError).fault === 'unreachable' && tried < tries;
      return await retryUntil(call, { waits: RETRY_WAITS, shouldRetry, signal });
    },
  };
}

function toLaunchOutcome(answer: echelon.rayworker.v1.LaunchResponse, address: string): LaunchOutcome {
  switch (answer.outcome) {
    case v1.LaunchResponse.Outcome.STARTED:
      return { outcome: 'started' };
    case v1.LaunchResponse.Outcome.ALREADY_RUNNING:
      return { outcome: 'already-running' };
    case v1.LaunchResponse.Outcome.ALREADY_ENDED:
      return { outcome: 'already-ended' };
    case v1.LaunchResponse.Outcome.FENCED:
      return { outcome: 'fenced', fencingAttempt: answer.fencingAttempt, reason: answer.reason };
    default:
      throw new RayWorkerError(
        'unreachable',
        `Launch at ${address}: an outcome that this version does not know`,
      );
  }
}

function toAttemptStatus(status: echelon.rayworker.v1.AttemptStatus.$Properties): AttemptStatus {
  return {
    experiment: status.experiment ?? '',
    attempt: status.attempt ?? 0,
    running: status.running ?? false,
    lastSequence: toNumber(status.lastSequence),
    launchedAt: toNumber(status.launchedAtUnixMs),
    ended: status.ended ? toEnded(status.ended) : null,
    tombstone: status.tombstone ?? false,
  };
}

function toWirePlan(plan: LaunchPlan): echelon.rayworker.v1.LaunchPlan.$Properties {
  const files = Object.entries(plan.files).map(([name, content]) => [
    name,
    typeof content === 'string' ? Buffer.from(content, 'utf8') : content,
  ]);
  return {
    ...plan,
    specVersion: SPEC_VERSION,
    arguments: [...plan.arguments],
    environment: { ...plan.environment },
    secrets: { ...plan.secrets },
    nodes: plan.nodes?.map((node) => ({ ...node })) ?? [],
    files: Object.fromEntries(files),
  };
}

/** Yields a call's messages until its `ended` event; takes the next only when the consumer asks for more. */
async function* readEvents(
  open: () => ClientReadableStream<echelon.rayworker.v1.AttemptEvent>,
  what: string,
  signal: AbortSignal,
): AsyncGenerator<NumberedEvent, void, undefined> {
  if (signal.aborted) return;
  let call: ReturnType<typeof open> | undefined;
  const abort = () => call?.cancel();
  signal.addEventListener('abort', abort, { once: true });
  try {
    // A client that was closed in the meantime throws here.
    call = open();
    // After cancel() grpc-js emits CANCELLED, perhaps after the iteration has ended.
    call.on('error', () => {});
    for await (const message of call) {
      const numbered = toNumberedEvent(message);
      yield numbered;
      if (numbered.event.type === 'ended') return;
    }
    if (!signal.aborted)
      throw new RayWorkerError('unreachable', `${what}: the stream closed before the attempt's end`);
  } catch (error) {
    if (!signal.aborted) throw fromGrpc(error, what, signal);
  } finally {
    signal.removeEventListener('abort', abort);
    call?.cancel();
  }
}

/**
 * A client of the ray-worker at `address`. It connects when first needed and reconnects by itself. `close` ends
 * every call in flight.
 */
export function createRayWorkerClient(options: RayWorkerAccess): RayWorkerClient {
  const { address, token, owner, release = false } = options;
  const client = createGrpcClient(options);
  const metadata = () => {
    const headers = new Metadata();
    headers.set('authorization', `Bearer ${token}`);
    if (owner !== undefined) headers.set('echelon-owner', owner);
    if (release) headers.set('echelon-release', '1');
    return headers;
  };
  const { unary } = createCaller(client, metadata, options);
  return {
    describe: async (signal) => toDescription(await unary('Describe', METHODS.Describe, {}, { signal })),
    async launch(experiment, attempt, plan, signal) {
      const request = { experiment, attempt, plan: toWirePlan(plan) };
      return toLaunchOutcome(await unary('Launch', METHODS.Launch, request, { signal }), address);
    },
    attach(experiment, attempt, after, signal) {
      const open = () =>
        client.makeServerStreamRequest(
          METHODS.Attach.path,
          METHODS.Attach.encode,
          METHODS.Attach.decode,
          { experiment, attempt, after },
          metadata(),
        );
      return readEvents(open, `Attach at ${address}`, signal);
    },
    async stop(experiment, attempt, { gracePeriodMs, reason }, signal) {
      const request = { experiment, attempt, gracePeriodMs, reason };
      const answer = await unary('Stop', METHODS.Stop, request, { extraMs: gracePeriodMs, signal });
      return { dropped: answer.dropped, ended: answer.ended ? toEnded(answer.ended) : null };
    },
    forget: async (experiment, attempt, signal) => ({
      forgotten: (await unary('Forget', METHODS.Forget, { experiment, attempt }, { signal })).forgotten,
    }),
    async list(experiment = '', signal) {
      const answer = await unary('List', METHODS.List, { experiment }, { signal });
      return (answer.attempts ?? []).map(toAttemptStatus);
    },
    autoscale: async (bundles, signal) =>
      void (await unary('Autoscale', METHODS.Autoscale, { bundles: [...bundles] }, { signal })),
    async preflight(plan, deadlineMs, signal) {
      const request = { deadlineMs, ...(plan && { plan: toWirePlan(plan) }) };
      // Once: what took so long would take as long again.
      const options = { extraMs: deadlineMs, signal, tries: 1 };
      const answer = await unary('Preflight', METHODS.Preflight, request, options);
      return toFindings(answer);
    },
    close: () => client.close(),
  };
}
