/**
 * `echelon/client`: the HTTP API as typed functions, generated from its OpenAPI document. Every function is named after
 * its operation there, takes `{ client, path, query, body, headers }`, and answers `{ data, error, response }`; with
 * `throwOnError: true` it throws the problem document instead.
 *
 *     const client = connect({ url: 'http://127.0.0.1:7077', token });
 *     const { data } = await submitExperiment({ client, body: spec, throwOnError: true });
 *     for await (const { data: message } of events(client, data.id)) console.log(message.event.type);
 */
export { type Connection, connect, events } from './connect.ts';
export { type FollowOptions, follow, StreamClosed, type StreamMessage } from './follow.ts';
export * from './gen/sdk.gen.ts';
export type * from './gen/types.gen.ts';
