import { setTimeout as delay } from 'node:timers/promises';
import { wholeNumber } from 'command-kit/arguments';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { inert, inertText } from 'command-kit/inert';
import { json, type Output } from 'command-kit/output';
import { counted } from 'command-kit/plural';
import { fittedTable } from 'command-kit/table';
import type { Command } from 'commander';
import type { AddCluster, Cluster, Command as ClusterCommand } from 'echelon-client/calls';
import { jobWords, problemWords } from 'echelon-client/slurm-words';
import type { Client } from '../client.ts';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';
import { group } from '../group.ts';
import { retrying } from '../retrying.ts';
import { row, stated } from '../row.ts';
import { duration } from '../states.ts';
import { unlessChanged } from '../unless-changed.ts';
import {
  changedValues,
  labelOption,
  type NodeTypes,
  nodeTypeOption,
  textOf,
  type Values,
  valuesInWords,
  variableOption,
} from './cluster-values.ts';
import { addSlurm } from './slurm.ts';

const ls = row({
  name: 'ls',
  description: 'List the clusters with their nodes, free GPUs and ray-workers.',
  examples: ['echelon clusters', 'echelon clusters ls --json'],
  verb: 'get',
  path: '/v1/clusters',
  print: ({ items }, { width, now }) =>
    items.length === 0
      ? 'No clusters. Add one with `echelon clusters add NAME ray://HOST:10001`.'
      : clusterTable(items, now, width),
});

/** One line per cluster. GPUs and CPUs are `free/total`; ALLOCATED counts the GPUs of Echelon's attempts. */
export function clusterTable(clusters: readonly Cluster[], now: number, width?: number | undefined): string {
  const columns = [
    { title: 'NAME', minWidth: 12 },
    { title: 'STATE' },
    { title: 'NODES', drop: 1 },
    { title: 'FREE GPUS' },
    { title: 'ALLOCATED', drop: 2 },
    { title: 'FREE CPUS' },
    { title: 'RUNNING' },
    { title: 'RAY-WORKER', drop: 3 },
    { title: 'RAY', drop: 4 },
    { title: 'LAST SEEN' },
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

function stateOf({ answering, draining, paused, unknownAttempts, autoscaler, slurm }: Cluster): string {
  const asked = autoscaler?.nodes.reduce((sum, { count }) => sum + count, 0) ?? 0;
  const states = [
    ...(answering ? [] : ['silent']),
    ...(draining ? ['draining'] : []),
    ...(paused === null ? [] : ['paused']),
    ...(asked === 0 ? [] : [`${counted(asked, 'node')} asked for`]),
    ...(slurm === null ? [] : slurmStates(slurm)),
    ...(unknownAttempts.length === 0 ? [] : [counted(unknownAttempts.length, 'unknown attempt')]),
  ];
  return states.join(', ') || 'ready';
}

/** Its jobs that wait in Slurm, and what is wrong. */
function slurmStates(slurm: NonNullable<Cluster['slurm']>): string[] {
  const waiting = slurm.jobs.filter(({ state }) => state !== 'RUNNING');
  const problem = problemWords(slurm);
  return [...waiting.map(jobWords), ...(problem === null ? [] : [problem])].map(inert);
}

function capacity({ nodes }: Cluster, what: 'gpus' | 'cpus'): string {
  const sum = (figure: 'Free' | 'Total') => nodes.reduce((all, node) => all + node[`${what}${figure}`], 0);
  return `${amount(sum('Free'))}/${amount(sum('Total'))}`;
}

const amount = (value: number): string => String(Number(value.toFixed(2)));

const pause = row({
  name: 'pause',
  description: 'Start no new experiment on a cluster. Running experiments continue.',
  arguments: [['<name>', 'name of the cluster']],
  options: [['--reason <text>', 'reason that users with queued experiments see']],
  examples: ['echelon clusters pause fleet --reason "driver upgrade"'],
  verb: 'post',
  path: '/v1/clusters/{name}/pause',
  input: ({ reason }: { reason?: string }) => ({ body: stated({ reason }) }),
  print: ({ name }) => `${inert(name)} is paused`,
});

const STORAGE = [
  '--storage <name>',
  'name of the storage of the shared root; clusters with the same name share checkpoints',
] as const;
const NODE_TYPE = [
  '--node-type <size>',
  'node that the autoscaler may bring, as gpus=4,cpus=32,max=8[,LABEL=VALUE]; repeatable',
  nodeTypeOption,
] as const;

interface UpdateOptions extends ApiOptions {
  storage?: string;
  nodeType?: NodeTypes;
  label?: Values;
  env?: Values;
}

function update(output: Output): Command {
  return apiCommand('update')
    .description(
      'Change labels, environment, storage and possible nodes of a cluster. Without options, show them. `none` as storage or node type states that there is none.',
    )
    .argument('<name>', 'name of the cluster')
    .option('--label <key=value>', 'set a label, or remove it (key=); repeatable', variableOption)
    .option(
      '--env <name=value>',
      'set an environment variable of every driver, or remove it (name=); repeatable',
      variableOption,
    )
    .option(...STORAGE)
    .option(...NODE_TYPE)
    .addHelpText(
      'after',
      examples(
        'echelon clusters update fleet --label gpu=h100 --label zone=',
        'echelon clusters update fleet --env HF_HOME=/shared/huggingface --env HF_ENDPOINT=',
        'echelon clusters update fleet --node-type gpus=4,cpus=32,max=8 --storage lustre-a',
      ),
    )
    .action(async (name: string, options: UpdateOptions) => {
      const client = await clientFor(options);
      const cluster = await updated(client, name, options);
      output.line(options.json ? json(cluster) : settingsInWords(cluster));
    });
}

/** The cluster with the changes. Labels and variables are one value each: those that it has now stay. */
function updated(client: Client, name: string, { storage, nodeType: nodeTypes, label, env }: UpdateOptions) {
  const path = { name };
  return unlessChanged(async () => {
    const { data, response } = await client.request('get', '/v1/clusters/{name}', { path });
    const body = stated({
      nodeTypes,
      storage: storage === 'none' ? null : storage,
      labels: label && changedValues(data.labels, label),
      env: env && changedValues(data.env, env),
    });
    if (Object.keys(body).length === 0) return data;
    const headers = { 'if-match': response.headers.get('etag') ?? undefined };
    return await client.patch('/v1/clusters/{name}', { path, headers, body });
  });
}

function settingsInWords({ labels, env, storage, nodeTypes }: Cluster): string {
  return [
    `labels: ${valuesInWords(labels)}`,
    `environment: ${valuesInWords(env)}`,
    `storage: ${storage === null ? 'none' : inert(storage)}`,
    ...nodeTypes.map(({ labels: selected = {}, ...size }) => {
      const parts = Object.entries({ ...size, ...selected }).map(([key, value]) => `${key}=${value}`);
      return `node type: ${inert(parts.join(','))}`;
    }),
  ].join('\n');
}

const resume = row({
  name: 'resume',
  description: 'End the pause or the drain of a cluster.',
  arguments: [['<name>', 'name of the cluster']],
  examples: ['echelon clusters resume fleet'],
  verb: 'post',
  path: '/v1/clusters/{name}/resume',
  print: ({ name }) => `${inert(name)} accepts experiments`,
});

type Options = ApiOptions & { wait?: boolean; output?: string };

interface AddOptions extends Options {
  rayTokenFile?: string;
  sharedRoot: string;
  node?: string;
  port?: number;
  advertise?: string;
  backfill?: boolean;
  label?: Record<string, string>;
  env?: Record<string, string>;
  storage?: string;
  nodeType?: NodeTypes;
  tlsCa?: string;
  tlsCert?: string;
  tlsKey?: string;
}

const withWait = (command: Command): Command =>
  command.option('--wait', 'print the progress, and return when the operation has ended');

function add(output: Output): Command {
  return withWait(apiCommand('add'))
    .description(
      'Add a Ray cluster, or upgrade its ray-worker. The cluster needs no software of Echelon beforehand.',
    )
    .argument('<name>', 'name of the cluster')
    .argument('<address>', "ray://HOST:PORT of Ray's client server; its default port is 10001")
    .option('--ray-token-file <file>', "file that holds Ray's token")
    .option('--shared-root <directory>', 'directory that all nodes see', '~/echelon')
    .option('--node <id>', 'id, address or host name of the node for the ray-worker (default: the head)')
    .option('--port <port>', 'port of the ray-worker (default: a free one)', wholeNumber(1, 65_535))
    .option('--advertise <host:port>', "address of the ray-worker for dispatchers (default: its node's)")
    .option('--backfill', 'let smaller experiments overtake one that does not fit, if they do not delay it')
    .option('--label <key=value>', 'label that specs select with clusterLabels; repeatable', labelOption)
    .option('--env <name=value>', 'environment variable of every driver there; repeatable', variableOption)
    .option(...STORAGE)
    .option(...NODE_TYPE)
    .option('--tls-ca <file>', 'CA certificate (PEM) of a Ray with TLS')
    .option('--tls-cert <file>', 'client certificate (PEM)')
    .option('--tls-key <file>', 'key of the client certificate (PEM)')
    .addHelpText(
      'after',
      examples(
        'echelon clusters add fleet ray://head:10001 --ray-token-file token --shared-root /shared --wait',
        'echelon clusters add fleet ray://head:10001 --label gpu=h100 --label zone=a --backfill',
      ),
    )
    .action(async (name: string, address: string, options: AddOptions) => {
      const client = await clientFor(options);
      const body = await addBody(name, address, options);
      const command = await client.post('/v1/clusters', { body });
      await follow({ client, command, output, options });
    });
}

async function addBody(name: string, address: string, options: AddOptions): Promise<AddCluster> {
  const { rayTokenFile, sharedRoot, node, port, advertise, backfill } = options;
  const { label: labels, env, storage, nodeType: nodeTypes, tlsCa, tlsCert, tlsKey } = options;
  const token = rayTokenFile === undefined ? undefined : (await textOf(rayTokenFile)).trim();
  if (token === '')
    throw new CliError(EXIT.usage, `The token file ${rayTokenFile} is empty. Write Ray's token to it.`);
  const files = { ca: tlsCa, cert: tlsCert, key: tlsKey };
  const tls: { ca?: string; cert?: string; key?: string } = {};
  for (const [name, file] of Object.entries(stated(files)))
    tls[name as keyof typeof tls] = await textOf(file);
  return {
    name,
    address,
    sharedRoot,
    ...stated({ token, node, port, advertise, backfill, labels, env, storage, nodeTypes }),
    ...(Object.keys(tls).length > 0 && { tls }),
  };
}

function drain(output: Output): Command {
  return withWait(apiCommand('drain'))
    .description(
      'Start no new experiment on a cluster, before its removal. Running experiments continue. `clusters resume` ends the drain.',
    )
    .argument('<name>', 'name of the cluster')
    .addHelpText('after', examples('echelon clusters drain fleet --wait'))
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const command = await client.post('/v1/clusters/{name}/drain', { path: { name } });
      await follow({ client, command, output, options });
    });
}

function remove(output: Output): Command {
  return withWait(apiCommand('delete'))
    .description('Remove a cluster without running experiments, and end its ray-worker.')
    .argument('<name>', 'name of the cluster')
    .addHelpText('after', examples('echelon clusters delete fleet --wait'))
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const command = await client.delete('/v1/clusters/{name}', { path: { name } });
      await follow({ client, command, output, options });
    });
}

const POLL_MS = 200;

/** True for a command of a cluster that has ended. */
export const hasEnded = ({ state }: Pick<ClusterCommand, 'state'>): boolean =>
  state === 'succeeded' || state === 'failed';

/** A dispatcher begins at once, unless an earlier operation on the cluster is under way. */
const UNTAKEN_MS = 20_000;

/** Prints the command; with `--wait`, its report until it has ended. Throws a {@link CliError} if it failed. */
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
      `${command.id} ${command.state}. Wait for such an operation with --wait, or read GET /v1/commands/${command.id}.`,
    );
  }
  const { id } = command;
  const poll = retrying(() => client.get('/v1/commands/{id}', { path: { id } }), { output });
  let seen = command;
  const begun = performance.now();
  let told = false;
  for (let printed = 0; ; ) {
    for (const line of seen.report.slice(printed)) output.remark(`  ${inert(line)}`);
    printed = seen.report.length;
    if (hasEnded(seen)) break;
    if (!told && seen.state === 'queued' && performance.now() - begun > UNTAKEN_MS) {
      output.remark('  no dispatcher has begun with it yet; the screen System says whether one is connected');
      told = true;
    }
    await delay(POLL_MS);
    seen = await poll();
  }
  for (const { severity, message, remedy } of seen.problems)
    if (severity === 'warning') output.remark(`warning: ${inert(message)}\n  ${inert(remedy)}`);
  if (options.json) output.line(json(seen));
  throwIfFailed(seen);
  if (!options.json) output.line(`${seen.kind} ${seen.cluster}: ${inert(seen.report.at(-1) ?? 'done')}`);
}

/** Throws the error of a command that failed, with its remedy. */
export function throwIfFailed({ state, kind, cluster, problems }: ClusterCommand): void {
  if (state !== 'failed') return;
  const failure = problems.find(({ severity }) => severity === 'error');
  const message = failure?.message ?? `${kind} of cluster ${cluster} failed without a reason.`;
  throw new CliError(EXIT.notOk, inertText(`${message}\n  ${failure?.remedy ?? ''}`.trimEnd()));
}

const description = 'Manage the Ray clusters that run experiments. Without a command, list them.';

/** `echelon clusters`. */
export const commands = {
  clusters: group({ name: 'clusters', alias: 'cluster', description }, [
    ls,
    add,
    addSlurm,
    pause,
    resume,
    update,
    drain,
    remove,
  ]),
};
