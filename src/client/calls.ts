import type { Paths } from './gen/api.ts';

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** The paths that have an operation of this method with an answer of JSON, or with none. */
export type PathOf<M extends Method, Has = { answer: unknown }> = {
  [P in keyof Paths]: Paths[P] extends Record<M, Has> ? P : never;
}[keyof Paths];

type Operation<M extends Method, P extends keyof Paths> = Paths[P] extends Record<M, infer O> ? O : never;

/** What an operation takes: `path`, `query`, `headers` and `body`, as far as it has them. */
export type Input<M extends Method, P extends keyof Paths> = Omit<Operation<M, P>, 'answer' | 'messages'> & {
  /** Gives the request up; the call throws the signal's reason. */
  signal?: AbortSignal | undefined;
};

/** What an operation answers; undefined: nothing. */
export type Answer<M extends Method, P extends keyof Paths> =
  Operation<M, P> extends { answer: infer A } ? A : never;

/** An answer, and the response that it was read from: its status and headers. */
export interface Answered<A> {
  data: A;
  response: Response;
}

type Arguments<M extends Method, P extends keyof Paths> =
  Record<never, never> extends Input<M, P> ? [input?: Input<M, P>] : [input: Input<M, P>];

type Call<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...input: Arguments<M, P>
) => Promise<Answer<M, P>>;

/** The operations of an API, by their paths in its OpenAPI document. Each throws a `ClientError` if it is refused. */
export interface Connection {
  /** The address of the API, without a slash at its end. */
  readonly url: string;
  readonly get: Call<'get'>;
  readonly post: Call<'post'>;
  readonly patch: Call<'patch'>;
  readonly delete: Call<'delete'>;
  /** As the method of that name, with the response: for its status and headers such as `ETag`. */
  request<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    ...input: Arguments<M, P>
  ): Promise<Answered<Answer<M, P>>>;
  /** The response to GET with its body unread: an event stream or a file. No timeout applies. */
  open<P extends PathOf<'get', object>>(path: P, ...input: Arguments<'get', P>): Promise<Response>;
}
