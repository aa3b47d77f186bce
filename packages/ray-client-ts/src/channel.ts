import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  type ClientDuplexStream,
  type ClientOptions,
  Metadata,
  type MethodDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { channelCredentials, type TlsOptions } from './credentials.ts';
import { RayAuthenticationError, RayClosedError, RayError, RayUnreachableError } from './errors.ts';
import { ClusterInfoKind, UNARY } from './protocol.ts';
import { errorFromStatus } from './status.ts';

const PING_TIMEOUT_MS = 5_000;
const UNARY_TIMEOUT_MS = 30_000;
const RETRY_DELAYS_MS = [100, 400, 1_500];
/** HTTP/2 window: the 64 KiB of the standard make large objects slow. */
const FLOW_CONTROL_WINDOW_BYTES = 16 * 2 ** 20;

/** What a channel is made from. */
export interface ChannelOptions {
  /** `host:port`. */
  readonly address: string;
  readonly token?: string | undefined;
  readonly tls?: TlsOptions | undefined;
}

/** How a unary call is made. */
export interface UnaryOptions {
  /** What is being done, for error messages. */
  readonly what: string;
  readonly clientId?: string | undefined;
  readonly timeoutMs?: number;
  /** Further metadata. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Whether the call may be repeated when the connection breaks under it. */
  readonly retry?: boolean;
  /** Aborting it cancels the call, which rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** How a call with an answer in pieces is made. It has no deadline: what limits it is the signal. */
export interface DownloadOptions<Piece> extends Pick<UnaryOptions, 'what' | 'clientId'> {
  /** Called with each piece, in order; what it throws ends the call. */
  readonly onPiece: (piece: Piece) => void;
  readonly signal: AbortSignal;
}

/** One connection to the client port of a Ray head: unary calls and streams, nothing of sessions. */
export interface RayChannel {
  readonly address: string;
  /** Makes a unary call; failures arrive as {@link RayError}. */
  call<Request extends object, Response extends object>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    options: UnaryOptions,
  ): Promise<Response>;
  /** Makes a call whose answer comes in pieces; failures arrive as {@link RayError}, an abort as its reason. */
  download<Request extends object, Piece extends object>(
    method: MethodDefinition<Request, Piece>,
    request: Request,
    options: DownloadOptions<Piece>,
  ): Promise<void>;
  /** Opens a stream in both directions. */
  stream<Request extends object, Response extends object>(
    method: MethodDefinition<Request, Response>,
    metadata: Readonly<Record<string, string>>,
  ): ClientDuplexStream<Request, Response>;
  /** Resolves if a server answers. Needs no session. */
  ping(timeoutMs?: number): Promise<void>;
  /** Pings until a head answers. Gives up after `timeoutMs`, and at once when refused for its credentials. */
  waitUntilAnswering(timeoutMs: number, signal?: AbortSignal): Promise<void>;
  /** Ends the channel; calls made later reject with `reason`. */
  close(reason?: Error): void;
}

/** What the calls of a channel share. */
interface Link {
  readonly address: string;
  readonly client: Client;
  /** Metadata of a call, with the token. */
  metadata(entries: Readonly<Record<string, string>>, clientId?: string): Metadata;
  /** Calls that are under way. */
  readonly open: Set<{ cancel(): void }>;
  /** Why nothing is sent any more. */
  closed: Error | undefined;
}

/** Opens a channel; nothing is sent before the first call. Throws for a token that cannot be sent. */
export function createChannel({ address, token, tls }: ChannelOptions): RayChannel {
  // Checked here because the transport's own error would quote the token.
  if (token !== undefined && !/^[\x20-\x7e]+$/.test(token)) {
    throw new RayAuthenticationError('the token is empty, or holds characters that cannot be sent');
  }
  const link: Link = {
    address,
    client: new Client(address, channelCredentials(tls), grpcOptions(tls)),
    open: new Set(),
    closed: undefined,
    metadata(entries, clientId) {
      const metadata = new Metadata();
      if (clientId !== undefined) metadata.set('client_id', clientId);
      for (const [key, value] of Object.entries(entries)) metadata.set(key, value);
      if (token !== undefined) metadata.set('authorization', `Bearer ${token}`);
      return metadata;
    },
  };
  const ping = async (timeoutMs = PING_TIMEOUT_MS, signal?: AbortSignal): Promise<void> => {
    const options = { what: 'ping', timeoutMs, signal };
    await callOnce(link, UNARY.clusterInfo, { type: ClusterInfoKind.PING }, options);
  };
  return {
    address,
    call: (method, request, options) => call(link, method, request, options),
    download: (method, request, options) => download(link, method, request, options),
    ping,
    stream: (method, metadata) =>
      link.client.makeBidiStreamRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        link.metadata(metadata),
      ),
    waitUntilAnswering: (timeoutMs, signal) => waitUntilAnswering(ping, { address, timeoutMs, tls, signal }),
    close(reason = new RayClosedError()) {
      link.closed ??= reason;
      // Pending calls reject now, and nothing keeps the process alive.
      for (const made of link.open) made.cancel();
      link.client.close();
    },
  };
}

async function call<Request extends object, Response extends object>(
  link: Link,
  method: MethodDefinition<Request, Response>,
  request: Request,
  options: UnaryOptions,
): Promise<Response> {
  for (const delayMs of options.retry === true ? RETRY_DELAYS_MS : []) {
    try {
      return await callOnce(link, method, request, options);
    } catch (error) {
      if (!(error instanceof RayUnreachableError)) throw error;
      await pause(delayMs, options.signal);
    }
  }
  return callOnce(link, method, request, options);
}

function callOnce<Request extends object, Response extends object>(
  link: Link,
  { path, requestSerialize, responseDeserialize }: MethodDefinition<Request, Response>,
  request: Request,
  { what, clientId, timeoutMs = UNARY_TIMEOUT_MS, metadata = {}, signal }: UnaryOptions,
): Promise<Response> {
  const { client, address, open } = link;
  return new Promise((resolve, reject) => {
    if (link.closed !== undefined || signal?.aborted) return reject(link.closed ?? signal?.reason);
    const cancel = (): void => made.cancel();
    const made = client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      link.metadata(metadata, clientId),
      { deadline: Date.now() + timeoutMs },
      (error, response) => {
        open.delete(made);
        signal?.removeEventListener('abort', cancel);
        if (error && link.closed !== undefined) reject(link.closed);
        else if (error && signal?.aborted) reject(signal.reason);
        else if (error) reject(errorFromStatus(error, { what, address, timeoutMs }));
        else if (response === undefined) reject(new RayUnreachableError(`${what}: an empty answer`));
        else resolve(response);
      },
    );
    open.add(made);
    signal?.addEventListener('abort', cancel, { once: true });
  });
}

/** Sleeps; rejects with the signal's reason when it is aborted. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal?.throwIfAborted());
}

function download<Request extends object, Piece extends object>(
  link: Link,
  { path, requestSerialize, responseDeserialize }: MethodDefinition<Request, Piece>,
  request: Request,
  { what, clientId, onPiece, signal }: DownloadOptions<Piece>,
): Promise<void> {
  const { client, address, open } = link;
  return new Promise((resolve, reject) => {
    if (link.closed !== undefined || signal.aborted) return reject(link.closed ?? signal.reason);
    const metadata = link.metadata({}, clientId);
    const made = client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      metadata,
    );
    let failure: unknown;
    const cancel = (): void => made.cancel();
    const over = (settle: () => void): void => {
      open.delete(made);
      signal.removeEventListener('abort', cancel);
      settle();
    };
    open.add(made);
    signal.addEventListener('abort', cancel, { once: true });
    made.on('data', (piece) => {
      try {
        onPiece(piece);
      } catch (error) {
        failure ??= error;
        cancel();
      }
    });
    made.on('end', () => over(resolve));
    made.on('error', (error: ServiceError) => {
      const own = failure ?? link.closed ?? (signal.aborted ? signal.reason : undefined);
      over(() => reject(own ?? errorFromStatus(error, { what, address })));
    });
  });
}

/** What is waited for, and how long. */
interface Answering extends Pick<ChannelOptions, 'address' | 'tls'> {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

async function waitUntilAnswering(
  ping: (timeoutMs: number, signal: AbortSignal | undefined) => Promise<void>,
  { address, timeoutMs, tls, signal }: Answering,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, 2_000)) {
    const left = deadline - performance.now();
    try {
      return await ping(Math.max(100, Math.min(PING_TIMEOUT_MS, left)), signal);
    } catch (error) {
      if (!(error instanceof RayError) || !['unreachable', 'timeout'].includes(error.code)) throw error;
      if (performance.now() + delayMs >= deadline) {
        const hint =
          tls === undefined ? 'is it the port of Ray Client, and without TLS?' : 'do the keys match?';
        throw new RayUnreachableError(`no Ray answered at ${address} within ${timeoutMs} ms (${hint})`, {
          cause: error,
        });
      }
      await pause(delayMs, signal);
    }
  }
}

function grpcOptions(tls: TlsOptions | undefined): ClientOptions {
  return {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 20_000,
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.enable_http_proxy': 0,
    // Repeating is decided here, per call: the transport must never repeat the data path.
    'grpc.enable_retries': 0,
    'grpc.initial_reconnect_backoff_ms': 200,
    'grpc.max_reconnect_backoff_ms': 2_000,
    'grpc.use_local_subchannel_pool': 1,
    'grpc-node.flow_control_window': FLOW_CONTROL_WINDOW_BYTES,
    ...(tls?.serverName === undefined ? {} : { 'grpc.ssl_target_name_override': tls.serverName }),
  };
}

/** A failed stream's status, whatever grpc-js made of it. */
export function streamStatus(error: Error | undefined): number {
  return error !== undefined && 'code' in error ? Number((error as ServiceError).code) : status.UNAVAILABLE;
}
