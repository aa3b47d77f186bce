import { type Command, InvalidArgumentError } from 'commander';
import type { ClusterView } from '../../schemas/api.ts';
import { allOptions, apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { CliError, EXIT } from '../exit.ts';
import { inert, json, type Output } from '../output.ts';

type Options = ConnectionOptions & { json?: boolean; reason?: string };

/** What decides which experiments start on a cluster: `clusters pause`, `resume` and `label`. */
export function clusterQueueCommands(output: Output): Command[] {
  return [pause(output), resume(output), relabel(output)];
}

const pathOf = (name: string): string => `/v1/clusters/${encodeURIComponent(name)}`;

/** One more `key=value` of a repeated option. Throws InvalidArgumentError for what is none. */
export function label(text: string, before: Record<string, string> = {}): Record<string, string> {
  const equals = text.indexOf('=');
  if (equals <= 0 || equals === text.length - 1) throw new InvalidArgumentError('not key=value');
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}

function pause(output: Output): Command {
  return apiCommand('pause')
    .description('let nothing new start on a cluster, at once; what runs goes on')
    .argument('<name>')
    .option('--reason <text>', 'shown to everybody who waits for it')
    .addHelpText('after', '\nExample:\n  echelon clusters pause fleet --reason "driver upgrade"')
    .action(async (name: string, _own: Options, command: Command) => {
      const options = allOptions<Options>(command);
      const client = await clientFor(options);
      const body = options.reason === undefined ? undefined : { reason: options.reason };
      const cluster = await client.post<ClusterView>(`${pathOf(name)}/pause`, body);
      output.line(options.json ? json(cluster) : `${inert(cluster.name)} is paused`);
    });
}

function resume(output: Output): Command {
  return apiCommand('resume')
    .description('end the pause or the drain of a cluster')
    .argument('<name>')
    .addHelpText('after', '\nExample:\n  echelon clusters resume fleet')
    .action(async (name: string, _own: Options, command: Command) => {
      const options = allOptions<Options>(command);
      const client = await clientFor(options);
      const cluster = await client.post<ClusterView>(`${pathOf(name)}/resume`, undefined);
      output.line(options.json ? json(cluster) : `${inert(cluster.name)} takes experiments`);
    });
}

function relabel(output: Output): Command {
  return apiCommand('label')
    .summary('set or show the labels of a cluster')
    .description('set labels of a cluster (key=value), or take them away (key=); without any, show them')
    .argument('<name>')
    .argument('[labels...]')
    .addHelpText('after', '\nExample:\n  echelon clusters label fleet gpu=h100 zone=')
    .action(async (name: string, changes: string[], _own: Options, command: Command) => {
      const options = allOptions<Options>(command);
      const client = await clientFor(options);
      const path = pathOf(name);
      const cluster =
        changes.length === 0
          ? await client.get<ClusterView>(path)
          : await client.change<ClusterView>(path, ({ labels }) => ({ labels: changed(labels, changes) }));
      const shown = Object.entries(cluster.labels).map(([key, value]) => `${key}=${value}`);
      output.line(options.json ? json(cluster) : shown.map(inert).join(' ') || 'no labels');
    });
}

function changed(before: Record<string, string>, changes: readonly string[]): Record<string, string> {
  const labels = { ...before };
  for (const change of changes) {
    const equals = change.indexOf('=');
    if (equals <= 0) throw new CliError(EXIT.usage, `${change} is not key=value`);
    const [key, value] = [change.slice(0, equals), change.slice(equals + 1)];
    if (value === '') delete labels[key];
    else labels[key] = value;
  }
  return labels;
}
