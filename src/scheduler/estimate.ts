import type { QueuedExperiment } from '../store/queue/types.ts';
import { createHeap, type Heap } from './heap.ts';
import {
  type Amount,
  couldFitOn,
  type FreeNode,
  labelled,
  type NodeAllocation,
  type RoundCluster,
  type Span,
  soonFree,
  take,
} from './nodes.ts';
import { shapeOf } from './placement.ts';
import { PREEMPT_WITHIN_MS } from './preemption.ts';
import { count } from './quotas.ts';
import {
  beginRound,
  block,
  findRoom,
  type Places,
  type Room,
  type Round,
  type Schedule,
  type ScheduleInput,
  type Start,
} from './schedule.ts';
import { instant, latest, plus } from './spans.ts';
import { silent } from './wait-reasons.ts';

/*
 * Estimated starts. The schedule is replayed into the future: at each likely end of an attempt, its GPUs and CPUs become
 * free, and queued experiments start by the rules of a scheduling round. The replay keeps the order of the schedule and
 * starts no experiment out of turn: with backfill, some experiments start earlier than estimated.
 *
 * The replay decides by likely times. The bounds of a start follow from the bounds of everything that it waited for: the
 * ends on its node, the starts before it on its clusters, and the ends in its project if it waited for a quota.
 */

/** When and where an experiment is expected to start; `at` null: `why` says what is not known. */
export type EstimatedStart = { at: Span; on: EstimatedPlace; why: null } | { at: null; why: string };

/** The nodes on which an experiment is expected to run, and its expected end; null: not known. */
interface EstimatedPlace {
  cluster: string;
  nodes: string[];
  ends: Span | null;
}

/** Nodes and experiments that one replay examines: this bounds its time for every queue and every set of clusters. */
const MAX_STEPS = 1_000_000;

/** Why an experiment far back in the queue has no estimate. */
export const TOO_FAR = 'it is too far back in the queue to be estimated';

/** Queued experiments of one project that ask for the same: none of them starts before the first. */
interface Group {
  items: QueuedExperiment[];
  /** Positions of the items in the order of the schedule. */
  turns: number[];
  /** Index of the first item that has not started. */
  next: number;
  places: Places;
  /** Number of nodes on which they may start. */
  nodes: number;
  /** The instant before which none of them starts. */
  from: number;
  waitedForQuota: boolean;
}

/** What happens at a likely time: an attempt ends, or experiments may start again after a lost attempt. */
type Event = { at: number } & (
  | { ends: Span; item: Omit<NodeAllocation, 'ends'>; node: FreeNode }
  | { group: Group; node: null }
);

interface Replay {
  round: Round;
  events: Heap<Event>;
  /** Groups whose next experiment may start, by their turns. */
  groups: Heap<Group>;
  /** GPUs and CPUs that each project holds. */
  held: Map<string, Amount>;
  /** No start on this node, on this cluster or within the quota of this project is earlier. */
  bounds: Map<FreeNode | RoundCluster | string, Span>;
  found: Map<string, EstimatedStart>;
  steps: number;
}

/** Estimates for all experiments that `schedule`, made from the same input, considered and did not start. */
export function estimateStarts(input: ScheduleInput, schedule: Schedule): Map<string, EstimatedStart> {
  const replay = beginReplay(withPreemptions(input, schedule));
  const starts = new Map(schedule.start.map((start) => [start.experiment, start]));
  const groups = createGroups(replay);
  for (const [turn, item] of schedule.order.entries()) {
    const start = starts.get(item.experiment);
    if (start === undefined) groups.add(item, turn);
    else allocate(item, roomOf(start, replay.round), instant(replay.round.now), replay);
  }
  for (const group of groups.all) {
    if (group.from > replay.round.now) replay.events.push({ at: group.from, group, node: null });
    else replay.groups.push(group);
  }
  if (takeFreed(replay)) startDue(replay);
  let at = replay.events.peek()?.at;
  for (; at !== undefined && replay.steps < MAX_STEPS; at = replay.events.peek()?.at) {
    replay.round.now = at;
    for (; replay.events.peek()?.at === at; release(replay.events.pop()!, replay));
    startDue(replay);
  }
  explainRest(groups.all, replay);
  return replay.found;
}

/** The experiments that leave by this schedule, beside those that do already. */
function withPreemptions(input: ScheduleInput, { preempt }: Schedule): ScheduleInput {
  if (preempt.length === 0) return input;
  const until = (input.now ?? 0) + (input.preemptWithinMs ?? PREEMPT_WITHIN_MS);
  const chosen = preempt.flatMap(({ experiment: by, victims }) =>
    victims.map(({ experiment }) => [experiment, { by, until }] as const),
  );
  return { ...input, leaving: new Map([...(input.leaving ?? []), ...chosen]) };
}

function beginReplay(input: ScheduleInput): Replay {
  const clusters = input.clusters.map((cluster) => ({ ...cluster, backfill: false }));
  const { round } = beginRound({ ...input, clusters, queued: [] });
  const replay: Replay = {
    round,
    events: createHeap((a, b) => a.at < b.at),
    groups: createHeap((a, b) => a.turns[a.next]! < b.turns[b.next]!),
    held: new Map([...round.held].map(([project, amount]) => [project, { ...amount }])),
    bounds: new Map(),
    found: new Map(),
    steps: 0,
  };
  for (const node of round.clusters.flatMap(({ nodes }) => nodes))
    for (const item of node.allocations)
      if (item.ends !== null)
        replay.events.push({ at: Math.max(item.ends.likely, round.now), ends: item.ends, item, node });
  return replay;
}

/** Nothing has to end for what attempts that have ended still use by Ray's last report. True: there was some. */
function takeFreed({ round }: Replay): boolean {
  const nodes = round.clusters.flatMap((cluster) => cluster.nodes).filter(({ freed }) => freed !== undefined);
  for (const node of nodes) Object.assign(node, soonFree(node));
  return nodes.length > 0;
}

function roomOf(start: Start, { clusters }: Round): Room {
  const cluster = clusters.find(({ name }) => name === start.cluster)!;
  const parts = start.nodes.map(({ id, gpus, cpus }) => {
    return { node: cluster.nodes.find((node) => node.id === id)!, gpus, cpus };
  });
  return { cluster, parts };
}

/** Sorts experiments into groups; records at once for which ones no start can be expected. */
function createGroups({ round, found }: Replay): {
  all: Group[];
  add(item: QueuedExperiment, turn: number): void;
} {
  const known = new Map<Places, Map<string, Group>>();
  const all: Group[] = [];

  function groupOf({ project, notBefore }: QueuedExperiment, places: Places): Group {
    const from = notBefore ?? round.now;
    const ofPlaces = known.get(places) ?? new Map<string, Group>();
    known.set(places, ofPlaces);
    const same = from > round.now ? undefined : ofPlaces.get(project);
    if (same !== undefined) return same;
    const nodes = places.taking.reduce((sum, cluster) => sum + cluster.nodes.length, 0);
    const group = { ...{ items: [], turns: [], next: 0, places, nodes, from }, waitedForQuota: false };
    all.push(group);
    if (from <= round.now) ofPlaces.set(project, group);
    return group;
  }

  return {
    all,
    add(item, turn) {
      const places = round.placesOf(item);
      const answers = places.taking.some((cluster) => cluster.answering);
      const why = places.refusal ?? round.pausedFor(item) ?? (answers ? null : silent(places.taking));
      if (why !== null) return void found.set(item.experiment, unknown(why));
      const group = groupOf(item, places);
      group.items.push(item);
      group.turns.push(turn);
    },
  };
}

/** Starts every experiment that has its turn and room now. */
function startDue(replay: Replay): void {
  const { round, groups } = replay;
  beginTurns(replay);
  const { quotas } = round;
  const blocked: Group[] = [];
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    const item = group.items[group.next]!;
    replay.steps += 1 + group.nodes;
    const refused = quotas.refusal(item) !== null;
    const room = refused ? undefined : findRoom(item, group.places.taking, null, round);
    if (room !== undefined) {
      quotas.take(item);
      start(item, group, room, replay);
      if (group.next < group.items.length) groups.push(group);
      continue;
    }
    blocked.push(group);
    if (refused) group.waitedForQuota = true;
    else block(item, group.places.taking, round);
    if (round.clusters.every(isBlocked)) break;
  }
  for (const group of blocked) groups.push(group);
}

function beginTurns({ round, held }: Replay): void {
  for (const cluster of round.clusters) cluster.blocker = null;
  round.quotas = round.quotasFor(held);
}

function isBlocked({ blocker, answering, draining, paused }: RoundCluster): boolean {
  return blocker !== null || !answering || draining || paused !== null;
}

function start(item: QueuedExperiment, group: Group, room: Room, replay: Replay): void {
  const { round, bounds } = replay;
  const { now } = round;
  const at = { early: group.from, likely: now, late: now };
  const quota = group.waitedForQuota ? [item.project] : [];
  for (const key of [...room.parts.map(({ node }) => node), room.cluster, ...quota]) {
    const bound = bounds.get(key);
    if (bound === undefined) continue;
    at.early = Math.max(at.early, bound.early);
    at.late = Math.max(at.late, bound.late);
  }
  // An experiment that waits for its quota delays its own project only.
  if (group.waitedForQuota) setBound(item.project, at, replay);
  else for (const cluster of group.places.taking) setBound(cluster, at, replay);
  group.next += 1;
  group.waitedForQuota = false;
  const ends = allocate(item, room, at, replay);
  const on = { cluster: room.cluster.name, nodes: room.parts.map(({ node }) => node.id), ends };
  replay.found.set(item.experiment, { at, on, why: null });
}

function setBound(key: FreeNode | RoundCluster | string, at: Span, { bounds }: Replay): void {
  const known = bounds.get(key);
  bounds.set(key, known === undefined ? at : latest(known, at));
}

/** Its expected end; null: not known. */
function allocate(
  item: QueuedExperiment,
  { parts }: Room,
  at: Span,
  { round, events, held }: Replay,
): Span | null {
  const { experiment, project, priorityClass } = item;
  const length = round.lengths.get(experiment);
  const ends = length === undefined ? null : plus(at, length);
  count(held, item);
  for (const { node, gpus, cpus } of parts) {
    take({ node, gpus, cpus }, item, ends);
    if (ends !== null)
      events.push({ at: ends.likely, ends, item: { experiment, project, priorityClass, gpus, cpus }, node });
  }
  return ends;
}

function release(event: Event, replay: Replay): void {
  if (event.node === null) {
    replay.groups.push(event.group);
    return;
  }
  const { node, item, ends } = event;
  node.gpus += item.gpus;
  node.cpus += item.cpus;
  node.allocations.splice(
    node.allocations.findIndex(({ experiment }) => experiment === item.experiment),
    1,
  );
  setBound(node, ends, replay);
  count(replay.held, item, -1);
  if (item.gpus > 0) setBound(item.project, ends, replay);
}

/** Says of the experiments that the replay did not start why their start is not known. */
function explainRest(groups: readonly Group[], replay: Replay): void {
  const { round, found } = replay;
  const rest = groups.flatMap(({ items, turns, next, places }) =>
    items.slice(next).map((item, at) => ({ item, turn: turns[next + at]!, places })),
  );
  beginTurns(replay);
  const { quotas } = round;
  for (const { item, places } of rest.sort((a, b) => a.turn - b.turn)) {
    const refusal = quotas.refusal(item);
    const why = refusal === null ? whyUnknown(item, places) : whyQuotaUnknown(item, refusal, round);
    found.set(item.experiment, unknown(replay.steps < MAX_STEPS ? why : TOO_FAR));
    if (refusal === null) block(item, places.taking, round);
  }
}

function whyQuotaUnknown({ project }: QueuedExperiment, refusal: string, { clusters }: Round): string {
  const allocations = clusters.flatMap(({ nodes }) => nodes).flatMap((node) => node.allocations);
  const holder = allocations.find((item) => item.project === project && item.gpus > 0 && item.ends === null);
  return holder === undefined
    ? refusal
    : `the run time of ${holder.experiment}, which holds GPUs of the quota, is not known yet`;
}

function whyUnknown(item: QueuedExperiment, { taking }: Places): string {
  const blocker = taking.find((cluster) => cluster.blocker !== null)?.blocker;
  if (blocker) return `it waits for ${blocker.experiment}, whose start is not known`;
  const { each } = shapeOf(item);
  const possible = taking
    .flatMap(({ nodes }) => labelled(nodes, item))
    .filter((node) => couldFitOn(each, node));
  if (possible.length === 0) return 'no node is known yet';
  const inTheWay = possible.flatMap(({ allocations }) => allocations).find(({ ends }) => ends === null);
  return inTheWay === undefined
    ? 'GPUs or CPUs in use there were not allocated by Echelon, and it is not known when they become free'
    : `the run time of ${inTheWay.experiment}, which is in the way, is not known yet`;
}

function unknown(why: string): EstimatedStart {
  return { at: null, why };
}
