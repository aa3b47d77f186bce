import type { Waiting } from '../store/queue/contract.ts';
import { couldFitOn, EPSILON, type FreeNode, type Held, type RoundCluster, type Span } from './nodes.ts';
import type { ProjectPolicy } from './quotas.ts';
import { beginRound, type Round, type Schedule, type ScheduleInput } from './schedule.ts';

/*
 * When those that wait are expected to start: the line is played forward, in the order of the schedule, over the expected
 * ends of those that run and the expected lengths of those that wait. Nobody overtakes in it: with backfill some start
 * sooner. Bounds travel along: the earliest start supposes every early end, the latest every late one.
 */

/** When an experiment is expected to start; `at` null: `why` says what is not known. */
export type Estimate = { at: Span; why: null } | { at: null; why: string };

/** Looks at nodes in one estimate of the line: its time is bounded, whatever the line and the clusters are. */
const MAX_LOOKS = 500_000;

const NEVER = Number.MAX_VALUE;
const TOO_FAR = 'it is too far back in the line to be estimated';

interface Front {
  at: Span;
  /** Set: nobody behind is known to start. */
  unknown: string | null;
}

interface Account {
  quota: number;
  used: number;
  held: { gpus: number; experiment: string; ends: Span | null }[];
  front: Front;
}

interface Play {
  round: Round;
  fronts: Map<RoundCluster, Front>;
  accounts: Map<string, Account | null>;
  policies: ReadonlyMap<string, ProjectPolicy>;
  now: number;
  looks: number;
}

/** Estimates of all that `choice`, made from the same input, looked at and did not start. */
export function estimate(input: ScheduleInput, schedule: Schedule): Map<string, Estimate> {
  const { round } = beginRound({ ...input, waiting: [] });
  const now = input.now ?? 0;
  const policies = input.projects ?? new Map();
  const play: Play = { round, fronts: new Map(), accounts: new Map(), policies, now, looks: 0 };
  for (const { nodes } of round.clusters)
    for (const { held } of nodes) held.sort((a, b) => (a.ends?.likely ?? NEVER) - (b.ends?.likely ?? NEVER));
  const starts = new Map(schedule.start.map((start) => [start.experiment, start]));
  for (const item of schedule.order) {
    const start = starts.get(item.experiment);
    const node = start && nodeOf(round, start);
    if (node) settle(item, node, { play, at: instant(now) });
  }
  const found = new Map<string, Estimate>();
  for (const item of schedule.order) {
    if (starts.has(item.experiment)) continue;
    found.set(item.experiment, play.looks > MAX_LOOKS ? unknown(TOO_FAR) : next(item, play));
  }
  return found;
}

function nodeOf(
  { clusters }: Round,
  { cluster, node }: { cluster: string; node: string },
): FreeNode | undefined {
  return clusters.find(({ name }) => name === cluster)?.nodes.find(({ id }) => id === node);
}

function next(item: Waiting, play: Play): Estimate {
  const { refusal, taking } = play.round.placesOf(item);
  const closed = refusal ?? play.round.pausedFor(item);
  if (closed !== null) return unknown(closed);
  const answering = taking.filter((cluster) => cluster.answering);
  if (answering.length === 0)
    return unknown(`the ray-worker of ${taking.map(({ name }) => name).join(', ')} does not answer`);
  const quota = quotaFront(item, play);
  if (quota?.unknown) return unknown(quota.unknown);
  let best: { at: Span; node: FreeNode } | undefined;
  let why = 'no node is known yet';
  for (const cluster of answering) {
    const front = frontOf(cluster, play);
    if (front.unknown !== null) {
      why = front.unknown;
      continue;
    }
    const from = quota ? latest(front.at, quota.at) : front.at;
    const room = firstRoom(item, cluster, { from, play });
    if (typeof room === 'string') why = room;
    else if (best === undefined || room.at.likely < best.at.likely) best = room;
  }
  // One that waits for its quota alone holds up nobody but its own project.
  if (!quota) holdUp(item, answering, { play, at: best?.at ?? null });
  if (best === undefined) return unknown(why);
  if (quota) noteInAccount(item, play, best.at);
  else settle(item, best.node, { play, at: best.at });
  return { at: best.at, why: null };
}

function frontOf(cluster: RoundCluster, { fronts, now }: Play): Front {
  return fronts.get(cluster) ?? { at: instant(now), unknown: null };
}

/** Nobody behind starts on those clusters before it does. */
function holdUp(
  { experiment }: Waiting,
  clusters: readonly RoundCluster[],
  { play, at }: { play: Play; at: Span | null },
): void {
  for (const cluster of clusters) {
    const front = frontOf(cluster, play);
    if (front.unknown !== null) continue;
    play.fronts.set(
      cluster,
      at === null
        ? { ...front, unknown: `it waits behind ${experiment}, of which nobody knows when it starts` }
        : { at: latest(front.at, at), unknown: null },
    );
  }
}

/** The node that has room first, not before `from`; or who is in the way. */
function firstRoom(
  item: Waiting,
  { nodes }: RoundCluster,
  { from, play }: { from: Span; play: Play },
): { at: Span; node: FreeNode } | string {
  let best: FreeNode | undefined;
  let bestAt = Number.POSITIVE_INFINITY;
  let inTheWay: Held | undefined;
  for (const node of nodes) {
    play.looks += 1;
    if (!couldFitOn(item, node)) continue;
    const at = roomAt(item, node);
    if (at === null) {
      inTheWay ??= node.held.find(({ ends }) => ends === null);
      continue;
    }
    if (Math.max(at, from.likely) >= bestAt) continue;
    [best, bestAt] = [node, Math.max(at, from.likely)];
    if (at <= from.likely) break;
  }
  if (best !== undefined) return { node: best, at: latest(from, spanUntil(best, bestAt)) };
  return inTheWay === undefined
    ? 'what is in use there is none of ours, and nobody knows when it ends'
    : `nobody knows yet how long ${inTheWay.experiment} runs, which is in the way`;
}

/** When it has room, most likely; its `held` are in the order of their likely ends. Null: nobody knows. */
function roomAt(need: Waiting, { gpus, cpus, held }: FreeNode): number | null {
  let [freeGpus, freeCpus] = [gpus, cpus];
  let at = Number.NEGATIVE_INFINITY;
  for (let next = 0; ; next += 1) {
    if (need.gpus <= freeGpus + EPSILON && need.cpus <= freeCpus + EPSILON) return at;
    const item = held[next];
    if (item === undefined || item.ends === null) return null;
    freeGpus += item.gpus;
    freeCpus += item.cpus;
    at = Math.max(at, item.ends.likely);
  }
}

/** The bounds of the time at which all that most likely end by `at` have ended. */
function spanUntil({ held }: FreeNode, at: number): Span {
  let span = instant(Number.NEGATIVE_INFINITY);
  for (const { ends } of held) {
    if (ends === null || ends.likely > at) break;
    span = latest(span, ends);
  }
  return span;
}

/** It starts on that node: what has ended by then is free, and it holds its own until its expected end. */
function settle(item: Waiting, node: FreeNode, { play, at }: { play: Play; at: Span }): void {
  noteInAccount(item, play, at);
  while (node.held[0]?.ends && node.held[0].ends.likely <= at.likely) {
    const over = node.held.shift()!;
    node.gpus += over.gpus;
    node.cpus += over.cpus;
  }
  node.gpus -= item.gpus;
  node.cpus -= item.cpus;
  const { experiment, project, gpus, cpus } = item;
  insert(node.held, { experiment, project, gpus, cpus, ends: endOf(item, play, at) });
}

function endOf({ experiment }: Waiting, { round }: Play, at: Span): Span | null {
  const length = round.lengths.get(experiment);
  if (length === undefined) return null;
  return { early: at.early + length.early, likely: at.likely + length.likely, late: at.late + length.late };
}

/** Keeps the order of likely ends; those without one are last. */
function insert<T extends { ends: Span | null }>(held: T[], item: T): void {
  const end = item.ends?.likely ?? NEVER;
  let at = held.length;
  while (at > 0 && (held[at - 1]!.ends?.likely ?? NEVER) > end) at -= 1;
  held.splice(at, 0, item);
}

function accountOf(project: string, { accounts, policies, round, now }: Play): Account | null {
  const known = accounts.get(project);
  if (known !== undefined) return known;
  const quota = policies.get(project)?.gpuQuota ?? null;
  let account: Account | null = null;
  if (quota !== null) {
    account = {
      quota,
      used: round.held.get(project)?.gpus ?? 0,
      held: [],
      front: { at: instant(now), unknown: null },
    };
    for (const { held } of round.clusters.flatMap(({ nodes }) => nodes))
      for (const item of held) if (item.project === project && item.gpus > 0) insert(account.held, item);
  }
  accounts.set(project, account);
  return account;
}

/** When its project's quota has room for it; null: it has now. */
function quotaFront(item: Waiting, play: Play): Front | null {
  const account = item.gpus > 0 ? accountOf(item.project, play) : null;
  if (account === null) return null;
  if (item.gpus > account.quota)
    return { at: account.front.at, unknown: `it needs more GPUs than the quota of ${item.project}` };
  if (account.front.unknown !== null) return account.front;
  if (account.used + item.gpus <= account.quota && account.front.at.likely <= play.now) return null;
  let { used } = account;
  let { at } = account.front;
  for (const holder of account.held) {
    if (used + item.gpus <= account.quota) break;
    if (holder.ends === null) {
      const unknown = `nobody knows yet how long ${holder.experiment} runs, which holds GPUs of the quota`;
      account.front = { at, unknown };
      return account.front;
    }
    at = latest(at, holder.ends);
    used -= holder.gpus;
  }
  const isFree = used + item.gpus <= account.quota;
  account.front = { at, unknown: isFree ? null : 'nobody knows when GPUs of its quota are given back' };
  return account.front;
}

function noteInAccount(item: Waiting, play: Play, at: Span): void {
  const account = item.gpus > 0 ? accountOf(item.project, play) : null;
  if (account === null) return;
  while (account.held[0]?.ends && account.held[0].ends.likely <= at.likely && at.likely > play.now)
    account.used -= account.held.shift()!.gpus;
  account.used += item.gpus;
  insert(account.held, { gpus: item.gpus, experiment: item.experiment, ends: endOf(item, play, at) });
}

function latest(a: Span, b: Span): Span {
  return {
    early: Math.max(a.early, b.early),
    likely: Math.max(a.likely, b.likely),
    late: Math.max(a.late, b.late),
  };
}

function instant(at: number): Span {
  return { early: at, likely: at, late: at };
}

function unknown(why: string): Estimate {
  return { at: null, why };
}
