import type { Paths } from './gen/api.ts';

export type * from './gen/api.ts';

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** The paths with an operation of this method whose answer is JSON or empty. */
export type PathOf<M extends Method, Has = { answer: unknown }> = {
  [P in keyof Paths]: Paths[P] extends Record<M, Has> ? P : never;
}[keyof Paths];

type Operation<M extends Method, P extends keyof Paths> = Paths[P] extends Record<M, infer O> ? O : never;

/** The input of an operation: those of `path`, `query`, `headers` and `body` that it has. */
export type Input<M extends Method, P extends keyof Paths> = Omit<Operation<M, P>, 'answer' | 'messages'> & {
  /** Aborts the request; the call throws the signal's reason. */
  signal?: AbortSignal | undefined;
};

/** The answer of an operation; undefined if it has no body. */
export type Answer<M extends Method, P extends keyof Paths> =
  Operation<M, P> extends { answer: infer A } ? A : never;

/** An answer and its response, which has status and headers. */
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

/** The operations of an API by their paths in its OpenAPI document. A refused request throws a `ClientError`. */
export interface Connection {
  /** The address of the API without a slash at its end. */
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
