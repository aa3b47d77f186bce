import { type Command, InvalidArgumentError } from 'commander';
import { retryUntil } from '../../core/retry.ts';
import type { Client } from '../client.ts';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { CliError, EXIT } from '../exit.ts';
import { examples } from '../group.ts';
import { inert, json, type Output } from '../output.ts';

type Options = ConnectionOptions & { json?: boolean; reason?: string };

/** The commands that control which experiments start on a cluster: `clusters pause`, `resume` and `label`. */
export function clusterQueueCommands(output: Output): Command[] {
  return [pause(output), resume(output), label(output)];
}

/** Adds the `key=value` of a repeated option. Throws InvalidArgumentError for any other text. */
export function labelOption(text: string, before: Record<string, string> = {}): Record<string, string> {
  const equals = text.indexOf('=');
  if (equals <= 0 || equals === text.length - 1) throw new InvalidArgumentError('It must be key=value.');
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}

function pause(output: Output): Command {
  return apiCommand('pause')
    .description('Start no new experiment on a cluster. Running experiments continue.')
    .argument('<name>', 'name of the cluster')
    .option('--reason <text>', 'reason that users with queued experiments see')
    .addHelpText('after', examples('echelon clusters pause fleet --reason "driver upgrade"'))
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const body = options.reason === undefined ? {} : { reason: options.reason };
      const cluster = await client.post('/v1/clusters/{name}/pause', { path: { name }, body });
      output.line(options.json ? json(cluster) : `${inert(cluster.name)} is paused`);
    });
}

function resume(output: Output): Command {
  return apiCommand('resume')
    .description('End the pause or the drain of a cluster.')
    .argument('<name>', 'name of the cluster')
    .addHelpText('after', examples('echelon clusters resume fleet'))
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const cluster = await client.post('/v1/clusters/{name}/resume', { path: { name } });
      output.line(options.json ? json(cluster) : `${inert(cluster.name)} accepts experiments`);
    });
}

function label(output: Output): Command {
  return apiCommand('label')
    .description('Set labels of a cluster (key=value) or remove them (key=). Without labels, show them.')
    .argument('<name>', 'name of the cluster')
    .argument('[labels...]', 'key=value to set a label, key= to remove it')
    .addHelpText('after', examples('echelon clusters label fleet gpu=h100 zone='))
    .action(async (name: string, changes: string[], options: Options) => {
      const client = await clientFor(options);
      const cluster =
        changes.length === 0
          ? await client.get('/v1/clusters/{name}', { path: { name } })
          : await changeLabels(client, name, changes);
      const shown = Object.entries(cluster.labels).map(([key, value]) => `${key}=${value}`);
      output.line(options.json ? json(cluster) : shown.map(inert).join(' ') || 'no labels');
    });
}

const MAX_TRIES = 20;

/** Changes the labels that the cluster has now. A change by another user in between leads to a retry. */
function changeLabels(client: Client, name: string, changes: readonly string[]) {
  const path = { name };
  return retryUntil(
    async () => {
      const { data, response } = await client.request('get', '/v1/clusters/{name}', { path });
      const body = { labels: changed(data.labels, changes) };
      const headers = { 'if-match': response.headers.get('etag') ?? undefined };
      return await client.patch('/v1/clusters/{name}', { path, headers, body });
    },
    {
      waits: { firstMs: 1, longestMs: 100 },
      shouldRetry: (error, tries) =>
        error instanceof CliError && error.code === 'precondition-failed' && tries < MAX_TRIES,
    },
  );
}

function changed(before: Record<string, string>, changes: readonly string[]): Record<string, string> {
  const labels = { ...before };
  for (const change of changes) {
    const equals = change.indexOf('=');
    if (equals <= 0)
      throw new CliError(EXIT.usage, `${JSON.stringify(change)} is not a label. Give key=value or key=.`);
    const [key, value] = [change.slice(0, equals), change.slice(equals + 1)];
    if (value === '') delete labels[key];
    else labels[key] = value;
  }
  return labels;
}
