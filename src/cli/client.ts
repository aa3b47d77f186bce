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
  get<T>(path: string, query?: Record<string, string | number | undefined>): Promise<T>;
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

interface Problem {
  code?: string;
  detail?: string;
  title?: string;
  retry?: boolean;
  problems?: { field: string; message: string }[];
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

type Send = (path: string, init: RequestInit, signal?: AbortSignal) => Promise<Response>;

/** A change that meets changes of others is made anew so many times. */
const MOST_CHANGES = 20;

const SLOW_MS = 2_000;
/** How long a server that does not answer is asked. */
export const PATIENCE_MS = 60_000;

/** A client of the API at `url` that presents `token`. */
export function createClient(options: ClientOptions): Client {
  const { onCut = () => undefined, patienceMs = PATIENCE_MS } = options;
  const base = options.url.replace(/\/$/, '');
  const open = sender(base, options);
  const send: Send = (path, init) => open(path, init, AbortSignal.timeout(patienceMs));
  const get = async <T>(
    path: string,
    query: Record<string, string | number | undefined> = {},
  ): Promise<T> => {
    const set = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(Object.fromEntries(set.map(([key, value]) => [key, String(value)])));
    const response = await send(search.size > 0 ? `${path}?${search}` : path, {});
    return bodyOf<T>(response, base);
  };
  const post = async <T>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const init = { method: 'POST', ...content, headers: { ...type, ...headers } };
    return bodyOf<T>(await send(path, init), base);
  };
  const patch = async <T>(path: string, body: unknown, more: Record<string, string> = {}): Promise<T> => {
    const headers = { 'content-type': 'application/json', ...more };
    return bodyOf<T>(await send(path, { method: 'PATCH', body: JSON.stringify(body), headers }), base);
  };
  const change = async <T>(path: string, make: (before: T) => unknown): Promise<T> => {
    for (let tries = 1; ; tries += 1) {
      const read = await send(path, {});
      const etag = read.headers.get('etag');
      const body = make(await bodyOf<T>(read, base));
      try {
        return await patch<T>(path, body, etag === null ? {} : { 'if-match': etag });
      } catch (error) {
        const met = error instanceof CliError && error.code === 'precondition-failed';
        if (!met || tries === MOST_CHANGES) throw error;
      }
    }
  };
  const remove = async <T>(path: string): Promise<T> => {
    const response = await send(path, { method: 'DELETE' });
    return response.status === 204 ? (undefined as T) : bodyOf<T>(response, base);
  };
  return {
    url: base,
    get,
    download: async (path) => new Uint8Array(await (await open(path, {})).arrayBuffer()),
    post,
    patch,
    change,
    delete: remove,
    events: (id, where) =>
      messages(open, `/v1/experiments/${encodeURIComponent(id)}/events`, { ...where, onCut }),
    feed: (project, where) => {
      const path =
        project === undefined ? '/v1/events' : `/v1/projects/${encodeURIComponent(project)}/events`;
      return messages(open, path, { ...where, onCut });
    },
  };
}

/** Sends a request and returns what is no refusal. `signal` gives it up as a server that does not answer. */
function sender(base: string, { token, onSlow }: ClientOptions): Send {
  let said = false;
  return async (path, init, signal) => {
    const headers = { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) };
    const slow = setTimeout(() => {
      if (!said) onSlow?.(`Waiting for an answer from ${base}`);
      said = true;
    }, SLOW_MS);
    let response: Response;
    try {
      response = await fetch(`${base}${path}`, { ...(signal && { signal }), ...init, headers });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new CliError(EXIT.unreachable, `No answer from ${base}${whyNone(error)}`);
    } finally {
      clearTimeout(slow);
    }
    if (!response.ok) throw await refusal(response, base, path);
    return response;
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

async function bodyOf<T>(response: Response, base: string): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch (error) {
    if (!(error instanceof SyntaxError))
      throw new CliError(EXIT.unreachable, `No answer from ${base}${whyNone(error)}`);
    throw notTheApi(base, 'is not JSON');
  }
}

const notTheApi = (base: string, what: string): CliError =>
  new CliError(
    EXIT.unreachable,
    `What ${base} answers ${what}: it is not an API of Echelon. Is --url right?`,
  );

async function refusal(response: Response, base: string, path: string): Promise<CliError> {
  const problem = (await response.json().catch(() => ({}))) as Problem;
  const fields = (problem.problems ?? [])
    .map(({ field, message }) => `\n  ${field === '' ? '' : `${field}: `}${message}`)
    .join('');
  if (response.status === 401) {
    const what = 'The API does not accept this token; --token or ECHELON_TOKEN gives another.';
    return new CliError(EXIT.refused, what, problem.code);
  }
  if (problem.code === undefined && response.status >= 500)
    return new CliError(
      EXIT.unreachable,
      `No answer from ${base}: ${response.status} ${response.statusText}, probably of a proxy before it.`,
    );
  if (problem.code === undefined)
    return notTheApi(base, `to ${path} (${response.status} ${response.statusText}) is no answer of ours`);
  const what = problem.detail ?? problem.title ?? response.statusText;
  const hint = response.status === 404 ? mixedUp(path) : '';
  const Kind = problem.retry === true ? RefusedForNow : CliError;
  return new Kind(EXIT.refused, `${what}${hint}${fields}`, problem.code, problem.problems);
}

/** What to say to somebody who takes a sweep for an experiment, or an experiment for a sweep. */
function mixedUp(path: string): string {
  if (path.startsWith('/v1/experiments/swp-'))
    return ' That is the id of a sweep: `echelon sweep --help` says what it can do.';
  if (path.startsWith('/v1/sweeps/exp-')) return ' That is the id of an experiment: `echelon get` shows it.';
  return '';
}

async function* messages<T extends { id: string }>(
  send: Send,
  path: string,
  options: { after?: string | undefined; signal: AbortSignal; onCut: (text: string) => void },
): AsyncIterable<T> {
  const { onCut, ...where } = options;
  let [wasOpen, isCut] = [false, false];
  const open = async (headers: Record<string, string>, signal: AbortSignal): Promise<Response> => {
    try {
      const response = await send(path, { headers, signal });
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
    for await (const { id, data } of follow<Omit<T, 'id'>>(open, { ...where, isFatal }))
      yield { id, ...data } as T;
  } catch (error) {
    if (!(error instanceof StreamClosed)) throw error;
    throw new CliError(EXIT.refused, error.message, 'unauthenticated');
  }
}

/** True for what would be refused again, and for what no server said. */
export const isRefusal = (error: unknown): boolean =>
  !(error instanceof RefusedForNow) && (!(error instanceof CliError) || error.exitCode !== EXIT.unreachable);
