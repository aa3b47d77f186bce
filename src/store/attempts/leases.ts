import { randomUUID } from 'node:crypto';
import { shortNode } from 'echelon-client/short-node';
import { EchelonError } from '../../core/errors.ts';
import type { AllocatedNode } from '../../core/launch-plan.ts';
import { QUARANTINE_AFTER, STATES, type State, TRANSITIONS } from '../../core/states.ts';
import { storeTime } from '../clock/clock.ts';
import { fromNodes, toAllocations } from '../clusters/clusters.ts';
import { toAttempts } from '../experiments/record.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { RunScript } from '../redis/scripts.ts';
import type {
  Acquired,
  Allocated,
  AllocationInput,
  AttemptStore,
  Crash,
  Lease,
  PresentAttempt,
  Renewal,
  TakenOver,
} from './contract.ts';

/** Leases in one atomic step. */
const LEASES_PER_CALL = 100;

/** See {@link AttemptStore}. */
export function createLeases(context: StoreContext): AttemptStore {
  const { run, redis, keys } = context;
  return {
    async list(id) {
      return toAttempts(await guarded(redis.hgetall(keys.attempts(id))));
    },
    present: (ids) => present(context, ids),
    allocate: (starts) => allocate(run, starts),
    async allocation(cluster, experiment) {
      const text = await guarded(redis.hget(keys.allocations(cluster), experiment));
      const items = text === null ? [] : toAllocations({ [experiment]: text });
      return items.map(({ node, gpus, cpus }) => ({ id: node, gpus, cpus }));
    },
    ...launches(run),
    ...counts(context),
    renew: (leases, leaseMs) => renew(run, leases, leaseMs),
    takeOver: (input) => takeOver(run, input),
    async release(leases) {
      for (let at = 0; at < leases.length; at += LEASES_PER_CALL) {
        await run('release', leases.slice(at, at + LEASES_PER_CALL).flatMap(leaseArguments));
      }
    },
    end: (lease, decision) => end(run, lease, decision),
  };
}

async function present(
  { redis, keys }: StoreContext,
  ids: readonly string[],
): Promise<Map<string, PresentAttempt>> {
  const commands = redis.pipeline();
  for (const id of ids) commands.hmget(keys.experiment(id), 'state', 'attempt', 'cluster');
  const replies = (await runAll(commands)) as [State | null, string | null, string | null][];
  return new Map(
    replies.flatMap(([state, attempt, cluster], at) =>
      state === null ? [] : [[ids[at]!, { state, attempt: Number(attempt ?? 0), cluster: cluster || null }]],
    ),
  );
}

/** The steps of one launch. */
function launches(run: RunScript): Pick<AttemptStore, 'acquire' | 'confirm' | 'settle'> {
  return {
    async acquire({ experiment, dispatcher, leaseMs, token, unreached = [] }) {
      const [outcome, attempt, cluster] = (await run('acquire', [
        ...[experiment, dispatcher, leaseMs, token, JSON.stringify(unreached)],
      ])) as [Acquired['outcome'], string, string];
      if (outcome !== 'acquired') return { outcome };
      return { outcome, lease: { experiment, attempt: Number(attempt), token }, cluster };
    },

    async confirm(lease) {
      const state = (await run('confirm', [...leaseArguments(lease), 'launched'])) as State | 'lost';
      if (state === 'lost') throw leaseLost(lease);
      return state;
    },

    async settle(lease) {
      await run('settle', leaseArguments(lease));
    },
  };
}

/** Allocations and leases by their age. */
function counts(context: StoreContext): Pick<AttemptStore, 'allocated' | 'leases'> {
  const { redis, keys } = context;
  return {
    async allocated({ olderThanMs, limit }) {
      const before = (await storeTime(context)) - olderThanMs;
      return await guarded(redis.zrangebyscore(keys.allocated, '-inf', before, 'LIMIT', 0, limit));
    },

    async leases() {
      const now = await storeTime(context);
      const commands = redis.pipeline().zcard(keys.leases).zcount(keys.leases, '-inf', now);
      const [all, expired] = await runAll(commands);
      return { held: Number(all) - Number(expired), expired: Number(expired) };
    },
  };
}

async function end(
  run: RunScript,
  lease: Lease,
  decision: Parameters<AttemptStore['end']>[1],
): ReturnType<AttemptStore['end']> {
  const before = STATES.filter((state) => TRANSITIONS[state].includes(decision.to));
  const [outcome, state] = (await run('end', [
    ...leaseArguments(lease),
    decision.to,
    decision.reason,
    before.join(','),
    (decision.to === 'queued' && decision.attemptsAbove) || 0,
    (decision.to === 'queued' && decision.waitMs) || 0,
    decision.to === 'failed' && decision.quarantined ? '1' : '',
  ])) as ['ok' | 'lost' | 'illegal', State];
  if (outcome === 'lost') throw leaseLost(lease);
  if (outcome === 'illegal') {
    throw new EchelonError(
      'internal',
      `An experiment that is ${state} cannot become ${decision.to}: ${lease.experiment}`,
    );
  }
  return state;
}

async function allocate(
  run: RunScript,
  starts: readonly AllocationInput[],
): ReturnType<AttemptStore['allocate']> {
  if (starts.length === 0) return [];
  const args = starts.flatMap(({ experiment, cluster, nodes, project, abandons, ...versions }) => [
    experiment,
    cluster,
    fromNodes(nodes, project),
    `placed on ${cluster}, ${placeInWords(nodes)}${abandons ? `; ${startsAnew(abandons)}` : ''}`,
    versions.allocationVersion,
    versions.projectVersion ?? '',
  ]);
  return (await run('allocate', [randomUUID(), ...args])) as Allocated[];
}

function startsAnew({ cluster, step }: { cluster: string; step: number }): string {
  return `it starts from its first step, because cluster ${cluster}, which has its checkpoint of step ${step}, was removed`;
}

/** "node a", "nodes a and b"; nodes that run nothing but environments follow: "nodes a and b, environments on c". */
function placeInWords(nodes: readonly AllocatedNode[]): string {
  const names = (some: readonly AllocatedNode[]) => some.map(({ id }) => shortNode(id)).join(' and ');
  const trainers = nodes.filter(({ gpus }, at) => gpus > 0 || at === 0);
  const others = nodes.slice(trainers.length);
  const beside = others.length > 0 ? `, environments on ${names(others)}` : '';
  return `${trainers.length > 1 ? 'nodes' : 'node'} ${names(trainers)}${beside}`;
}

async function renew(run: RunScript, leases: readonly Lease[], leaseMs: number): Promise<Renewal[]> {
  const renewals: Renewal[] = [];
  for (let at = 0; at < leases.length; at += LEASES_PER_CALL) {
    const some = leases.slice(at, at + LEASES_PER_CALL);
    const reply = (await run('renew', [leaseMs, ...some.flatMap(leaseArguments)])) as string[];
    some.forEach((lease, index) => {
      renewals.push({
        lease,
        status: reply[3 * index] === 'held' ? 'held' : 'lost',
        state: (reply[3 * index + 1] || 'failed') as State, // a deleted record had ended
        limitReached: reply[3 * index + 2] || null,
      });
    });
  }
  return renewals;
}

async function takeOver(
  run: RunScript,
  { dispatcher, leaseMs, limit, suspects = false, unreached = [] }: Parameters<AttemptStore['takeOver']>[0],
): Promise<TakenOver[]> {
  const tokens = Array.from({ length: Math.min(limit, LEASES_PER_CALL) }, () => randomUUID());
  const reply = (await run('take-over', [
    leaseMs,
    dispatcher,
    suspects ? 1 : 0,
    QUARANTINE_AFTER,
    JSON.stringify(unreached),
    ...tokens,
  ])) as string[];
  const taken: TakenOver[] = [];
  for (let at = 0; at < reply.length; at += 8) {
    const [experiment, attempt, token, state, cluster, confirmed, last, crashes] = reply.slice(at, at + 8);
    taken.push({
      lease: { experiment: experiment!, attempt: Number(attempt), token: token! },
      state: state as State,
      cluster: cluster!,
      confirmed: confirmed === '1',
      lastSequence: Number(last),
      crashes: JSON.parse(crashes!) as Crash[],
    });
  }
  return taken;
}

/** A lease as arguments of a script: experiment, attempt, token. */
export function leaseArguments(lease: Lease): string[] {
  return [lease.experiment, String(lease.attempt), lease.token];
}

/** EchelonError `lease-lost`: the lease of a write is not the current one. */
export function leaseLost(lease: Lease): EchelonError {
  return new EchelonError(
    'lease-lost',
    `Attempt ${lease.attempt} of ${lease.experiment} is over or leased to another dispatcher`,
  );
}
