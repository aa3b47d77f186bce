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
  problems?: { field: string; message: string }[];
}

/** A client of the API at `url` that presents `token`. */
export function createClient(options: { url: string; token: string }): Client {
  const base = options.url.replace(/\/$/, '');
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = { authorization: `Bearer ${options.token}`, ...(init.headers as Record<string, string>) };
    let response: Response;
    try {
      response = await fetch(`${base}${path}`, { ...init, headers });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      const cause =
        error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      throw new CliError(
        EXIT.unreachable,
        `No answer from ${base} (${cause}). Is it running? \`echelon up\` starts it; --url says where it is.`,
      );
    }
    if (!response.ok) throw await refusal(response, path);
    return response;
  };
  const get = async <T>(
    path: string,
    query: Record<string, string | number | undefined> = {},
  ): Promise<T> => {
    const set = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(Object.fromEntries(set.map(([key, value]) => [key, String(value)])));
    const response = await send(search.size > 0 ? `${path}?${search}` : path, {});
    return (await response.json()) as T;
  };
  const post = async <T>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    return (await (
      await send(path, { method: 'POST', ...content, headers: { ...type, ...headers } })
    ).json()) as T;
  };
  const patch = async <T>(path: string, body: unknown): Promise<T> => {
    const headers = { 'content-type': 'application/json' };
    return (await (await send(path, { method: 'PATCH', body: JSON.stringify(body), headers })).json()) as T;
  };
  const remove = async <T>(path: string): Promise<T> => {
    const response = await send(path, { method: 'DELETE' });
    return (response.status === 204 ? undefined : await response.json()) as T;
  };
  return {
    url: base,
    get,
    download: async (path) => new Uint8Array(await (await send(path, {})).arrayBuffer()),
    post,
    patch,
    delete: remove,
    events: (id, options) => messages(send, `/v1/experiments/${encodeURIComponent(id)}/events`, options),
    feed: (project, options) => {
      const path =
        project === undefined ? '/v1/events' : `/v1/projects/${encodeURIComponent(project)}/events`;
      return messages(send, path, options);
    },
  };
}

async function refusal(response: Response, path: string): Promise<CliError> {
  const problem = (await response.json().catch(() => ({}))) as Problem;
  const fields = (problem.problems ?? [])
    .map(({ field, message }) => `\n  ${field === '' ? '' : `${field}: `}${message}`)
    .join('');
  if (response.status === 401) {
    const what = 'The API does not accept this token; --token or ECHELON_TOKEN gives another.';
    return new CliError(EXIT.refused, what, problem.code);
  }
  const what = problem.detail ?? problem.title ?? response.statusText;
  const sweep = response.status === 404 && path.startsWith('/v1/experiments/swp-');
  const hint = sweep ? ' That is the id of a sweep: `echelon sweep --help` says what it can do.' : '';
  return new CliError(EXIT.refused, `${what}${hint}${fields}`, problem.code);
}

async function* messages<T extends { id: string }>(
  send: (path: string, init: RequestInit) => Promise<Response>,
  path: string,
  options: { after?: string | undefined; signal: AbortSignal },
): AsyncIterable<T> {
  const isFatal = (error: unknown) => error instanceof CliError && error.exitCode !== EXIT.unreachable;
  try {
    const followed = follow<Omit<T, 'id'>>((headers, signal) => send(path, { headers, signal }), {
      ...options,
      isFatal,
    });
    for await (const { id, data } of followed) yield { id, ...data } as T;
  } catch (error) {
    if (!(error instanceof StreamClosed)) throw error;
    throw new CliError(EXIT.refused, error.message, 'unauthenticated');
  }
}
