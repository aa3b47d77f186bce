/**
 * `echelon-client`: the HTTP API with the types of its OpenAPI document. Each method takes the path of an operation and its
 * `path`, `query`, `headers` and `body`, and returns the answer. Every error is a `ClientError` with a `code`; a refusal is an
 * `ApiError` with all fields of the problem document.
 *
 *     const client = connect({ url: 'http://127.0.0.1:7077', token });
 *     const { id } = await client.post('/v1/experiments', { body: spec });
 *     for await (const { data: message } of events(client, id)) console.log(message.event.type);
 */
export type * from './calls.ts';
export { type ConnectOptions, connect, events } from './connect.ts';
export { ApiError, ClientError } from './errors.ts';
export { type FollowOptions, follow, StreamClosed, type StreamMessage } from './follow.ts';
