import { plural } from 'command-kit/plural';
import { shortNode } from 'echelon-client/short-node';
import type { QueuedExperiment } from '../store/queue/types.ts';
import {
  type ClosedNode,
  type FreeNode,
  hasLabels,
  labelled,
  type NodeLabels,
  type NodeSize,
  type RoundCluster,
  type Span,
} from './nodes.ts';
import type { Need } from './placement.ts';
import { headInSlurm } from './slurm-words.ts';

/** "1 GPU", "1.33 GPUs": an amount of a resource with at most two decimals. */
export function amount(count: number, unit: string): string {
  return plural(Number(count.toFixed(2)), unit);
}

/** What an experiment asks for, and of how many nodes. */
export function needInWords(need: Need): string {
  const { gpus, cpus, nodes = 1, nodeLabels } = need;
  const labels = nodeLabels === undefined ? '' : ` with ${labelsInWords(nodeLabels)}`;
  if (gpus <= 0) return `${amount(cpus, 'CPU')} on one node${labels}`;
  const where = (nodes === 1 ? 'on one node' : `on each of ${nodes} nodes`) + labels;
  return `${amount(gpus / nodes, 'GPU')} ${where} and ${amount(cpus, 'CPU')}`;
}

/** No cluster has the name and the labels that the experiment asks for. */
export function nowhere({ cluster, labels }: QueuedExperiment, known: readonly RoundCluster[]): string {
  if (cluster !== null && !known.some(({ name }) => name === cluster))
    return `there is no cluster ${cluster}`;
  if (known.length === 0) return 'no cluster is known yet';
  const wanted = labelsInWords(labels ?? {});
  return `${cluster === null ? 'no cluster has' : `cluster ${cluster} does not have`} the labels ${wanted}`;
}

/** "zone=a, gpu=h100": labels by key and value. */
export function labelsInWords(labels: NodeLabels): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}

/** No node of those clusters has the labels, or none that has them is large enough. */
export function tooLarge(
  item: Pick<QueuedExperiment, 'cluster' | 'labels'> & Need,
  clusters: readonly { name: string; nodes: readonly NodeSize[] }[],
): string {
  const names = clusters.map(({ name }) => name).join(', ');
  const asks = item.cluster !== null || Object.keys(item.labels ?? {}).length > 0;
  const where = asks ? `${clusters.length === 1 ? 'cluster' : 'the clusters'} ${names}` : 'any cluster';
  const all = clusters.flatMap((cluster) => cluster.nodes);
  const nodes = labelled(all, item);
  if (nodes.length === 0) return `no node of ${where} has ${missingLabel(item.nodeLabels!, all)}`;
  const gpus = nodes.reduce((most, node) => Math.max(most, node.gpusTotal), 0);
  const cpus = nodes.reduce((most, node) => Math.max(most, node.cpusTotal), 0);
  return (
    `can never fit: needs ${needInWords(item)}; ${item.nodeLabels ? 'these' : 'the'} nodes of ${where} have at most ` +
    `${amount(gpus, 'GPU')} and ${amount(cpus, 'CPU')}`
  );
}

/** The first label that no node has, and which values of it there are; or all of them, if no node has them together. */
function missingLabel(wanted: NodeLabels, nodes: readonly NodeSize[]): string {
  for (const [key, value] of Object.entries(wanted)) {
    if (nodes.some(({ labels }) => hasLabels({ [key]: value }, labels))) continue;
    const values = [...new Set(nodes.flatMap(({ labels }) => labels?.[key] ?? []))].sort();
    const known = values.slice(0, MAX_VALUES).join(', ') + (values.length > MAX_VALUES ? ', …' : '');
    return `the label ${key}=${value}; ${known === '' ? 'none has a label of that name' : `its values there: ${known}`}`;
  }
  return `all of the labels ${labelsInWords(wanted)}`;
}

const MAX_VALUES = 8;

/** Nothing new starts on any of those clusters. */
export function closed(clusters: readonly RoundCluster[]): string {
  const draining = clusters.filter(({ paused }) => paused === null).map(({ name }) => name);
  const paused = clusters.flatMap(({ name, paused: why }) =>
    why === null ? [] : [`cluster ${name} is paused${why}`],
  );
  const names = draining.join(', ');
  const drained =
    draining.length === 1 ? `cluster ${names} is draining` : `the clusters ${names} are draining`;
  return [...(draining.length > 0 ? [`${drained}: nothing new starts there`] : []), ...paused].join('; ');
}

/** Why the experiment does not start on another cluster: it would start from its first step there. */
export function staysWith({ cluster, step }: NonNullable<QueuedExperiment['checkpoint']>): string {
  return `its checkpoint of step ${step} is on ${cluster}`;
}

/** No ray-worker of those clusters answers. */
export function silent(clusters: readonly Pick<RoundCluster, 'name' | 'slurm'>[]): string {
  const waiting = clusters.find(
    ({ slurm }) => slurm !== undefined && (slurm.head.length > 0 || slurm.problem !== null),
  );
  if (waiting !== undefined) return headInSlurm(waiting.name, waiting.slurm!);
  return `the ray-worker of ${clusters.map(({ name }) => name).join(', ')} does not answer`;
}

/** What is free on the freest node, judged by the resource that the experiment lacks. */
export function freest(clusters: readonly RoundCluster[], need: Need): string {
  const nodes = clusters.flatMap((cluster) => labelled(cluster.nodes, need));
  // An experiment that needs GPUs lacks GPUs; any other one lacks CPUs.
  const most = nodes.toSorted((a, b) =>
    need.gpus > 0 ? b.gpus - a.gpus || b.cpus - a.cpus : b.cpus - a.cpus,
  )[0];
  const shut = closedInWords(clusters.flatMap((cluster) => labelled(cluster.closedNodes, need)));
  const such = need.nodeLabels === undefined ? 'node' : 'such node';
  if (most === undefined)
    return shut === '' ? `no ${such} is known` : `no ${such} accepts experiments${shut}`;
  const free =
    need.gpus > 0 ? `${amount(most.gpus, 'GPU')} and ${amount(most.cpus, 'CPU')}` : amount(most.cpus, 'CPU');
  return `the freest ${such} has ${free} free${shut}${othersInWords(nodes)}`;
}

/** What other users' Ray jobs use: the largest few, with their names and starts. */
function othersInWords(nodes: readonly FreeNode[]): string {
  const byJob = new Map<string, number>();
  for (const { name, since, gpus } of nodes.flatMap(({ others = [] }) => others)) {
    if (gpus <= 0) continue;
    const job = since === null ? name : `${name}, since ${new Date(since).toISOString().slice(0, 16)}Z`;
    byJob.set(job, (byJob.get(job) ?? 0) + gpus);
  }
  const largest = [...byJob].toSorted((a, b) => b[1] - a[1]).slice(0, MAX_OTHERS);
  return largest
    .map(
      ([job, gpus]) =>
        `; ${amount(gpus, 'GPU')} ${gpus === 1 ? 'is' : 'are'} in use by another Ray job (${job})`,
    )
    .join('');
}

const MAX_OTHERS = 3;

/** The nodes on which nothing new starts: the first few with their reasons. */
function closedInWords(nodes: readonly ClosedNode[]): string {
  const named = nodes.slice(0, MAX_CLOSED).map(({ id, why }) => `; node ${shortNode(id)}: ${why}`);
  const more = nodes.length - named.length;
  return named.join('') + (more > 0 ? `; ${more} further nodes are drained or cordoned` : '');
}

const MAX_CLOSED = 3;

/** Where and when the experiment will have room. */
export function frees(need: Need, { node, at }: { node: FreeNode; at: Span }, now: number): string {
  const { nodes = 1, gpus, cpus } = need;
  const what = gpus > 0 ? amount(gpus / nodes, 'GPU') : amount(cpus, 'CPU');
  return `node ${shortNode(node.id)} has ${what} free ${inAbout(at.likely - now)}`;
}

/** A time from now. It is coarse, so that the text of a wait reason rarely changes. */
export function inAbout(ms: number): string {
  return ms < 60_000 ? 'in less than a minute' : `in about ${duration(ms)}`;
}

function duration(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes < 20) return `${Math.round(minutes)} min`;
  if (minutes < 90) return `${5 * Math.round(minutes / 5)} min`;
  const hours = minutes / 60;
  return hours < 36 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} days`;
}

/** Which experiments are preempted, so that another one starts within `ms`. `step`, `lostMs`: absent for other projects. */
export function preempting(
  victims: readonly { experiment: string; step?: number; lostMs?: number }[],
  ms: number,
): string {
  const named = victims.slice(0, MAX_VICTIMS).map(({ experiment, step, lostMs }) => {
    if (step === undefined || lostMs === undefined) return experiment;
    const from = step > 0 ? `its checkpoint of step ${step} or a later one` : 'its first step';
    return `${experiment}, which continues from ${from} and loses at most ${duration(Math.max(60_000, lostMs))}`;
  });
  const more = victims.length - named.length;
  const rest = more > 0 ? `; and ${more} more` : '';
  return `starts ${inAbout(ms)} by preempting ${named.join('; ')}${rest}`;
}

const MAX_VICTIMS = 3;
