import type { Connection } from './calls.ts';
import { ClientError, refusal, unanswered, unexpected } from './errors.ts';
import { type FollowOptions, follow, type StreamMessage } from './follow.ts';
import type { EventMessage } from './gen/api.ts';

/** The address and the credentials of an API, and how requests are sent. */
export interface ConnectOptions {
  url: string;
  /** An API key or token. Default: none is sent, as by a page of the API's own server, whose browser sends a cookie. */
  token?: string | undefined;
  /** A request without a complete answer after this time fails; an event stream and a file have no limit. Default: none. */
  timeoutMs?: number | undefined;
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Replaces every error of a request with this path and body. Default: the error itself is thrown. */
  toError?: ((error: ClientError, path: string, body: unknown) => Error) | undefined;
}

/** The input of any operation. */
interface Input {
  path?: Record<string, string | number>;
  query?: Record<string, unknown>;
  headers?: Record<string, string | undefined>;
  body?: unknown;
  signal?: AbortSignal | undefined;
}

/** A client of the API at `url` that presents `token`. Nothing is sent yet. */
export function connect(options: ConnectOptions): Connection {
  const { token, timeoutMs, fetch: sendWith = fetch, toError = (error) => error } = options;
  const base = options.url.replace(/\/$/, '');

  /** Sends a request and reads its answer with `read`. Every failure is thrown as an error with a code. */
  async function send<T>(
    {
      method,
      template,
      input,
      signal,
    }: { method: string; template: string; input: Input; signal?: AbortSignal },
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const path = pathOf(template, input);
    const authorization = token === undefined ? undefined : `Bearer ${token}`;
    const headers = definedOf({ authorization, ...input.headers });
    const { body, type } = sent(input.body);
    const signals = [input.signal, signal].filter((one) => one !== undefined);
    try {
      const response = await sendWith(`${base}${path}`, {
        method: method.toUpperCase(),
        ...body,
        headers: { ...type, ...headers },
        ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
      });
      if (!response.ok) throw await refusal(response);
      return await read(response);
    } catch (error) {
      if (input.signal?.aborted) throw error;
      throw toError(error instanceof ClientError ? error : unanswered(error), path, input.body);
    }
  }

  const request = (method: string, template: string, input: Input = {}) =>
    send(
      { method, template, input, ...(timeoutMs !== undefined && { signal: AbortSignal.timeout(timeoutMs) }) },
      async (response) => ({ data: await dataOf(response), response }),
    );
  const call = (method: string) => async (template: string, input?: Input) =>
    (await request(method, template, input)).data;
  const calls = { get: call('get'), post: call('post'), patch: call('patch'), delete: call('delete') };
  const open = (template: string, input: Input = {}) =>
    send({ method: 'get', template, input }, async (response) => response);
  // The types come from the document; the code is the same for every operation.
  return { url: base, ...calls, request, open } as Connection;
}

/** The body of a request: a file as it is, anything else as JSON. */
function sent(body: unknown): { body: Pick<RequestInit, 'body'>; type: Record<string, string> } {
  if (body === undefined) return { body: {}, type: {} };
  if (body instanceof Blob || body instanceof Uint8Array)
    return {
      body: { body: body as NonNullable<RequestInit['body']> },
      type: { 'content-type': 'application/octet-stream' },
    };
  return { body: { body: JSON.stringify(body) }, type: { 'content-type': 'application/json' } };
}

/**
 * The path with its parameters, and the query without undefined values; a list becomes repeated parameters. The server splits a
 * parameter at its commas unless it is repeated.
 */
function pathOf(template: string, { path = {}, query = {} }: Input): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(definedOf(query)))
    for (const one of Array.isArray(value) ? unsplit(value) : [value]) search.append(name, String(one));
  return search.size > 0 ? `${filled}?${search}` : filled;
}

const unsplit = (list: readonly unknown[]): readonly unknown[] =>
  list.length === 1 && String(list[0]).includes(',') ? [list[0], list[0]] : list;

const definedOf = <T>(values: Record<string, T | undefined>): Record<string, T> =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, T] => entry[1] !== undefined));

async function dataOf(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError) throw unexpected(response, error);
    throw error;
  }
}

/**
 * The events of an experiment, each once and in order, until it has ended and all events were sent. A broken connection is
 * resumed. Throws an {@link ApiError} for an answer of 4xx, and StreamClosed if the key is no longer accepted.
 */
export function events(
  client: Connection,
  experiment: string,
  options: FollowOptions = {},
): AsyncIterable<StreamMessage<EventMessage>> {
  const path = { id: experiment };
  return follow((headers, signal) => client.open('/v1/experiments/{id}/events', { path, headers, signal }), {
    isFatal: isRefusal,
    ...options,
  });
}

/** True for a refusal that a retry would meet again. */
function isRefusal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'retry' in error && error.retry === false;
}
