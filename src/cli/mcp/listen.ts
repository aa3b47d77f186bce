import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createClient } from '../client.ts';
import { createMcpServer } from './server.ts';

/**
 * Serves MCP over streamable HTTP, without sessions. Every request has the API key of its caller as bearer token, which the
 * API checks: this server has none of its own.
 */
export async function listen({
  url,
  host,
  port,
  allowWrites,
}: {
  /** The API. */
  url: string;
  host: string;
  port: number;
  allowWrites: boolean;
}): Promise<Server> {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, token] = /^Bearer ([!-~]+)$/.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined)
      return void response
        .writeHead(401, { 'www-authenticate': 'Bearer' })
        .end('Send an API key of Echelon as bearer token.\n');
    const server = createMcpServer(createClient({ url, token }), { allowWrites });
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    response.on('close', () => void server.close());
    await server.connect(transport as never);
    await transport.handleRequest(request, response);
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}
