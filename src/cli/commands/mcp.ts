import { once } from 'node:events';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { wholeNumber } from 'command-kit/arguments';
import { examples } from 'command-kit/examples';
import type { Output } from 'command-kit/output';
import { Command } from 'commander';
import { type ApiOptions, clientFor, withConnection } from '../connection.ts';
import { withLifetime } from '../lifetime.ts';
import { listen } from '../mcp/listen.ts';
import { createMcpServer } from '../mcp/server.ts';

interface Options extends ApiOptions {
  allowWrites: boolean;
  http?: number;
  host: string;
}

/** `echelon mcp`: the API as tools for agents, until the client or a signal ends it. */
function mcpCommand(output: Output): Command {
  return withConnection(new Command('mcp'))
    .description(
      'Serve the API as tools of the Model Context Protocol for coding agents: over standard input and output, or over HTTP. Tools only read, unless --allow-writes is given.',
    )
    .option(
      '--allow-writes',
      'also offer tools that submit, rerun and cancel; the scopes of the key decide',
      false,
    )
    .option(
      '--http <port>',
      'listen for streamable HTTP; each request needs an API key as bearer token',
      wholeNumber(0, 65_535),
    )
    .option('--host <address>', 'address on which --http listens', '127.0.0.1')
    .addHelpText('after', examples('echelon mcp', 'echelon mcp --http 7078 --allow-writes'))
    .action((options: Options) =>
      withLifetime((resources) => serve(options, { output, resources }), rethrow),
    );
}

function rethrow(why: { signal: NodeJS.Signals } | { err: Error }): void {
  if ('err' in why) throw why.err;
}

async function serve(
  options: Options,
  { output, resources }: { output: Output; resources: AsyncDisposableStack },
): Promise<void> {
  const { allowWrites, http, host } = options;
  if (http === undefined) {
    const server = createMcpServer(await clientFor(options), { allowWrites });
    resources.defer(() => server.close());
    await server.connect(new StdioServerTransport());
    await once(process.stdin, 'close');
    return;
  }
  // Callers bring their own keys.
  const { url } = await clientFor({ ...options, token: 'unused' });
  const server = await listen({ url, host, port: http, allowWrites });
  resources.defer(async () => void server.close());
  output.remark(`MCP at http://${host}:${(server.address() as { port: number }).port}/ for ${url}`);
  await once(server, 'close');
}

/** The command of this module. */
export const commands = { mcp: mcpCommand };
