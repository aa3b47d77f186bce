import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import type { Connection, EventMessage } from 'echelon-client/calls';
import { connect } from 'echelon-client/connect';
import { ApiError, type ClientError } from 'echelon-client/errors';
import { follow, StreamClosed } from 'echelon-client/follow';
import { createServerClock, type ServerClock } from 'echelon-client/server-clock';
import type { FeedEntry } from '../core/events.ts';

/** An event of an experiment. A stream that resumes with `id` begins with the next event. */
export type ReceivedEvent = { id: string } & EventMessage;

/** Where a stream begins, and what ends it. */
interface StreamOptions {
  /** Id of the last event that is already known. Default: the stream begins at its first event. */
  after?: string | undefined;
  signal: AbortSignal;
}

/** The API as the commands use it. Every method throws a {@link CliError} with a message for the user. */
export interface Client extends Connection {
  /**
   * The events of an experiment, live, until its final state was sent or `signal` aborts. A broken connection is opened
   * again after the last event that arrived. The stream fails if the API does not answer for a minute.
   */
  events(id: string, options: StreamOptions): AsyncIterable<ReceivedEvent>;
  /** The events of a project (undefined: of all projects), from now on unless `after` is given; else as `events`. */
  feed(project: string | undefined, options: StreamOptions): AsyncIterable<FeedEntry>;
  /** Now by the clock of the server, in ms since 1970, as the answers so far tell it: recorded times are of that clock. */
  now(): number;
  /** {@link now}, after a request if no answer has come yet. */
  serverTime(): Promise<number>;
}

/** A request that the API may have received and carried out, although no answer of the API came. */
export class AnswerLost extends CliError {}

/** A refusal that the server marks as worth a retry. */
class TemporaryRefusal extends CliError {}

/** Address and credentials of an API, and how slow answers are handled. */
interface ClientOptions {
  url: string;
  token: string;
  /** Receives one message if an answer takes longer than 2 seconds. */
  onSlow?: ((text: string) => void) | undefined;
  /** Receives a message when a stream breaks, and when it continues. */
  onCut?: ((text: string) => void) | undefined;
  /** A request without a complete answer after this time fails. Streams and files have no limit. Default: 60 seconds. */
  timeoutMs?: number;
}

const SLOW_MS = 2_000;
/** How long a request is retried while the server does not answer, and how long one answer may take. */
export const PATIENCE_MS = 60_000;

/** A client of the API at `url` that presents `token`. */
export function createClient(options: ClientOptions): Client {
  const { url, token, onCut = () => undefined, timeoutMs = PATIENCE_MS } = options;
  const base = url.replace(/\/$/, '');
  const clock = createServerClock();
  const api = connect({
    url: base,
    token,
    timeoutMs,
    fetch: announcing(base, options, clock),
    toError: (error, path, body) => toCliError(error, base, { path, body }),
  });
  return {
    ...api,
    now: clock.now,
    async serverTime() {
      if (!clock.isKnown) await api.get('/v1/caller');
      return clock.now();
    },
    events: (id, where) =>
      messages<EventMessage>(
        (headers, signal) => api.open('/v1/experiments/{id}/events', { path: { id }, headers, signal }),
        { ...where, onCut },
      ),
    feed: (project, where) =>
      messages<Omit<FeedEntry, 'id'>>(
        (headers, signal) =>
          project === undefined
            ? api.open('/v1/events', { headers, signal })
            : api.open('/v1/projects/{name}/events', { path: { name: project }, headers, signal }),
        { ...where, onCut },
      ),
  };
}

/** `fetch` that reports the first slow answer, and takes the time from each. */
function announcing(base: string, { onSlow }: ClientOptions, clock: ServerClock) {
  let announced = false;
  return async (url: string, init: RequestInit): Promise<Response> => {
    const slow = setTimeout(() => {
      if (!announced) onSlow?.(`Waiting for an answer from ${base}`);
      announced = true;
    }, SLOW_MS);
    try {
      const response = await fetch(url, init);
      clock.hear(response);
      return response;
    } finally {
      clearTimeout(slow);
    }
  };
}

const START = 'Start it with `echelon up`, or give another address with --url.';

/** Why the API gave no answer, and what the user can do. */
function causeOf(error: unknown): string {
  const { name, cause } = error as Error;
  const { code = '', message = String(error) } = (cause ?? {}) as NodeJS.ErrnoException;
  if (name === 'TimeoutError') return ': it accepted the request but sent nothing. Try again later.';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ': the host name cannot be resolved. Check --url.';
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || /wrong version number/.test(message))
    return ': the server does not use TLS. Try an address that begins with http://.';
  if (/certificate/i.test(message))
    return ` (${message}). Set NODE_EXTRA_CA_CERTS to a file with the certificate of the issuer.`;
  return ` (${message.split('\n', 1)[0]}). ${START}`;
}

/** False if no connection was made, so that no request can have arrived. */
function hasArrived(error: unknown): boolean {
  const { cause } = error as Error;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
  const isRefused = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;
  return !isRefused.test(code) && !/SSL|CERT|TLS|SIGNED/.test(code);
}

const notTheApi = (base: string, what: string): CliError =>
  new CliError(EXIT.unreachable, `${base} is not an Echelon API: ${what}. Check --url.`);

/** An error of the client as a message for the user. */
function toCliError(
  error: ClientError,
  base: string,
  { path, body }: { path: string; body: unknown },
): CliError {
  const { response } = error;
  if (response === undefined) {
    if (isUnsendable(error.cause))
      return new CliError(EXIT.usage, `The request cannot be sent: ${(error.cause as Error).message}.`);
    const Kind = hasArrived(error.cause) ? AnswerLost : CliError;
    return new Kind(EXIT.unreachable, `No answer from ${base}${causeOf(error.cause)}`);
  }
  if (response.status === 401) {
    const message = `${base} does not accept the token. Give another one with --token or ECHELON_TOKEN.`;
    return new CliError(EXIT.refused, message, error instanceof ApiError ? error.code : undefined);
  }
  if (error instanceof ApiError) {
    const hint =
      error.code === 'body-too-large'
        ? largestHint(body)
        : response.status === 404
          ? wrongKindHint(path)
          : '';
    const fields = error.message.slice(error.detail.length);
    const Kind = error.retry ? TemporaryRefusal : CliError;
    return new Kind(EXIT.refused, `${error.detail}${hint}${fields}`, error.code, error.problems);
  }
  if (response.ok) return notTheApi(base, 'its answer is not JSON');
  const status = `${response.status} ${response.statusText}`;
  if (response.status < 500) return notTheApi(base, `it answers ${status} to ${path}`);
  return new AnswerLost(
    EXIT.unreachable,
    `No answer from ${base}: ${status}, probably from a proxy in front of it. Try again later.`,
  );
}

/** True if no request could be made of the input, such as of a header with a character that none may have. */
const isUnsendable = (error: unknown): boolean => error instanceof TypeError && error.cause === undefined;

/** What takes the most room in a body. */
function largestHint(body: unknown): string {
  const found = largestField(body);
  return found === undefined ? '' : ` The largest field is ${inert(found.field)} with ${found.bytes} bytes.`;
}

/** The field deepest in the body that has more than half of the bytes of the one above it. */
function largestField(body: unknown): { field: string; bytes: number } | undefined {
  let found: { field: string; bytes: number } | undefined;
  for (let value = body; typeof value === 'object' && value !== null; ) {
    const sizes = Object.entries(value).map(([key, inner]) => ({ key, inner, bytes: sizeOf(inner) }));
    const [most] = sizes.toSorted((one, other) => other.bytes - one.bytes);
    if (most === undefined || (found !== undefined && most.bytes < found.bytes / 2)) break;
    found = { field: `${found?.field ?? ''}/${most.key}`, bytes: most.bytes };
    value = most.inner;
  }
  return found;
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/** A hint for a caller who uses the id of a sweep for an experiment, or the reverse. */
function wrongKindHint(path: string): string {
  if (path.startsWith('/v1/experiments/swp-'))
    return ' That is the id of a sweep; see `echelon sweeps --help`.';
  if (path.startsWith('/v1/sweeps/exp-')) return ' That is the id of an experiment; `echelon get` shows it.';
  return '';
}

async function* messages<T>(
  open: (headers: Record<string, string>, signal: AbortSignal) => Promise<Response>,
  options: StreamOptions & { onCut: (text: string) => void },
): AsyncIterable<{ id: string } & T> {
  const { onCut, ...where } = options;
  let [wasOpen, isCut] = [false, false];
  const opened = async (headers: Record<string, string>, signal: AbortSignal): Promise<Response> => {
    try {
      const response = await open(headers, signal);
      if (isCut) onCut('Connected again; the stream continues after the last event.');
      [wasOpen, isCut] = [true, false];
      return response;
    } catch (error) {
      if (wasOpen && !isCut && !isFatal(error)) onCut(`${(error as Error).message} ${RETRYING}`);
      isCut = true;
      throw error;
    }
  };
  // A stream that never opened fails at once: the user has seen nothing yet, and a retry would hide the reason.
  const isFatal = (error: unknown) => error instanceof CliError && (!wasOpen || isRefusal(error));
  try {
    for await (const { id, data } of follow<T>(opened, { ...where, isFatal })) yield { id, ...data };
  } catch (error) {
    if (!(error instanceof StreamClosed)) throw error;
    throw new CliError(EXIT.refused, error.message, 'unauthenticated');
  }
}

/** What the user reads when an answer is missing and a retry follows. */
export const RETRYING = 'Retrying for a minute.';

/** True for an error that a retry would meet again. */
export const isRefusal = (error: unknown): boolean =>
  !(error instanceof TemporaryRefusal) &&
  (!(error instanceof CliError) || error.exitCode !== EXIT.unreachable);

/** A page of a list of the API: `next` is the cursor of the page after it, null on the last page. */
interface Page {
  items: unknown[];
  next: string | null;
}

/** Most entries that the API puts on a page of most lists. */
export const MAX_PAGE = 200;

/**
 * The first `limit` entries of a list (all of them if omitted), from as many pages as that takes, with the other fields of the
 * last page. `next` is null if the list has no more entries.
 */
export async function readPages<P extends Page>(
  read: (page: { cursor: string | undefined; limit: number }) => Promise<P>,
  {
    limit = Number.POSITIVE_INFINITY,
    maxPage = MAX_PAGE,
  }: { limit?: number | undefined; maxPage?: number } = {},
): Promise<P> {
  const items: P['items'] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await read({ cursor, limit: Math.min(maxPage, limit - items.length) });
    items.push(...page.items);
    if (page.next === null || items.length >= limit) return { ...page, items };
    cursor = page.next;
  }
}
