import type { Reservation } from '../store/clusters/contract.ts';
import type { Waiting } from '../store/queue/contract.ts';
import { type Backfill, createBackfill } from './backfill.ts';
import {
  type Amount,
  bestNode,
  type ClusterView,
  couldFitOn,
  EPSILON,
  type FreeNode,
  fits,
  type RoundCluster,
  type Span,
  take,
  toRoundClusters,
} from './nodes.ts';
import { capacityOf, createOrder, holdings } from './order.ts';
import { createQuotas, DEFAULT_POLICY, NO_QUOTAS, type ProjectPolicy, type Quotas } from './quotas.ts';
import { instant, plus } from './spans.ts';
import { closed, frees, freest, needInWords, nowhere, silent, tooLarge } from './wait-reasons.ts';

/*
 * What always holds: on no node is more handed out than it has, and to no project more GPUs than its quota; on a
 * cluster without backfill nothing starts past an experiment that waits for that cluster and could fit it one day; on
 * one with backfill nothing starts that delays the estimated start of the first of those.
 */

/** What the schedule is made from. */
export interface ScheduleInput {
  /** In the order of the line: by priority, then by arrival. */
  waiting: readonly Waiting[];
  clusters: readonly ClusterView[];
  /** What was handed out, by cluster name. */
  reservations: ReadonlyMap<string, readonly Reservation[]>;
  /** Weights and quotas; a project that is missing has weight 1 and no quota. */
  projects?: ReadonlyMap<string, ProjectPolicy>;
  /** Nothing starts: why, in words that follow "the line is paused". */
  paused?: string | null;
  /** Projects of which more wait than are given here. */
  truncated?: ReadonlySet<string>;
  /** When those that run are expected to end; missing: nobody knows. */
  ends?: ReadonlyMap<string, Span>;
  /** How long those that wait are expected to run; missing: nobody knows. */
  lengths?: ReadonlyMap<string, Span>;
  /** Instant that `ends` refer to. */
  now?: number;
}

/** One experiment that can start now, and where. */
export interface Start {
  experiment: string;
  project: string;
  cluster: string;
  node: string;
  gpus: number;
  cpus: number;
}

/** The schedule: who starts, why the others wait, and where somebody further behind might still start. */
export interface Schedule {
  start: Start[];
  reasons: Map<string, string>;
  /** Those whose turn was looked at, in the order of their turns, whether they start or not. */
  order: Waiting[];
  /** Clusters on which it is anybody's turn who fits. */
  open: string[];
  /** Clusters on which somebody holds the place, and others may start out of turn. */
  filling: string[];
  /** The project whose window was used up, so that nobody behind was looked at; null where all were. */
  dry: string | null;
}

/** Where experiments that ask for the same may start; found once for all of them. */
export interface Places {
  /** Why none of them starts in this round, whatever happens; null where one may. Such ones hold nobody up. */
  refusal: string | null;
  taking: RoundCluster[];
  /** Why one of them was not started in this round; null until then. */
  refused: Refused | null;
}

/**
 * Why an experiment was not started. It holds for all of the same shape whose expected length is at least
 * `fromMs`, because room only becomes less during a round: 0 if the length has no part in it.
 */
interface Refused {
  reason: string;
  fromMs: number;
}

/** What a schedule knows while it is made. */
export interface Round {
  clusters: RoundCluster[];
  /** What each project holds, before anybody starts. */
  held: ReadonlyMap<string, Amount>;
  /** By cluster, from when somebody holds its place. */
  guards: Map<RoundCluster, Backfill>;
  quotas: Quotas;
  /** Quotas as they are for what projects hold. */
  quotasFor(held: ReadonlyMap<string, Amount>): Quotas;
  lengths: ReadonlyMap<string, Span>;
  now: number;
  placesOf(item: Waiting): Places;
  /** Why nothing of its project starts; null where it may. */
  pausedFor(item: Waiting): string | null;
}

/**
 * Chooses who starts now. In their order (see order.ts), each experiment takes the fullest node that has room
 * for all of its GPUs and CPUs; one that does not fit holds its place on every cluster where it could, and those behind
 * wait there, unless the cluster allows backfill and they delay nobody (backfill.ts). One that can never fit, is
 * paused or is over its project's quota (quotas.ts) says so and holds nobody up.
 */
export function scheduleRound(input: ScheduleInput): Schedule {
  const { round, order } = beginRound(input);
  const schedule: Schedule = { start: [], reasons: new Map(), order: [], open: [], filling: [], dry: null };
  for (let item = order.next(); item !== undefined; item = order.next()) {
    const placed = place(item, round);
    schedule.order.push(item);
    if (placed.start !== undefined) schedule.start.push(placed.start);
    else schedule.reasons.set(item.experiment, placed.reason);
    if (placed.counts) order.count(item);
  }
  for (const cluster of input.paused == null ? round.clusters.filter(hasRoom) : []) {
    if (cluster.blocker === null) schedule.open.push(cluster.name);
    else if (cluster.backfill) schedule.filling.push(cluster.name);
  }
  schedule.dry = order.dry();
  return schedule;
}

/** A round of schedule, before anybody had a turn. */
export function beginRound(input: ScheduleInput) {
  const { waiting, projects = new Map(), paused = null, truncated = new Set(), now = 0 } = input;
  const clusters = toRoundClusters({ ...input, ends: input.ends ?? new Map() });
  const held = holdings(input.reservations.values());
  const policyOf = (project: string): ProjectPolicy => projects.get(project) ?? DEFAULT_POLICY;
  const somePaused = [...projects.values()].some((policy) => policy.paused != null);
  const someQuota = [...projects.values()].some((policy) => policy.gpuQuota !== null);
  const weightOf = (project: string) => policyOf(project).weight;
  const quotasFor: Round['quotasFor'] = (all) => (someQuota ? createQuotas(all, policyOf) : NO_QUOTAS);
  const quotas = quotasFor(held);
  const isClosed = (project: string) => quotas.isFull(project) || policyOf(project).paused != null;
  const capacity = capacityOf(clusters);
  const order = createOrder({ waiting, held, capacity, weightOf, truncated, isClosed });
  const round: Round = {
    ...{ clusters, held, now, guards: new Map(), quotas, quotasFor },
    lengths: input.lengths ?? new Map(),
    placesOf: createPlaces(clusters),
    pausedFor({ project }) {
      if (paused !== null) return `the line is paused${paused}`;
      if (!somePaused) return null;
      const why = policyOf(project).paused ?? null;
      return why === null ? null : `the queue of ${project} is paused${why}`;
    },
  };
  return { round, order };
}

/** Whether anything could still start there. */
function hasRoom({ answering, draining, paused, nodes }: RoundCluster): boolean {
  if (!answering || draining || paused !== null) return false;
  return nodes.some(({ cpus }) => cpus > EPSILON);
}

function createPlaces(clusters: RoundCluster[]): Round['placesOf'] {
  const known = new Map<string, Places>();
  return (item) => {
    const { cluster, labels, gpus, cpus } = item;
    const key = `${cluster ?? ''} ${gpus} ${cpus}${labels ? ` ${JSON.stringify(labels)}` : ''}`;
    const places = known.get(key) ?? findPlaces(item, clusters);
    known.set(key, places);
    return places;
  };
}

/** Whether a cluster is one that the experiment asks for. */
export function isWanted(
  { cluster, labels }: Pick<Waiting, 'cluster' | 'labels'>,
  has: Pick<RoundCluster, 'name' | 'labels'>,
): boolean {
  if (cluster !== null && cluster !== has.name) return false;
  return Object.entries(labels ?? {}).every(([key, value]) => has.labels[key] === value);
}

function findPlaces(item: Waiting, clusters: RoundCluster[]): Places {
  const refused = (refusal: string): Places => ({ refusal, taking: [], refused: null });
  const wanted = clusters.filter((cluster) => isWanted(item, cluster));
  if (wanted.length === 0) return refused(nowhere(item, clusters));
  // A cluster that has not been seen yet has no nodes: nothing is known, so nothing is ruled out.
  const possible = wanted.filter(
    ({ nodes }) => nodes.length === 0 || nodes.some((node) => couldFitOn(item, node)),
  );
  if (possible.length === 0) return refused(tooLarge(item, wanted));
  const taking = possible.filter(({ draining, paused }) => !draining && paused === null);
  return taking.length === 0 ? refused(closed(possible)) : { refusal: null, taking, refused: null };
}

type Placed = { start: Start; counts: true } | { start?: undefined; reason: string; counts: boolean };

/** Starts it where there is room and it is its turn; else says why not. `counts`: it had its turn. */
function place(item: Waiting, round: Round): Placed {
  const places = round.placesOf(item);
  const refusal =
    places.refusal ?? pauseAfterLoss(item) ?? round.pausedFor(item) ?? round.quotas.refusal(item);
  if (refusal !== null) return { reason: refusal, counts: false };
  const takes = round.lengths.get(item.experiment) ?? null;
  if (places.refused !== null && lengthMs(takes) >= places.refused.fromMs)
    return { reason: inWords(places.refused, takes), counts: true };
  const room = findRoom(item, places.taking, takes, round);
  if (room !== undefined) {
    const { cluster, node } = room;
    if (cluster.blocker !== null) round.guards.get(cluster)!.take(item, node, takes);
    take(node, item, takes && plus(instant(round.now), takes));
    round.quotas.take(item);
    return { start: startOn(item, room), counts: true };
  }
  const refused = whyNot(item, places.taking, { round, takes });
  // The first that a cluster has no room for is told when there will be room; it blocks those after it.
  const answering = places.taking.filter((cluster) => cluster.answering);
  if (answering.length === 0 || answering.some(({ blocker }) => blocker !== null)) places.refused = refused;
  hold(item, places.taking, round);
  return { reason: inWords(refused, takes), counts: true };
}

/** One whose last attempt was lost waits a while, and holds nobody up meanwhile. */
function pauseAfterLoss({ notBefore }: Waiting): string | null {
  if (notBefore == null) return null;
  return `its last attempt was lost: the next one starts after ${new Date(notBefore).toISOString()}`;
}

function startOn({ experiment, project, gpus, cpus }: Waiting, { cluster, node }: Room): Start {
  return { experiment, project, cluster: cluster.name, node: node.id, gpus, cpus };
}

/** A node with room for an experiment. */
export interface Room {
  cluster: RoundCluster;
  node: FreeNode;
}

/** The first of the clusters on which it is the experiment's turn and that has room for it. */
export function findRoom(
  item: Waiting,
  taking: readonly RoundCluster[],
  takes: Span | null,
  round: Pick<Round, 'guards'>,
): Room | undefined {
  for (const cluster of taking) {
    const node = nodeFor(item, cluster, takes, round);
    if (node !== undefined) return { cluster, node };
  }
  return undefined;
}

function nodeFor(
  item: Waiting,
  cluster: RoundCluster,
  takes: Span | null,
  { guards }: Pick<Round, 'guards'>,
): FreeNode | undefined {
  if (!cluster.answering) return undefined;
  if (cluster.blocker === null) return bestNode(item, cluster.nodes);
  if (!cluster.backfill) return undefined;
  const guard = guards.get(cluster)!;
  return bestNode(item, cluster.nodes, (node) => guard.allows(item, node, takes));
}

/** It holds its place wherever it could one day run and nobody ahead of it does. */
export function hold(
  item: Waiting,
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
  if (isFirst) quotas.keep(item);
}

function whyNot(
  item: Waiting,
  taking: readonly RoundCluster[],
  { round, takes }: { round: Round; takes: Span | null },
): Refused {
  const always = (reason: string): Refused => ({ reason, fromMs: 0 });
  const answering = taking.filter((cluster) => cluster.answering);
  if (answering.length === 0) return always(silent(taking));
  // A shorter experiment of the same shape may still start there.
  const filled = answering.find(
    ({ backfill, blocker, nodes }) => backfill && blocker !== null && nodes.some((node) => fits(item, node)),
  );
  if (filled !== undefined) {
    const reason = `would delay ${filled.blocker!.experiment}, which is next on ${filled.name}`;
    return { reason, fromMs: lengthMs(takes) };
  }
  const strict = answering.find((cluster) => cluster.blocker !== null && !cluster.backfill);
  if (strict !== undefined)
    return always(`waits behind ${strict.blocker!.experiment}, which is ahead in the line of ${strict.name}`);
  const reason = `needs ${needInWords(item)} on one node; ${freest(answering, item)}`;
  if (answering.some(({ blocker }) => blocker !== null)) return always(reason);
  const room = answering
    .map(({ nodes }) => createBackfill(item, nodes, round.now).head)
    .filter((head) => head !== null)
    .toSorted((a, b) => a.at.likely - b.at.likely)[0];
  return always(room === undefined ? reason : `${reason}; ${frees(item, room, round.now)}`);
}

/** What backfill compares: the longest that an experiment may run; one of unknown length is longer than all others. */
function lengthMs(takes: Span | null): number {
  return takes === null ? Number.POSITIVE_INFINITY : takes.late;
}

function inWords({ reason, fromMs }: Refused, takes: Span | null): string {
  return fromMs > 0 && takes === null ? `${reason}: nobody knows yet how long this one runs` : reason;
}
