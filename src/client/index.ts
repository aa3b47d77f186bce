/**
 * `echelon/client`: the HTTP API as typed functions, generated from its OpenAPI document. Every function is named after
 * its operation there, takes `{ client, path, query, body, headers }`, and answers `{ data, error, response }`; with
 * `throwOnError: true` it throws the error instead. Every error is a `ClientError` with a `code`; a refusal is an `ApiError`
 * with all that the problem document says.
 *
 *     const client = connect({ url: 'http://127.0.0.1:7077', token });
 *     const { data } = await submitExperiment({ client, body: spec, throwOnError: true });
 *     for await (const { data: message } of events(client, data.id)) console.log(message.event.type);
 */
export { type Connection, connect, events } from './connect.ts';
export { ApiError, ClientError } from './errors.ts';
export { type FollowOptions, follow, StreamClosed, type StreamMessage } from './follow.ts';
export * from './gen/sdk.gen.ts';
export type * from './gen/types.gen.ts';
