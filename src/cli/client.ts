import { connect } from '../client/connect.ts';
import { ApiError, type ClientError } from '../client/errors.ts';
import { follow, StreamClosed } from '../client/follow.ts';
import type { ExperimentEvent, FeedEntry } from '../core/events.ts';
import { CliError, EXIT } from './exit.ts';

/** An event as the API sends it: `id` resumes behind it. */
export interface ReceivedEvent {
  id: string;
  at: number;
  event: ExperimentEvent;
}

/** The API, as the commands use it. Every method throws {@link CliError} with a sentence for the person at the terminal. */
export interface Client {
  readonly url: string;
  get<T>(path: string, query?: Query): Promise<T>;
  /** The bytes of an answer that is a file. */
  download(path: string): Promise<Uint8Array>;
  /** `body` undefined: none is sent. */
  post<T>(path: string, body: unknown, headers?: Record<string, string>): Promise<T>;
  patch<T>(path: string, body: unknown): Promise<T>;
  /** Reads a record, makes a change of it and sends that; read again where somebody else changed the record meanwhile. */
  change<T>(path: string, make: (before: T) => unknown): Promise<T>;
  /** An answer without a body is undefined. */
  delete<T>(path: string): Promise<T>;
  /**
   * The events of an experiment after `after`, live, until its final state was sent or `signal` aborts. A broken
   * connection is made again from the last event, for as long as the API answers within a minute.
   */
  events(
    id: string,
    options: { after?: string | undefined; signal: AbortSignal },
  ): AsyncIterable<ReceivedEvent>;
  /**
   * What happens in a project (undefined: in all of them) behind `after`, or from now on, until `signal` aborts; else as
   * `events`.
   */
  feed(
    project: string | undefined,
    options: { after?: string | undefined; signal: AbortSignal },
  ): AsyncIterable<FeedEntry>;
}

/** A refusal of a server that will answer otherwise when it is asked again. */
class RefusedForNow extends CliError {}

/** Whom a client talks to. */
export interface ClientOptions {
  url: string;
  token: string;
  /** Told once, in a sentence, when an answer takes longer than 2 seconds. */
  onSlow?: ((text: string) => void) | undefined;
  /** Told in a sentence when a stream is cut, and when it goes on. */
  onCut?: ((text: string) => void) | undefined;
  /** Without an answer for so long a request is given up; a stream and a download are not. 60 seconds where left out. */
  patienceMs?: number;
}

type Query = Record<string, string | number | undefined>;

/** The client without the types of its operations: the commands make paths of ids and say which answer they expect. */
interface AnyConnection {
  get(path: string, input: { query: Query }): Promise<unknown>;
  post(path: string, input: { body: unknown; headers: Record<string, string> }): Promise<unknown>;
  patch(path: string, input: { body: unknown; headers?: Record<string, string> }): Promise<unknown>;
  delete(path: string): Promise<unknown>;
  request(method: 'get', path: string): Promise<{ data: unknown; response: Response }>;
  open(path: string, input?: { headers: Record<string, string>; signal: AbortSignal }): Promise<Response>;
}

/** A change that meets changes of others is made anew so many times. */
const MAX_CHANGES = 20;

const SLOW_MS = 2_000;
/** How long a server that does not answer is asked. */
export const PATIENCE_MS = 60_000;

/** A client of the API at `url` that presents `token`. */
export function createClient(options: ClientOptions): Client {
  const { url, token, onCut = () => undefined, patienceMs = PATIENCE_MS } = options;
  const base = url.replace(/\/$/, '');
  const api = connect({
    ...{ url: base, token, timeoutMs: patienceMs, fetch: announcing(base, options) },
    toError: (error, path) => inWords(error, base, path),
  }) as unknown as AnyConnection;
  const change = async <T>(path: string, make: (before: T) => unknown): Promise<T> => {
    for (let tries = 1; ; tries += 1) {
      const { data, response } = await api.request('get', path);
      const etag = response.headers.get('etag');
      const input = { body: make(data as T), ...(etag !== null && { headers: { 'if-match': etag } }) };
      try {
        return (await api.patch(path, input)) as T;
      } catch (error) {
        const met = error instanceof CliError && error.code === 'precondition-failed';
        if (!met || tries === MAX_CHANGES) throw error;
      }
    }
  };
  const stream = (path: string) => (headers: Record<string, string>, signal: AbortSignal) =>
    api.open(path, { headers, signal });
  return {
    url: base,
    get: <T>(path: string, query: Query = {}) => api.get(path, { query }) as Promise<T>,
    download: async (path) => new Uint8Array(await (await api.open(path)).arrayBuffer()),
    post: <T>(path: string, body: unknown, headers: Record<string, string> = {}) =>
      api.post(path, { body, headers }) as Promise<T>,
    patch: <T>(path: string, body: unknown) => api.patch(path, { body }) as Promise<T>,
    change,
    delete: <T>(path: string) => api.delete(path) as Promise<T>,
    events: (id, where) =>
      messages(stream(`/v1/experiments/${encodeURIComponent(id)}/events`), { ...where, onCut }),
    feed: (project, where) => {
      const path =
        project === undefined ? '/v1/events' : `/v1/projects/${encodeURIComponent(project)}/events`;
      return messages(stream(path), { ...where, onCut });
    },
  };
}

/** `fetch` that says once that an answer takes long. */
function announcing(base: string, { onSlow }: ClientOptions) {
  let said = false;
  return async (url: string, init: RequestInit): Promise<Response> => {
    const slow = setTimeout(() => {
      if (!said) onSlow?.(`Waiting for an answer from ${base}`);
      said = true;
    }, SLOW_MS);
    try {
      return await fetch(url, init);
    } finally {
      clearTimeout(slow);
    }
  };
}

const START = 'Is it running? `echelon up` starts it; --url says where it is.';

/** Why there is no answer, and what to do. */
function whyNone(error: unknown): string {
  const { name, cause } = error as Error;
  const { code = '', message = String(error) } = (cause ?? {}) as NodeJS.ErrnoException;
  if (name === 'TimeoutError') return ': it took the request and is silent.';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ': its name is not known here; is --url right?';
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || /wrong version number/.test(message))
    return ': it does not speak TLS; does its address begin with http://?';
  if (/certificate/i.test(message))
    return ` (${message}). NODE_EXTRA_CA_CERTS names a file with the certificate of who signed it.`;
  return ` (${message.split('\n', 1)[0]}). ${START}`;
}

const notTheApi = (base: string, what: string): CliError =>
  new CliError(
    EXIT.unreachable,
    `What ${base} answers ${what}: it is not an API of Echelon. Is --url right?`,
  );

/** An error of the client as a sentence for the person at the terminal. */
function inWords(error: ClientError, base: string, path: string): CliError {
  const { response } = error;
  if (response === undefined)
    return new CliError(EXIT.unreachable, `No answer from ${base}${whyNone(error.cause)}`);
  if (response.status === 401) {
    const what = 'The API does not accept this token; --token or ECHELON_TOKEN gives another.';
    return new CliError(EXIT.refused, what, error instanceof ApiError ? error.code : undefined);
  }
  if (error instanceof ApiError) {
    const hint = response.status === 404 ? mixedUp(path) : '';
    const fields = error.message.slice(error.detail.length);
    const Kind = error.retry ? RefusedForNow : CliError;
    return new Kind(EXIT.refused, `${error.detail}${hint}${fields}`, error.code, error.problems);
  }
  if (response.ok) return notTheApi(base, 'is not JSON');
  const status = `${response.status} ${response.statusText}`;
  if (response.status < 500) return notTheApi(base, `to ${path} (${status}) is no answer of ours`);
  return new CliError(EXIT.unreachable, `No answer from ${base}: ${status}, probably of a proxy before it.`);
}

/** What to say to somebody who takes a sweep for an experiment, or an experiment for a sweep. */
function mixedUp(path: string): string {
  if (path.startsWith('/v1/experiments/swp-'))
    return ' That is the id of a sweep: `echelon sweep --help` says what it can do.';
  if (path.startsWith('/v1/sweeps/exp-')) return ' That is the id of an experiment: `echelon get` shows it.';
  return '';
}

async function* messages<T extends { id: string }>(
  open: (headers: Record<string, string>, signal: AbortSignal) => Promise<Response>,
  options: { after?: string | undefined; signal: AbortSignal; onCut: (text: string) => void },
): AsyncIterable<T> {
  const { onCut, ...where } = options;
  let [wasOpen, isCut] = [false, false];
  const opened = async (headers: Record<string, string>, signal: AbortSignal): Promise<Response> => {
    try {
      const response = await open(headers, signal);
      if (isCut) onCut('There is an answer again; it goes on where it was cut.');
      [wasOpen, isCut] = [true, false];
      return response;
    } catch (error) {
      if (wasOpen && !isCut && !isFatal(error))
        onCut(`${(error as Error).message} Trying again for a minute.`);
      isCut = true;
      throw error;
    }
  };
  // Somebody who has seen nothing yet is better told at once.
  const isFatal = (error: unknown) => error instanceof CliError && (!wasOpen || isRefusal(error));
  try {
    for await (const { id, data } of follow<Omit<T, 'id'>>(opened, { ...where, isFatal }))
      yield { id, ...data } as T;
  } catch (error) {
    if (!(error instanceof StreamClosed)) throw error;
    throw new CliError(EXIT.refused, error.message, 'unauthenticated');
  }
}

/** True for what would be refused again, and for what no server said. */
export const isRefusal = (error: unknown): boolean =>
  !(error instanceof RefusedForNow) && (!(error instanceof CliError) || error.exitCode !== EXIT.unreachable);
