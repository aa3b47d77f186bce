import type { Leaving, QueuedExperiment } from '../store/queue/types.ts';
import { createBackfill } from './backfill.ts';
import { createHeap } from './heap.ts';
import { type FreeNode, type RoundCluster, type Span, soonFree, take } from './nodes.ts';
import { placeOn, shapeOf } from './placement.ts';
import type { Quotas } from './quotas.ts';
import { preempting } from './wait-reasons.ts';

/*
 * Which running experiments leave their nodes for a queued one. Only `urgent` experiments preempt, and only `batch`
 * experiments are preempted, so no experiment is preempted for one that another experiment may preempt.
 *
 * Invariants: an experiment preempts only if it starts by it, is not expected to start otherwise within the time that its
 * victims would have from its submission on, and waits for no earlier experiment without room. A victim leaves all of its
 * nodes. No victim could be spared, whatever the delay between the end of an attempt and Ray's report of it.
 */

/** How long a preempted experiment has to reach a checkpoint. It is then stopped, its grace period included. */
export const PREEMPT_WITHIN_MS = 300_000;
/** How often an experiment is preempted at most, withdrawn preemptions included. */
export const MAX_PREEMPTIONS = 3;

/** A running experiment that may be preempted. */
export interface Victim {
  project: string;
  attempt: number;
  /** How often it was preempted before. */
  times: number;
  /** Work since its last checkpoint, in ms. */
  lostMs: number;
  /** The step of its last checkpoint; 0: none. */
  step: number;
  /** Its first start (ms since 1970); null: unknown. */
  startedAt: number | null;
}

/** What may be preempted, and what was. */
export interface Preemptible {
  /** Running batch experiments by id. */
  victims?: ReadonlyMap<string, Victim>;
  leaving?: ReadonlyMap<string, Leaving>;
  /** Default: {@link PREEMPT_WITHIN_MS}. */
  preemptWithinMs?: number | undefined;
}

/** The experiments that leave for a queued one, all of them. */
export interface Preemption {
  experiment: string;
  cluster: string;
  victims: { experiment: string; attempt: number }[];
}

/** The preemptions of a round, and what each experiment that starts by one adds to its wait reason. */
interface Preemptions {
  chosen: Preemption[];
  reasons: ReadonlyMap<string, string>;
}

interface Known extends Required<Omit<Preemptible, 'preemptWithinMs'>> {
  now: number;
  withinMs: number;
  quotas: Quotas;
  takingOf(item: QueuedExperiment): readonly RoundCluster[];
}

/** See {@link Preemptions}. `waiting`: the experiments that have no room, in the order of the round. */
export function choosePreemptions(waiting: readonly QueuedExperiment[], known: Known): Preemptions {
  const chosen: Preemption[] = [];
  const reasons = new Map<string, string>();
  /** Absent: no later experiment has its turn on the cluster. */
  const later = new Map<RoundCluster, Open>();
  const urgent = waiting.filter(({ priorityClass }) => priorityClass === 'urgent');
  for (const cluster of new Set(urgent.flatMap((item) => known.takingOf(item))))
    if (cluster.answering)
      later.set(cluster, {
        cluster,
        soon: reported(cluster.nodes),
        base: withoutLeaving(cluster.nodes, known.leaving),
        gone: [],
        before: [],
      });
  for (const item of urgent) {
    if (known.quotas.refusal(item) !== null) continue;
    const open = known.takingOf(item).flatMap((cluster) => later.get(cluster) ?? []);
    if (open.some((one) => startsByReport(item, one))) {
      known.quotas.take(item);
      continue;
    }
    const victims = open.some((one) => hasRoom(item, one)) ? [] : chooseFor(item, open, known);
    if (victims.length > 0) {
      const { cluster, gone } = victims[0]!.from;
      gone.push(...victims);
      const names = victims.map(({ experiment, attempt }) => ({ experiment, attempt }));
      chosen.push({ experiment: item.experiment, cluster: cluster.name, victims: names });
    }
    const words = inWords(item, victims, known);
    if (words !== '') reasons.set(item.experiment, words);
    const room = open.find((one) => hasRoom(item, one));
    if (room === undefined) for (const { cluster } of open) later.delete(cluster);
    else {
      room.before.push(item);
      known.quotas.take(item);
    }
  }
  return { chosen, reasons };
}

/** What a cluster will be once its victims are gone. */
interface Open {
  cluster: RoundCluster;
  /** Its nodes once Ray reports the ends of attempts that have ended. */
  soon: readonly FreeNode[];
  /** The same without those that leave. */
  base: readonly FreeNode[];
  /** The victims of this round. */
  gone: Candidate[];
  /** The urgent experiments that will start there, in their order. */
  before: QueuedExperiment[];
}

/** Whether the experiment starts as soon as Ray reports the ends of attempts that have ended. It takes its nodes then. */
function startsByReport(item: QueuedExperiment, { soon, base, before }: Open): boolean {
  const parts = before.length > 0 ? undefined : placeOn(item, soon);
  for (const part of parts ?? []) {
    take(part, item, null);
    take({ ...part, node: base.find(({ id }) => id === part.node.id)! }, item, null);
  }
  return parts !== undefined;
}

/**
 * The nodes as a later round finds them: without the victims, `more` included, and with the experiments before. Where an
 * earlier experiment starts depends on all that are gone, so it is placed anew. `early`: it starts before `more` are gone.
 * Undefined: one of these has no room then.
 */
function nodesWithout(
  { base, gone, before }: Open,
  more: readonly Candidate[],
  early = false,
): FreeNode[] | undefined {
  const nodes = copyOf(base);
  free(early ? gone : [...gone, ...more], nodes);
  for (const item of before) {
    const parts = placeOn(item, nodes);
    if (parts === undefined) return undefined;
    for (const part of parts) take(part, item, null);
  }
  if (early) free(more, nodes);
  return nodes;
}

/** Whether the experiment has room, wherever the experiments before it start meanwhile. */
function hasRoom(item: QueuedExperiment, open: Open, more: readonly Candidate[] = []): boolean {
  const fits = (early: boolean) => {
    const nodes = nodesWithout(open, more, early);
    return nodes !== undefined && placeOn(item, nodes) !== undefined;
  };
  return fits(false) && (more.length === 0 || open.before.length === 0 || fits(true));
}

/** A victim on one cluster. `cost`: GPU minutes that it loses; minutes without GPUs. */
interface Candidate extends Victim {
  experiment: string;
  cost: number;
  from: Open;
}

/** The cheapest victims by which the experiment starts; empty: there are none, or it starts soon without. */
function chooseFor(item: QueuedExperiment, open: readonly Open[], known: Known): Candidate[] {
  const { now, withinMs } = known;
  const startsSoon = (one: Open) => {
    const head = createBackfill(item, nodesWithout(one, [])!, now).head;
    // Counted from the submission, because the end of an overdue experiment is always expected now.
    return head !== null && head.at.likely <= item.submittedAt + withinMs;
  };
  if (open.some(startsSoon)) return [];
  let best: Candidate[] | undefined;
  for (const from of open) {
    const found = cheapest(candidatesOf(from, known), item, from);
    if (found !== undefined && (best === undefined || isCheaper(found, best))) best = found;
  }
  return best ?? [];
}

/** The cheapest first. */
function candidatesOf(from: Open, { victims, leaving }: Known): Candidate[] {
  const found = new Map<string, Candidate & { gpus: number }>();
  const gone = new Set(from.gone.map(({ experiment }) => experiment));
  for (const { experiment, gpus } of from.base.flatMap(({ allocations }) => allocations)) {
    const victim = victims.get(experiment);
    if (victim === undefined || victim.times >= MAX_PREEMPTIONS) continue;
    if (leaving.has(experiment) || gone.has(experiment)) continue;
    const all = (found.get(experiment)?.gpus ?? 0) + gpus;
    const cost = Math.round(victim.lostMs / 60_000) * Math.max(1, all);
    found.set(experiment, { ...victim, experiment, from, gpus: all, cost });
  }
  return [...found.values()].sort((a, b) => (isCheaper([a], [b]) ? -1 : 1));
}

/** Less work lost, then fewer victims, then newer ones. */
function isCheaper(a: readonly Candidate[], b: readonly Candidate[]): boolean {
  const [costA, costB] = [sum(a, ({ cost }) => cost), sum(b, ({ cost }) => cost)];
  if (costA !== costB) return costA < costB;
  if (a.length !== b.length) return a.length < b.length;
  return sum(a, ({ startedAt }) => startedAt ?? 0) > sum(b, ({ startedAt }) => startedAt ?? 0);
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((all, item) => all + of(item), 0);
}

/** Sets of victims that a search tries before it takes the best of each node. */
const MAX_TRIES = 500;

/**
 * The cheapest set of victims that makes room for the experiment; undefined: none does. Sets are tried in the order of their
 * costs: each follows from one that is not dearer, by a further candidate or by the next one in place of the last.
 */
function cheapest(
  candidates: readonly Candidate[],
  item: QueuedExperiment,
  from: Open,
): Candidate[] | undefined {
  const makesRoom = (set: readonly Candidate[]) => hasRoom(item, from, set);
  if (candidates.length === 0 || !makesRoom(candidates)) return undefined;
  const heap = createHeap<{ set: Candidate[]; last: number }>((a, b) => isCheaper(a.set, b.set));
  heap.push({ set: [candidates[0]!], last: 0 });
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { set, last } = heap.pop()!;
    if (makesRoom(set)) return set;
    const next = candidates[last + 1];
    if (next === undefined) continue;
    heap.push({ set: [...set, next], last: last + 1 });
    heap.push({ set: [...set.slice(0, -1), next], last: last + 1 });
  }
  return nodeByNode(candidates, item, { nodes: nodesWithout(from, [])!, makesRoom });
}

/** The victims of the cheapest nodes, as many nodes as it takes; of them, those that cannot be spared. */
function nodeByNode(
  candidates: readonly Candidate[],
  item: QueuedExperiment,
  { nodes, makesRoom }: { nodes: readonly FreeNode[]; makesRoom: (set: readonly Candidate[]) => boolean },
): Candidate[] {
  const each = { ...shapeOf(item).each, ...(item.nodeLabels && { nodeLabels: item.nodeLabels }) };
  const sets = nodes.flatMap((node) => {
    const here = candidates.filter(({ experiment }) =>
      node.allocations.some((one) => one.experiment === experiment),
    );
    const onNode = (set: readonly Candidate[]) => {
      const copy = { ...node, allocations: [...node.allocations] };
      free(set, [copy]);
      return placeOn(each, [copy]) !== undefined;
    };
    return here.length > 0 && onNode(here) ? [spared(here, onNode)] : [];
  });
  const all = new Set<Candidate>();
  for (const set of [...sets.sort((a, b) => (isCheaper(a, b) ? -1 : 1)), candidates]) {
    for (const one of set) all.add(one);
    if (makesRoom([...all])) break;
  }
  return spared(
    [...all].sort((a, b) => (isCheaper([a], [b]) ? -1 : 1)),
    makesRoom,
  );
}

/** Without those that are not needed, the dearest first. */
function spared(set: readonly Candidate[], suffices: (set: readonly Candidate[]) => boolean): Candidate[] {
  return set.reduceRight<Candidate[]>(
    (rest, one) => {
      const without = rest.filter((other) => other !== one);
      return suffices(without) ? without : rest;
    },
    [...set],
  );
}

/** Gives the nodes back what these experiments hold there. */
function free(set: readonly { experiment: string }[], nodes: readonly FreeNode[]): void {
  const leave = new Set(set.map(({ experiment }) => experiment));
  for (const node of nodes)
    for (const item of node.allocations.splice(0))
      if (leave.has(item.experiment)) {
        node.gpus += item.gpus;
        node.cpus += item.cpus;
      } else node.allocations.push(item);
}

const copyOf = (nodes: readonly FreeNode[]): FreeNode[] =>
  nodes.map((node) => ({ ...node, allocations: [...node.allocations] }));

/** The nodes without those that have left and that Ray still counts. */
function reported(nodes: readonly FreeNode[]): FreeNode[] {
  return copyOf(nodes).map(({ freed, ...node }) => ({ ...node, ...soonFree({ ...node, freed }) }));
}

/** The same without the experiments that leave. */
function withoutLeaving(nodes: readonly FreeNode[], leaving: Known['leaving']): FreeNode[] {
  const copy = reported(nodes);
  free(
    [...leaving.keys()].map((experiment) => ({ experiment })),
    copy,
  );
  return copy;
}

/** What a wait reason says of those that leave for the experiment; empty: none does. */
function inWords(
  { experiment, project }: QueuedExperiment,
  chosen: readonly Candidate[],
  { leaving, victims, now, withinMs }: Known,
): string {
  const pending = [...leaving].filter(([, { by }]) => by === experiment);
  const until = Math.max(chosen.length > 0 ? now + withinMs : now, ...pending.map(([, one]) => one.until));
  const named = [...chosen.map((one) => one.experiment), ...pending.map(([id]) => id)].map((id) => {
    const victim = victims.get(id);
    // The progress of another project's experiment is not told.
    if (victim?.project !== project) return { experiment: id };
    return { experiment: id, step: victim.step, lostMs: victim.lostMs + until - now };
  });
  return named.length === 0 ? '' : `; ${preempting(named, until - now)}`;
}

/** The ends of running experiments, those of experiments that leave included. */
export function endsWith(
  ends: ReadonlyMap<string, Span>,
  leaving: ReadonlyMap<string, Leaving>,
  now: number,
): ReadonlyMap<string, Span> {
  if (leaving.size === 0) return ends;
  const all = new Map(ends);
  for (const [id, { until }] of leaving) all.set(id, endsBy(ends.get(id) ?? null, until, now));
  return all;
}

/** The end of an attempt that leaves its nodes, at the latest at `until`. */
export function endsBy(end: Span | null, until: number, now: number): Span {
  const by = (expected = until) => Math.max(now, Math.min(expected, until));
  return { early: now, likely: by(end?.likely), late: by(end?.late) };
}
