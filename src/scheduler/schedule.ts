import { shortNode } from 'echelon-client/short-node';
import type { AllocatedNode } from '../core/launch-plan.ts';
import type { PriorityClass } from '../core/priority-class.ts';
import type { Allocation, Asked } from '../store/clusters/types.ts';
import type { QueuedExperiment } from '../store/queue/types.ts';
import { askAutoscalers } from './autoscale.ts';
import { type Backfill, createBackfill } from './backfill.ts';
import {
  type Amount,
  EPSILON,
  type FreeNode,
  hasLabels,
  type NodeSize,
  possibleNodes,
  type RoundCluster,
  type SchedulerCluster,
  type Span,
  take,
  toRoundClusters,
} from './nodes.ts';
import { capacityOf, createOrder, holdings } from './order.ts';
import { couldFit, type Part, placeOn, takesGpuNode } from './placement.ts';
import {
  choosePreemptions,
  endsWith,
  PREEMPT_WITHIN_MS,
  type Preemptible,
  type Preemption,
} from './preemption.ts';
import { count, createQuotas, DEFAULT_POLICY, NO_QUOTAS, type ProjectPolicy, type Quotas } from './quotas.ts';
import { endsTooSoon, savesTooRarely } from './slurm-words.ts';
import { instant, plus } from './spans.ts';
import { closed, frees, freest, needInWords, nowhere, silent, staysWith, tooLarge } from './wait-reasons.ts';

/*
 * Invariants: no node is allocated beyond its size, and no project holds more GPUs than its quota. On a cluster without
 * backfill, no experiment starts before an earlier one that waits for that cluster and could fit there. On a cluster with
 * backfill, no start delays the estimated start of the blocked head.
 */

/** The input of a scheduling round. */
export interface ScheduleInput extends Preemptible {
  /** In the order of the queue: by class and priority, then by arrival. */
  queued: readonly QueuedExperiment[];
  clusters: readonly SchedulerCluster[];
  /** Present allocations, by cluster name. */
  allocations: ReadonlyMap<string, readonly Allocation[]>;
  /** Allocations that have just ended, by cluster name: Ray may still count them as used. Default: none. */
  freed?: ReadonlyMap<string, readonly Allocation[]>;
  /** Weights and quotas. A project that is not listed has weight 1 and no quota. */
  projects?: ReadonlyMap<string, ProjectPolicy>;
  /** If set, nothing starts. The words follow "the queue is paused". */
  paused?: string | null;
  /** Projects that have more queued experiments than `queued` contains. */
  truncated?: ReadonlySet<string>;
  /** Expected ends of running experiments; an experiment that is not listed has no known end. */
  ends?: ReadonlyMap<string, Span>;
  /** Expected run times of queued experiments; an experiment that is not listed has no known run time. */
  lengths?: ReadonlyMap<string, Span>;
  /** How long queued experiments run before their work is saved, in ms; one that is not listed has no known time. */
  saves?: ReadonlyMap<string, number>;
  /** The instant of the round, on the clock of `ends`. */
  now?: number;
}

/** An experiment that starts now, and where. */
export interface Start {
  experiment: string;
  project: string;
  cluster: string;
  /** Absent: `normal`. */
  priorityClass?: PriorityClass;
  /** Those with GPUs first. */
  nodes: AllocatedNode[];
  /** The checkpoint of an earlier attempt that it cannot resume from, because the cluster of the checkpoint was removed. */
  abandons?: NonNullable<QueuedExperiment['checkpoint']>;
}

/** The result of a scheduling round. */
export interface Schedule {
  start: Start[];
  /** Running experiments that leave, so that a queued one starts. */
  preempt: Preemption[];
  /** Wait reasons of the experiments that do not start. */
  reasons: Map<string, string>;
  /** All experiments that had their turn, in that order, whether they start or not. */
  order: QueuedExperiment[];
  /** Clusters with room and without a blocked head: any later experiment that fits may start. */
  open: string[];
  /** Clusters with room and a blocked head on which later experiments may start out of turn. */
  filling: string[];
  /** The blocked heads of the clusters. */
  heads: ReadonlySet<string>;
  /** What autoscalers are to be asked for, by cluster: those that answer and have node types. */
  asks: ReadonlyMap<string, Asked>;
  /** The project whose window was used up, so that no later experiment had its turn; null: all of them had. */
  dry: string | null;
}

/** Where experiments that ask for the same may start; determined once for all of them. */
export interface Places {
  /** Why none of them can start in this round; null: one may start. A refused experiment blocks no cluster. */
  refusal: string | null;
  /** The clusters on which they may start. */
  taking: RoundCluster[];
  /** Why one of them did not start in this round; null until then. */
  refused: Refused | null;
  /** Whether their checkpoints keep them from other clusters. */
  stay: boolean;
}

/**
 * Why an experiment did not start. The reason holds for all experiments of the same shape whose expected run time is at
 * least `fromMs`, because room only shrinks during a round. 0: the run time does not matter.
 */
interface Refused {
  reason: string;
  fromMs: number;
}

/** The state of a scheduling round. */
export interface Round {
  clusters: RoundCluster[];
  /** What each project holds before the round. */
  held: ReadonlyMap<string, Amount>;
  /** The backfill of each cluster that has a blocked head. */
  guards: Map<RoundCluster, Backfill>;
  quotas: Quotas;
  /** New quotas for the amounts that projects hold. */
  quotasFor(held: ReadonlyMap<string, Amount>): Quotas;
  lengths: ReadonlyMap<string, Span>;
  now: number;
  placesOf(item: QueuedExperiment): Places;
  /** Why no experiment of its project starts; null: they may start. */
  pausedFor(item: QueuedExperiment): string | null;
}

/**
 * Decides which experiments start now. In the order of order.ts, each experiment takes the nodes that placement.ts chooses:
 * all of its GPUs and CPUs, or nothing. An experiment that does not fit becomes the blocked head of every cluster on which it could
 * run: later experiments wait there, unless backfill lets them start without delaying it (backfill.ts). An experiment that
 * can never fit, is paused, or is over its project's quota (quotas.ts) gets that wait reason and blocks no cluster.
 */
export function scheduleRound(input: ScheduleInput): Schedule {
  const { round, order } = beginRound(input);
  const schedule = {
    start: [],
    preempt: [],
    reasons: new Map(),
    order: [],
    open: [],
    filling: [],
    heads: new Set<string>(),
    asks: new Map(),
    dry: null,
  } as Schedule & { heads: Set<string>; reasons: Map<string, string> };
  const waiting: QueuedExperiment[] = [];
  for (let item = order.next(); item !== undefined; item = order.next()) {
    const placed = place(item, round);
    schedule.order.push(item);
    if (placed.start !== undefined) schedule.start.push(placed.start);
    else schedule.reasons.set(item.experiment, placed.reason);
    if (placed.counts) order.count(item);
    if (placed.counts && placed.start === undefined) waiting.push(item);
  }
  const takingOf = (item: QueuedExperiment) => round.placesOf(item).taking;
  const { now } = round;
  const held = withStarts(round.held, schedule);
  const { victims = new Map(), leaving = new Map(), preemptWithinMs: withinMs = PREEMPT_WITHIN_MS } = input;
  const leave = { victims, leaving, withinMs, takingOf, now, quotas: round.quotasFor(held) };
  const preemptions = choosePreemptions(waiting, leave);
  schedule.preempt = preemptions.chosen;
  const others = waiting.filter(({ experiment }) => !preemptions.reasons.has(experiment));
  const asks = askAutoscalers(round.clusters, others, { takingOf, quotas: round.quotasFor(held), now });
  schedule.asks = asks.clusters;
  for (const [id, words] of [...preemptions.reasons, ...asks.reasons])
    schedule.reasons.set(id, schedule.reasons.get(id) + words);
  for (const { blocker } of round.clusters) if (blocker !== null) schedule.heads.add(blocker.experiment);
  for (const cluster of input.paused == null ? round.clusters.filter(hasRoom) : []) {
    if (cluster.blocker === null) schedule.open.push(cluster.name);
    else if (cluster.backfill) schedule.filling.push(cluster.name);
  }
  schedule.dry = order.dry();
  return schedule;
}

/** What each project holds after the starts of the round. */
function withStarts(
  held: ReadonlyMap<string, Amount>,
  { start, order }: Pick<Schedule, 'start' | 'order'>,
): Map<string, Amount> {
  const after = new Map(held);
  const starting = new Set(start.map(({ experiment }) => experiment));
  for (const item of order) if (starting.has(item.experiment)) count(after, item);
  return after;
}

/** A scheduling round before the first turn. */
export function beginRound(input: ScheduleInput) {
  const { projects = new Map(), paused = null, truncated = new Set(), now = 0 } = input;
  const queued = withSaves(input, now);
  const { leaving = new Map(), allocations } = input;
  const ends = endsWith(input.ends ?? new Map(), leaving, now);
  const clusters = toRoundClusters({ ...input, ends });
  const someUrgent = queued.some(({ priorityClass }) => priorityClass === 'urgent');
  // An experiment out of turn could take room for which others leave or have left: of an urgent experiment that is not the
  // blocked head.
  for (const cluster of clusters) {
    const leave = allocations.get(cluster.name)?.some(({ experiment }) => leaving.has(experiment));
    const left = someUrgent && cluster.nodes.some(({ freed }) => freed !== undefined);
    if (leave || left) cluster.backfill = false;
  }
  const held = holdings(input.allocations.values());
  const policyOf = (project: string): ProjectPolicy => projects.get(project) ?? DEFAULT_POLICY;
  const somePaused = [...projects.values()].some((policy) => policy.paused != null);
  const someQuota = [...projects.values()].some((policy) => policy.gpuQuota !== null) || someUrgent;
  const weightOf = (project: string) => policyOf(project).weight;
  const quotasFor: Round['quotasFor'] = (all) => (someQuota ? createQuotas(all, policyOf) : NO_QUOTAS);
  const quotas = quotasFor(held);
  const isClosed = (project: string) => quotas.isFull(project) || policyOf(project).paused != null;
  const capacity = capacityOf(clusters);
  const order = createOrder({ queued, held, capacity, weightOf, truncated, isClosed });
  const round: Round = {
    clusters,
    held,
    now,
    guards: new Map(),
    quotas,
    quotasFor,
    lengths: input.lengths ?? new Map(),
    placesOf: createPlaces(clusters),
    pausedFor({ project }) {
      if (paused !== null) return `the queue is paused${paused}`;
      if (!somePaused) return null;
      const why = policyOf(project).paused ?? null;
      return why === null ? null : `the queue of ${project} is paused${why}`;
    },
  };
  return { round, order };
}

/** The queued experiments with the time by which their work would be saved, if a cluster has nodes that leave. */
function withSaves({ queued, clusters, saves }: ScheduleInput, now: number): readonly QueuedExperiment[] {
  if (saves === undefined || clusters.every(({ slurm }) => slurm === undefined)) return queued;
  return queued.map((item) => {
    const ms = saves.get(item.experiment);
    return ms === undefined ? item : { ...item, savesBy: now + ms };
  });
}

/** Whether an experiment could still start there. */
function hasRoom({ answering, draining, paused, nodes }: RoundCluster): boolean {
  if (!answering || draining || paused !== null) return false;
  return nodes.some(({ cpus }) => cpus > EPSILON);
}

function createPlaces(clusters: RoundCluster[]): Round['placesOf'] {
  const known = new Map<string, Places>();
  const storages = new Map(clusters.map(({ name, storage }) => [name, storage]));
  return (item) => {
    const { cluster, labels = {}, nodeLabels = {}, gpus, cpus, nodes = 1, checkpoint } = item;
    const kept = checkpoint && storages.has(checkpoint.cluster) ? checkpoint.cluster : '';
    const storage = checkpoint?.shared === true ? storages.get(kept) : undefined;
    const asks = JSON.stringify([labels, nodeLabels, item.savesBy]);
    const key = `${cluster ?? ''} ${kept} ${storage ?? ''} ${gpus} ${cpus} ${nodes} ${asks}`;
    const places = known.get(key) ?? findPlaces(item, clusters, { kept, storage });
    known.set(key, places);
    return places;
  };
}

/** Whether the experiment's cluster and labels allow this cluster. */
export function isWanted(
  { cluster, labels }: Pick<QueuedExperiment, 'cluster' | 'labels'>,
  has: Pick<RoundCluster, 'name' | 'labels'>,
): boolean {
  if (cluster !== null && cluster !== has.name) return false;
  return hasLabels(labels ?? {}, has.labels);
}

/**
 * `kept`: the cluster with the experiment's checkpoint, beside which only those of the same `storage` are possible; empty: there
 * is none.
 */
function findPlaces(
  item: QueuedExperiment,
  clusters: RoundCluster[],
  { kept, storage }: { kept: string; storage: string | undefined },
): Places {
  const allowed = clusters.filter((cluster) => isWanted(item, cluster));
  const reaches = (cluster: RoundCluster) =>
    cluster.name === kept || (storage !== undefined && cluster.storage === storage);
  const wanted = allowed.filter((cluster) => kept === '' || reaches(cluster));
  const stay = wanted.length < allowed.length;
  const refused = (refusal: string): Places => ({ refusal, taking: [], refused: null, stay });
  if (wanted.length === 0) return refused(nowhere(item, clusters));
  // A cluster that was not seen yet has no nodes: nothing is known, so nothing is ruled out.
  const possible = wanted.filter((cluster) => {
    const nodes = allNodes(cluster);
    return nodes.length === 0 || couldFit(item, nodes);
  });
  if (possible.length === 0)
    return refused(
      tooLarge(
        item,
        wanted.map((cluster) => ({ name: cluster.name, nodes: allNodes(cluster) })),
      ),
    );
  const taking = possible.filter(({ draining, paused }) => !draining && paused === null);
  return taking.length === 0 ? refused(closed(possible)) : { refusal: null, taking, refused: null, stay };
}

function allNodes(cluster: RoundCluster): NodeSize[] {
  return possibleNodes(cluster, [...cluster.nodes, ...cluster.closedNodes]);
}

type Placed = { start: Start; counts: true } | { start?: undefined; reason: string; counts: boolean };

/** Starts the experiment if it has its turn and room, or says why not. `counts`: its project's share counts it. */
function place(item: QueuedExperiment, round: Round): Placed {
  const places = round.placesOf(item);
  const refusal =
    places.refusal ??
    pauseAfterLoss(item) ??
    round.pausedFor(item) ??
    round.quotas.refusal(item) ??
    (item.savesBy === undefined ? null : savesTooRarely(item.savesBy - round.now, places.taking));
  const stays = places.stay ? `; ${staysWith(item.checkpoint!)}` : '';
  if (refusal !== null) return { reason: refusal + stays, counts: false };
  const takes = round.lengths.get(item.experiment) ?? null;
  if (places.refused !== null && lengthMs(takes) >= places.refused.fromMs)
    return { reason: inWords(places.refused, takes) + stays, counts: true };
  const room = findRoom(item, places.taking, takes, round);
  if (room !== undefined) {
    const { cluster, parts } = room;
    if (cluster.blocker !== null) round.guards.get(cluster)!.take(parts, takes);
    for (const part of parts) take(part, item, takes && plus(instant(round.now), takes));
    round.quotas.take(item);
    return { start: startOn(item, room, round), counts: true };
  }
  const refused = whyNot(item, places.taking, { round, takes });
  // The blocked head gets its own reason, with the time at which it will have room; the reason is not shared.
  const answering = places.taking.filter((cluster) => cluster.answering);
  if (answering.length === 0 || answering.some(({ blocker }) => blocker !== null)) places.refused = refused;
  block(item, places.taking, round);
  return { reason: inWords(refused, takes) + stays, counts: true };
}

/** An experiment whose last attempt was lost waits a while, and blocks no cluster meanwhile. */
function pauseAfterLoss({ notBefore, waitsFor }: QueuedExperiment): string | null {
  if (notBefore == null) return null;
  return `${waitsFor ?? 'its last attempt was lost'}: the next one starts after ${new Date(notBefore).toISOString()}`;
}

function startOn(item: QueuedExperiment, { cluster, parts }: Room, { clusters }: Round): Start {
  const { experiment, project, priorityClass = 'normal', checkpoint } = item;
  const nodes = parts.map(({ node, gpus, cpus }) => ({ id: node.id, gpus, cpus }));
  const named = priorityClass === 'normal' ? {} : { priorityClass };
  const start = { experiment, project, ...named, cluster: cluster.name, nodes };
  // Another cluster that exists has the same storage.
  if (!checkpoint || clusters.some(({ name }) => name === checkpoint.cluster)) return start;
  return { ...start, abandons: checkpoint };
}

/** Nodes with room for an experiment. */
export interface Room {
  cluster: RoundCluster;
  parts: Part[];
}

/**
 * The first of the clusters on which it is the experiment's turn and that has room for it. An experiment without GPUs
 * prefers a cluster on which it takes no node with GPUs.
 */
export function findRoom(
  item: QueuedExperiment,
  taking: readonly RoundCluster[],
  takes: Span | null,
  round: Pick<Round, 'guards'>,
): Room | undefined {
  let otherwise: Room | undefined;
  for (const cluster of taking) {
    const parts = partsFor(item, cluster, takes, round);
    if (parts === undefined) continue;
    if (!takesGpuNode(item, parts)) return { cluster, parts };
    otherwise ??= { cluster, parts };
  }
  return otherwise;
}

function partsFor(
  item: QueuedExperiment,
  cluster: RoundCluster,
  takes: Span | null,
  { guards }: Pick<Round, 'guards'>,
): Part[] | undefined {
  if (!cluster.answering) return undefined;
  if (cluster.blocker === null) return placeAway(item, cluster.nodes);
  if (!cluster.backfill) return undefined;
  const guard = guards.get(cluster)!;
  const { nodes } = cluster;
  const others = guard.admits(item, takes) ? nodes : nodes.filter((node) => !guard.concerns(node));
  return placeAway(item, others, (node) => guard.roomOn(node, takes));
}

/** Prefers other nodes than those on which the cluster failed the experiment's last attempt. */
function placeAway(
  item: QueuedExperiment,
  nodes: readonly FreeNode[],
  roomOf?: (node: FreeNode) => Amount,
): Part[] | undefined {
  const { avoid = [] } = item;
  const others = avoid.length === 0 ? nodes : nodes.filter(({ id }) => !avoid.includes(id));
  const parts = placeOn(item, others, roomOf);
  return parts === undefined && others.length < nodes.length ? placeOn(item, nodes, roomOf) : parts;
}

/** Makes the experiment the blocked head of the clusters on which it could run and that have none yet. */
export function block(
  item: QueuedExperiment,
  taking: readonly RoundCluster[],
  { guards, quotas, now }: Pick<Round, 'guards' | 'quotas' | 'now'>,
): void {
  let isFirst = false;
  for (const cluster of taking) {
    if (cluster.blocker !== null) continue;
    cluster.blocker = item;
    if (cluster.backfill) guards.set(cluster, createBackfill(item, cluster.nodes, now));
    isFirst = true;
  }
  if (isFirst) quotas.reserve(item);
}

function whyNot(
  item: QueuedExperiment,
  taking: readonly RoundCluster[],
  { round, takes }: { round: Round; takes: Span | null },
): Refused {
  const always = (reason: string): Refused => ({ reason, fromMs: 0 });
  const answering = taking.filter((cluster) => cluster.answering);
  if (answering.length === 0) return always(silent(taking));
  // A shorter experiment of the same shape may still start there.
  const filled = answering.find(
    ({ backfill, blocker, nodes }) => backfill && blocker !== null && placeOn(item, nodes) !== undefined,
  );
  if (filled !== undefined) {
    const reason = `would delay ${filled.blocker!.experiment}, which is next on ${filled.name}`;
    return { reason, fromMs: lengthMs(takes) };
  }
  const strict = answering.find((cluster) => cluster.blocker !== null && !cluster.backfill);
  if (strict !== undefined)
    return always(
      `waits for ${strict.blocker!.experiment}, which is before it in the queue of ${strict.name}`,
    );
  const leaving = leavesTooSoon(item, answering);
  const reason = `needs ${needInWords(item)}; ${leaving ?? freest(answering, item)}`;
  if (answering.some(({ blocker }) => blocker !== null)) return always(reason);
  const room = answering
    .map(({ nodes }) => createBackfill(item, nodes, round.now).head)
    .filter((head) => head !== null)
    .toSorted((a, b) => a.at.likely - b.at.likely)[0];
  return always(room === undefined ? reason : `${reason}; ${frees(item, room, round.now)}`);
}

/** The node on which it would start if that did not leave before its work is saved, in words; null: there is none. */
function leavesTooSoon(item: QueuedExperiment, clusters: readonly RoundCluster[]): string | null {
  if (item.savesBy === undefined) return null;
  const { savesBy: _, ...anyTime } = item;
  const node = clusters.flatMap(({ nodes }) => placeOn(anyTime, nodes) ?? [])[0]?.node;
  return node?.endsAt === undefined ? null : endsTooSoon(shortNode(node.id), node.endsAt);
}

/** The longest run time of an experiment, which backfill compares; an unknown one is longer than all others. */
function lengthMs(takes: Span | null): number {
  return takes === null ? Number.POSITIVE_INFINITY : takes.late;
}

function inWords({ reason, fromMs }: Refused, takes: Span | null): string {
  return fromMs > 0 && takes === null ? `${reason}: its own run time is not known yet` : reason;
}
