import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createClient } from '../client.ts';
import { isOwnName, isOwnOrigin } from './own-name.ts';
import { createMcpServer } from './server.ts';

/** Requests at once, of all callers together. */
const MAX_REQUESTS = 64;
const MAX_CONNECTIONS = 256;
/** A request must have arrived whole within this time. */
const REQUEST_MS = 30_000;
/** The API is asked again about a key after this time. */
const KNOWN_MS = 30_000;
const MAX_KNOWN = 1_000;

/**
 * Serves MCP over streamable HTTP, without sessions and without streams: each request has one answer. Every request has the API
 * key of its caller as bearer token, which the API checks: this server has none of its own. Pages of other sites, also under a
 * name that they point to this machine, are refused.
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
  const isKnown = createKnown(url);
  let running = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = refusalOf(request, host) ?? (await unknownKey(request, isKnown));
    if (refusal !== undefined) return refuse(response, refusal);
    if (running >= MAX_REQUESTS) return refuse(response, [503, 'Too many requests at once. Retry later.']);
    running += 1;
    response.once('close', () => {
      running -= 1;
    });
    const server = createMcpServer(createClient({ url, token: tokenOf(request)! }), { allowWrites });
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    response.on('close', () => void server.close());
    await server.connect(transport as never);
    await transport.handleRequest(request, response);
  }
  const server = createServer(
    { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS },
    (request, response) => {
      answer(request, response).catch(() => response.destroy());
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}

type Refusal = readonly [status: number, text: string];

const HEADERS: Readonly<Record<number, Record<string, string>>> = {
  401: { 'www-authenticate': 'Bearer' },
  405: { allow: 'POST' },
  503: { 'retry-after': '1' },
};

function refuse(response: ServerResponse, [status, text]: Refusal): void {
  response.writeHead(status, { ...HEADERS[status], connection: 'close' }).end(`${text}\n`);
}

function refusalOf({ method, headers }: IncomingMessage, host: string): Refusal | undefined {
  if (!isOwnName(headers.host, host) || !isOwnOrigin(headers.origin, host))
    return [403, 'This server does not have that name. Use its address, or the name of --host.'];
  // Without sessions a stream would never bring anything, and there is nothing to end.
  if (method !== 'POST') return [405, 'Send messages by POST.'];
  return undefined;
}

function tokenOf({ headers }: IncomingMessage): string | undefined {
  return /^Bearer ([!-~]{1,512})$/.exec(headers.authorization ?? '')?.[1];
}

async function unknownKey(
  request: IncomingMessage,
  isKnown: (token: string) => Promise<boolean>,
): Promise<Refusal | undefined> {
  const token = tokenOf(request);
  if (token !== undefined && (await isKnown(token))) return undefined;
  return [401, 'Send a valid API key of Echelon as bearer token.'];
}

/** Asks the API whether it accepts a key, and remembers those that it does for a while. */
function createKnown(url: string): (token: string) => Promise<boolean> {
  const known = new Map<string, number>();
  return async (token) => {
    const digest = createHash('sha256').update(token).digest('hex');
    if (performance.now() - (known.get(digest) ?? Number.NEGATIVE_INFINITY) < KNOWN_MS) return true;
    known.delete(digest);
    const isAccepted = await createClient({ url, token })
      .get('/v1/caller', {})
      .then(
        () => true,
        () => false,
      );
    if (isAccepted) known.set(digest, performance.now());
    if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
    return isAccepted;
  };
}
