import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { ClusterView } from '../../schemas/api.ts';
import { type AddCluster, type Command as ClusterCommand, isCommandOver } from '../../schemas/clusters.ts';
import { wholeNumber } from '../arguments.ts';
import type { Client } from '../client.ts';
import { allOptions, apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { CliError, EXIT } from '../exit.ts';
import { duration, inert, json, type Output } from '../output.ts';
import { patient } from '../patient.ts';
import { fittedTable, widthFor, withWide } from '../table.ts';
import { clusterQueueCommands, label } from './cluster-queue.ts';

type Options = ConnectionOptions & { json?: boolean; wait?: boolean; output?: string };

interface AddOptions extends Options {
  rayTokenFile?: string;
  sharedRoot: string;
  node?: string;
  port?: number;
  advertise?: string;
  backfill?: boolean;
  label?: Record<string, string>;
  tlsCa?: string;
  tlsCert?: string;
  tlsKey?: string;
}

/** `echelon clusters`: list, add, drain and remove. */
export function clustersCommand(output: Output): Command {
  const command = withWide(apiCommand('clusters'))
    .summary('list the clusters; add, pause, drain or remove one')
    .description('list the clusters: nodes, GPUs, ray-worker, last seen')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon clusters\n  echelon clusters add fleet ray://head:10001 --ray-token-file token --shared-root /shared --wait',
    )
    .action(async (options: Options) => {
      const client = await clientFor(options);
      const list = await client.get<{ items: ClusterView[] }>('/v1/clusters');
      if (options.json) return output.line(json(list));
      if (list.items.length === 0)
        return output.line('No clusters. `echelon clusters add NAME ray://host:10001` adds one.');
      output.line(clusterTable(list.items, Date.now(), widthFor(output, options)));
    });
  const subs = [add(output), ...clusterQueueCommands(output), drain(output), remove(output)];
  for (const sub of subs) command.addCommand(sub);
  return command;
}

const waiting = (command: Command): Command =>
  command.option('--wait', 'show what is done, and return when it is over');

/** GPUs and CPUs are `free/total`; "out" is what experiments of ours hold. */
export function clusterTable(
  clusters: readonly ClusterView[],
  now: number,
  width?: number | undefined,
): string {
  const columns = [
    { title: 'NAME', least: 12 },
    { title: 'STATE' },
    { title: 'NODES', drop: 1 },
    { title: 'GPUS FREE/ALL' },
    { title: 'GPUS OUT', drop: 2 },
    { title: 'CPUS FREE/ALL' },
    { title: 'RUNS' },
    { title: 'RAY-WORKER', drop: 3 },
    { title: 'RAY', drop: 4 },
    { title: 'SEEN' },
  ];
  return fittedTable(
    columns,
    clusters.map((cluster) => [
      inert(cluster.name),
      stateOf(cluster),
      cluster.nodes.length,
      capacity(cluster, 'gpus'),
      amount(cluster.nodes.reduce((sum, node) => sum + node.gpusAllocated, 0)),
      capacity(cluster, 'cpus'),
      cluster.experiments.length,
      inert(cluster.rayWorkerVersion ?? '-'),
      inert(cluster.rayVersion ?? '-'),
      cluster.lastSeenAt === null ? 'never' : `${duration(now - cluster.lastSeenAt)} ago`,
    ]),
    width,
  );
}

function stateOf({ answering, draining, paused }: ClusterView): string {
  const states = [
    ...(answering ? [] : ['silent']),
    ...(draining ? ['draining'] : []),
    ...(paused === null ? [] : ['paused']),
  ];
  return states.join(', ') || 'ready';
}

function capacity({ nodes }: ClusterView, what: 'gpus' | 'cpus'): string {
  const all = nodes.reduce((sum, node) => sum + node[`${what}Total`], 0);
  const taken = nodes.reduce((sum, node) => sum + Math.max(node[`${what}Used`], node[`${what}Allocated`]), 0);
  return `${amount(Math.max(0, all - taken))}/${amount(all)}`;
}

const amount = (value: number): string => String(Number(value.toFixed(2)));

function add(output: Output): Command {
  return waiting(apiCommand('add'))
    .summary('add a Ray cluster, or bring its ray-worker up to date')
    .description('add a Ray cluster, or bring its ray-worker up to date; nothing of ours is needed there')
    .argument('<name>')
    .argument('<address>', "ray://host:port of Ray's client server (its default port is 10001)")
    .option('--ray-token-file <file>', "file that holds Ray's token")
    .option('--shared-root <directory>', 'a directory that all nodes see', '~/echelon')
    .option('--node <id>', "id, address or host name of the ray-worker's node (default: the head)")
    .option('--port <port>', 'port of the ray-worker (default: a free one)', wholeNumber(1, 65_535))
    .option('--advertise <host:port>', "where dispatchers reach the ray-worker, if not at its node's address")
    .option('--backfill', 'others may overtake one that does not fit, where they do not delay it')
    .option('--label <key=value>', 'what experiments choose it by (clusterLabels); may be repeated', label)
    .option('--tls-ca <file>', 'PEM, for a Ray with TLS')
    .option('--tls-cert <file>', 'PEM')
    .option('--tls-key <file>', 'PEM')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon clusters add fleet ray://head:10001 --ray-token-file token --shared-root /shared --wait\n  echelon clusters add fleet ray://head:10001 --label gpu=h100 --label zone=a --backfill',
    )
    .action(async (name: string, address: string, _own: AddOptions, command: Command) => {
      const options = allOptions<AddOptions>(command);
      const client = await clientFor(options);
      const body = await addBody(name, address, options);
      const begun = await client.post<ClusterCommand>('/v1/clusters', body);
      await follow({ client, command: begun, output, options });
    });
}

async function addBody(name: string, address: string, options: AddOptions): Promise<AddCluster> {
  const {
    rayTokenFile,
    sharedRoot,
    node,
    port,
    advertise,
    backfill,
    label: labels,
    tlsCa,
    tlsCert,
    tlsKey,
  } = options;
  const token = rayTokenFile === undefined ? undefined : (await read(rayTokenFile)).trim();
  if (token === '') throw new CliError(EXIT.usage, `${rayTokenFile} is empty`);
  const tls = {
    ...(tlsCa !== undefined && { ca: await read(tlsCa) }),
    ...(tlsCert !== undefined && { cert: await read(tlsCert) }),
    ...(tlsKey !== undefined && { key: await read(tlsKey) }),
  };
  return {
    ...{ name, address, sharedRoot },
    ...(token !== undefined && { token }),
    ...(node !== undefined && { node }),
    ...(port !== undefined && { port }),
    ...(advertise !== undefined && { advertise }),
    ...(backfill !== undefined && { backfill }),
    ...(labels !== undefined && { labels }),
    ...(Object.keys(tls).length > 0 && { tls }),
  };
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CliError(EXIT.usage, `${file} cannot be read: ${(error as Error).message}`);
  }
}

function drain(output: Output): Command {
  return waiting(apiCommand('drain'))
    .summary('let nothing new start on a cluster, as a step to its removal')
    .description('let nothing new start on a cluster; what runs goes on (`clusters resume` ends it)')
    .argument('<name>')
    .addHelpText('after', '\nExample:\n  echelon clusters drain fleet --wait')
    .action(async (name: string, _own: Options, command: Command) => {
      const options = allOptions<Options>(command);
      const client = await clientFor(options);
      const path = `/v1/clusters/${encodeURIComponent(name)}/drain`;
      await follow({ client, command: await client.post<ClusterCommand>(path, undefined), output, options });
    });
}

function remove(output: Output): Command {
  return waiting(apiCommand('remove'))
    .description('remove a cluster on which nothing runs, and end its ray-worker')
    .argument('<name>')
    .addHelpText('after', '\nExample:\n  echelon clusters remove fleet --wait')
    .action(async (name: string, _own: Options, command: Command) => {
      const options = allOptions<Options>(command);
      const client = await clientFor(options);
      const begun = await client.delete<ClusterCommand>(`/v1/clusters/${encodeURIComponent(name)}`);
      await follow({ client, command: begun, output, options });
    });
}

const POLL_MS = 200;

/** Prints the command; with `--wait`, its report as it grows, until it is over. A CliError where it failed. */
async function follow({
  client,
  command,
  output,
  options,
}: {
  client: Client;
  command: ClusterCommand;
  output: Output;
  options: Options;
}): Promise<void> {
  if (!options.wait) {
    if (options.json) return output.line(json(command));
    return output.line(
      `${command.id} ${command.state} (GET /v1/commands/${command.id}; --wait waits for it)`,
    );
  }
  const look = patient(() => client.get<ClusterCommand>(`/v1/commands/${command.id}`), { output });
  let seen = command;
  for (let told = 0; ; ) {
    for (const line of seen.report.slice(told)) output.remark(`  ${inert(line)}`);
    told = seen.report.length;
    if (isCommandOver(seen)) break;
    await delay(POLL_MS);
    seen = await look();
  }
  for (const { severity, message, remedy } of seen.problems)
    if (severity === 'warning') output.remark(`warning: ${inert(message)}\n  ${inert(remedy)}`);
  if (options.json) output.line(json(seen));
  const failure = seen.problems.find(({ severity }) => severity === 'error');
  if (seen.state === 'failed')
    throw new CliError(EXIT.notOk, inert(`${failure?.message ?? 'it failed'}\n  ${failure?.remedy ?? ''}`));
  if (!options.json) output.line(`${seen.kind} ${seen.cluster}: ${inert(seen.report.at(-1) ?? 'done')}`);
}
