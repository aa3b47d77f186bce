import { toClientError } from './errors.ts';
import { type FollowOptions, follow, type StreamMessage } from './follow.ts';
import { createClient } from './gen/client/client.gen.ts';
import { createConfig } from './gen/client/utils.gen.ts';
import type { EventMessage } from './gen/types.gen.ts';

/** A client of one API under one token; what every generated function takes as `client`. */
export type Connection = ReturnType<typeof createClient>;

/** A client of the API at `url` that presents `token`; its errors are {@link ClientError}s. Nothing is sent yet. */
export function connect({ url, token }: { url: string; token: string }): Connection {
  const client = createClient(createConfig({ baseUrl: url.replace(/\/$/, ''), auth: token }));
  client.interceptors.error.use((error, response) => toClientError(error, response));
  return client;
}

/**
 * The events of an experiment, each once and in order, until it has ended and everything was sent. Resumes by itself;
 * an answer of 4xx is thrown as an {@link ApiError}; StreamClosed where the key is accepted no longer.
 */
export function events(
  client: Connection,
  experiment: string,
  options: FollowOptions = {},
): AsyncIterable<StreamMessage<EventMessage>> {
  return follow(
    async (headers, signal) => {
      const { response } = await client.get({
        url: '/v1/experiments/{id}/events',
        path: { id: experiment },
        security: [{ scheme: 'bearer', type: 'http' }],
        parseAs: 'stream',
        throwOnError: true,
        headers,
        signal,
      });
      return response;
    },
    { isFatal: isRefusal, ...options },
  );
}

/** A refusal that says that the same request would be refused again. */
function isRefusal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'retry' in error && error.retry === false;
}
