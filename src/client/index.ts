/**
 * `echelon/client`: the HTTP API with types of its OpenAPI document. A method of a client takes the path of an operation as the
 * document has it, and its `path`, `query`, `headers` and `body`; it returns the answer. Every error is a `ClientError` with a
 * `code`; a refusal is an `ApiError` with all that the problem document says.
 *
 *     const client = connect({ url: 'http://127.0.0.1:7077', token });
 *     const { id } = await client.post('/v1/experiments', { body: spec });
 *     for await (const { data: message } of events(client, id)) console.log(message.event.type);
 */
export type { Answer, Answered, Connection, Input, Method, PathOf } from './calls.ts';
export { type ConnectOptions, connect, events } from './connect.ts';
export { ApiError, ClientError } from './errors.ts';
export { type FollowOptions, follow, StreamClosed, type StreamMessage } from './follow.ts';
export type * from './gen/api.ts';
