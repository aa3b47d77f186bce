import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { json, type Output } from 'command-kit/output';
import { wrapped } from 'command-kit/width';
import { type Command, InvalidArgumentError } from 'commander';
import type { Client } from '../client.ts';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';
import { unlessChanged } from '../unless-changed.ts';

type Values = Record<string, string>;

/** A setting of a cluster that is a set of names with values, in the words of its command. */
interface Kind {
  field: 'labels' | 'env';
  command: string;
  description: string;
  values: string;
  none: string;
  examples: readonly string[];
}

const LABELS: Kind = {
  field: 'labels',
  command: 'label',
  description: 'Set labels of a cluster (key=value) or remove them (key=). Without labels, show them.',
  values: 'labels',
  none: 'no labels',
  examples: ['echelon clusters label fleet gpu=h100 zone='],
};

const VARIABLES: Kind = {
  field: 'env',
  command: 'env',
  description:
    'Set environment variables of every driver on a cluster (NAME=value) or remove them (NAME=). Without variables, show them.',
  values: 'variables',
  none: 'no variables',
  examples: [
    'echelon clusters env fleet HF_HOME=/shared/huggingface ALFWORLD_DATA=/shared/alfworld',
    'echelon clusters env fleet HF_ENDPOINT=',
  ],
};

/** The commands that change labels and environment variables of a cluster: `clusters label` and `env`. */
export const clusterValueCommands = [LABELS, VARIABLES].map(
  (kind) => (output: Output) => valuesCommand(output, kind),
);

/** Adds the `key=value` of a repeated option. Throws InvalidArgumentError for any other text. */
export function labelOption(text: string, before: Values = {}): Values {
  if (text.endsWith('=')) throw new InvalidArgumentError('It must be key=value.');
  return variableOption(text, before);
}

/** As {@link labelOption}; the value may be empty or contain `=`. */
export function variableOption(text: string, before: Values = {}): Values {
  const equals = text.indexOf('=');
  if (equals <= 0) throw new InvalidArgumentError('It must be key=value.');
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}

/** Sizes of nodes as the API takes them. */
export type NodeTypes = { gpus: number; cpus: number; max: number; labels?: Values }[];

/** Adds the node type of a repeated option, `gpus=4,cpus=32,max=8,LABEL=VALUE`; `none` begins an empty list. Throws as {@link labelOption}. */
export function nodeTypeOption(text: string, before: NodeTypes = []): NodeTypes {
  if (text === 'none') return [];
  const found = /^(?:gpus=(\d+),)?cpus=(\d+),max=(\d+)((?:,[^,=]+=[^,]+)*)$/.exec(text);
  if (!found) throw new InvalidArgumentError('It must be gpus=N,cpus=N,max=N, or cpus=N,max=N, then labels.');
  const [gpus, cpus, max] = found.slice(1, 4).map((digits) => Number(digits ?? 0)) as [
    number,
    number,
    number,
  ];
  const labels = found[4]!
    .split(',')
    .slice(1)
    .reduce((all, one) => labelOption(one, all), {});
  return [...before, { gpus, cpus, max, ...(found[4] !== '' && { labels }) }];
}

function valuesCommand(output: Output, kind: Kind): Command {
  return apiCommand(kind.command)
    .description(kind.description)
    .argument('<name>', 'name of the cluster')
    .argument(`[${kind.values}...]`, 'key=value to set it, key= to remove it')
    .addHelpText('after', examples(...kind.examples))
    .action(async (name: string, changes: string[], options: ApiOptions) => {
      const client = await clientFor(options);
      const cluster =
        changes.length === 0
          ? await client.get('/v1/clusters/{name}', { path: { name } })
          : await changeValues(client, name, { kind, changes });
      // A value of several lines must not look like several variables.
      const shown = Object.entries(cluster[kind.field]).map(
        ([key, value]) => `${key}=${/[\n\r\t]/.test(value) ? JSON.stringify(value) : value}`,
      );
      output.line(
        options.json ? json(cluster) : wrapped(shown.map(inert).join(' ') || kind.none, output.columns),
      );
    });
}

/** Changes the values that the cluster has now. */
function changeValues(
  client: Client,
  name: string,
  { kind, changes }: { kind: Kind; changes: readonly string[] },
) {
  const path = { name };
  return unlessChanged(async () => {
    const { data, response } = await client.request('get', '/v1/clusters/{name}', { path });
    const body = { [kind.field]: changed(data[kind.field], changes) };
    const headers = { 'if-match': response.headers.get('etag') ?? undefined };
    return await client.patch('/v1/clusters/{name}', { path, headers, body });
  });
}

function changed(before: Values, changes: readonly string[]): Values {
  const values = { ...before };
  for (const change of changes) {
    const equals = change.indexOf('=');
    if (equals <= 0)
      throw new CliError(EXIT.usage, `${JSON.stringify(change)} is not a value. Give key=value or key=.`);
    const [key, value] = [change.slice(0, equals), change.slice(equals + 1)];
    if (value === '') delete values[key];
    else values[key] = value;
  }
  return values;
}
