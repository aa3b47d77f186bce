import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { RowQuery } from 'echelon-verify/explain';
import type { BundleOrigin } from 'echelon-verify/format';
import type { UploadedFile } from 'echelon-verify/pool';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { EchelonError } from '../../core/errors.ts';
import type { ExperimentsQueue } from '../../queue/experiments-queue.ts';
import type { Store } from '../../store/store.ts';
import type { Callers } from '../access/callers.ts';
import type { OidcSettings } from '../access/oidc.ts';
import type { Asked, OnDemand } from './on-demand.ts';

/** The Fastify instance of this program, with types taken from schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** The default limits of the API, all documented. */
export const DEFAULT_LIMITS = {
  /** Largest body. */
  bodyBytes: 256 * 1024,
  /** Largest request line and headers together. */
  headerBytes: 16 * 1024,
  /** Largest file that is verified. */
  uploadBytes: 32 * 1024 * 1024,
  /** Files of one caller that are verified, or wait for that, at once. */
  uploads: 2,
  /** A request must have arrived in full within this time. */
  requestTimeoutMs: 10_000,
  /** A socket on which nothing moves is closed after this time. */
  connectionTimeoutMs: 60_000,
  /** An idle connection is kept this long for the next request. */
  keepAliveTimeoutMs: 30_000,
  /** A request whose call to the store takes longer is answered 503. */
  storeTimeoutMs: 5_000,
  /** A request is given up after this time, its body and its computation included. */
  handlerTimeoutMs: 40_000,
  /** Requests of one token (or address, without one) in one window. */
  requests: 1000,
  requestWindowMs: 10_000,
  /** Failed sign-ins of one address, or with one API key's id, in a minute. */
  failedSignIns: 30,
  /** Explanations, bundles and reports of files that are computed, or wait for that, at once in the process. */
  recomputations: 16,
  /** Event streams that are open at once with one token. */
  streams: 50,
  /** Event streams that are open at once in the process. */
  allStreams: 4000,
  /** Connections that are open at once in the process; one more is closed before it has said anything. */
  connections: 8000,
  /** Time between two heartbeats of an idle stream. */
  heartbeatMs: 15_000,
  /** A stream is closed if its client has not read the buffered data within this time. */
  stallMs: 30_000,
  /** Bytes that may wait for a client of a stream. */
  streamBufferBytes: 256 * 1024,
};
export type Limits = typeof DEFAULT_LIMITS;

/** The settings of the API. */
export interface AppSettings {
  version: string;
  /** Where people reach it, e.g. `http://127.0.0.1:8080`. */
  publicUrl: string;
  /** A Grafana that the dashboard links to. */
  grafanaUrl?: string | null;
  /** Prices of a GPU hour by GPU type, by `CLUSTER/TYPE`, or `*` for the other types. */
  gpuPrices?: Readonly<Record<string, number>>;
  /** As the dispatchers have it. Default: 5 minutes. */
  preemptWithinMs?: number;
  /** Names that a Host header may have, without port; anything else is answered 403. */
  allowedHosts: readonly string[];
  /** Origins that experiments of the engine `prompt` may call without the scope `custom-code`. */
  promptEndpoints: readonly string[];
  /** Domains to which notifications may be sent by e-mail, in lower case. Default: none. */
  mailDomains?: readonly string[];
  /** Sign-in of people by an OpenID provider; null: by API keys alone. */
  oidc?: OidcSettings | null;
  /** Bearer tokens that may do everything, besides the API keys of the store. */
  tokens: readonly string[];
  /** Key of the signatures on cookies and cursors; at least 32 characters. */
  cookieSecret: string;
  limits?: Partial<Limits>;
}

/** Recomputes on demand, off the event loop. */
interface Verifier {
  /**
   * How the advantage of a row (from 0) of a serialized batch comes about, or the gradient of a token of an optimizer step.
   * Throws a BatchFormatError for bytes that are no batch, a RangeError if there is no such token or it exceeds a limit, and
   * the signal's reason.
   */
  explain(
    bytes: Uint8Array,
    at: { row: number; position?: number | undefined },
    asked: Asked,
  ): Promise<unknown>;
  /** The tokens of a row of a serialized optimizer step (`TokenColumns`). Throws likewise. */
  tokens(bytes: Uint8Array, row: number, asked: Asked): Promise<object>;
  /** Rows of a serialized batch as the JSON text of `RowColumns`. Throws likewise. */
  rows(bytes: Uint8Array, query: RowQuery, asked: Asked): Promise<Uint8Array>;
  /** A serialized batch as a bundle that can be verified elsewhere: JSON in gzip. Throws likewise. */
  bundle(bytes: Uint8Array, origin: BundleOrigin, asked: Asked): Promise<Uint8Array>;
  /** The reports of a file on disk. Throws likewise; a RangeError also if the stated options do not fit the file. */
  verifyFile(
    file: UploadedFile,
    asked: Asked,
  ): Promise<{ batches: readonly unknown[]; steps: readonly unknown[] }>;
}

/** Everything that the API is made of. */
export interface AppDeps {
  store: Store;
  queue: Pick<ExperimentsQueue, 'enqueue' | 'remove' | 'queues'>;
  verifier: Verifier;
  settings: AppSettings;
  log: FastifyBaseLogger;
  clock: { now(): number };
  /** Why the Redis must not be used now; see `watchStore`. */
  storeFault?: () => EchelonError | null;
  /** Told of every answer; `route` is its pattern, `stream` says that it was an event stream. */
  onAnswered?: (answer: {
    method: string;
    route: string;
    status: number;
    seconds: number;
    stream: boolean;
  }) => void;
}

/** What a route gets: the same, with its limits complete, and who may ask. */
export interface RouteDeps extends AppDeps {
  limits: Limits;
  callers: Callers;
  onDemand: OnDemand;
}
