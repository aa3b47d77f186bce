import { randomUUID } from 'node:crypto';
import { shortNode } from 'echelon-client/short-node';
import { EchelonError } from '../../core/errors.ts';
import type { AllocatedNode } from '../../core/launch-plan.ts';
import { QUARANTINE_AFTER, STATES, type State, TRANSITIONS } from '../../core/states.ts';
import { storeTime } from '../clock/clock.ts';
import { fromNodes, gpuTypes, toAllocations } from '../clusters/clusters.ts';
import type { StoreContext } from '../context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import { newestLayout } from '../redis/layouts.ts';
import type { RunScript } from '../redis/scripts.ts';
import { toAttempts } from './record.ts';
import type {
  Acquired,
  Allocated,
  AllocationInput,
  Attempt,
  Crash,
  EndDecision,
  Lease,
  PreemptionInput,
  PresentAttempt,
  Renewal,
  TakenOver,
} from './types.ts';

/** Leases in one atomic step. */
const LEASES_PER_CALL = 100;

/** Attempts, their allocations and leases: from the start of an attempt to its end. */
export function createLeases(context: StoreContext) {
  const { run, redis, keys } = context;
  return {
    /** The attempts of an experiment, the first one first. */
    async list(id: string): Promise<Attempt[]> {
      return toAttempts(await guarded(redis.hgetall(keys.attempts(id))));
    },
    /** The present attempts of experiments by id; one without a record is omitted. */
    present: (ids: readonly string[]) => present(context, ids),
    /**
     * Executes the decisions of a scheduling round in one step: raises the attempt of each experiment, takes it out of the
     * queue and allocates GPUs and CPUs. All versions are compared as they were before this step.
     */
    allocate: (starts: readonly AllocationInput[]) => allocate(context, starts),
    /** What is allocated to the experiment's present attempt; empty: nothing. */
    async allocation(cluster: string, experiment: string): Promise<AllocatedNode[]> {
      const text = await guarded(redis.hget(keys.allocations(cluster), experiment));
      const items = text === null ? [] : toAllocations({ [experiment]: text });
      return items.map(({ node, gpus, cpus }) => ({ id: node, gpus, cpus }));
    },
    /**
     * Preempts running experiments for a queued one, all of them or none. Returns their number; 0: the state has changed since
     * the caller read it.
     */
    preempt: (input: PreemptionInput) => preempt(run, input),
    ...launches(run),
    ...counts(context),
    renew: (leases: readonly Lease[], leaseMs: number) => renew(run, leases, leaseMs),
    /**
     * Takes expired leases. Attempts that a lost dispatcher was launching or taking over are suspects. With `suspects` at
     * most one of them is taken, and only by a dispatcher that has no other attempt unsettled. Until that one is settled,
     * the dispatcher can acquire nothing. A suspect with which a dispatcher is lost alone is charged with the crash.
     */
    takeOver: (input: Parameters<typeof takeOver>[1]) => takeOver(run, input),
    /** Lets leases expire now, so that another dispatcher takes over at once. */
    async release(leases: readonly Lease[]): Promise<void> {
      for (let at = 0; at < leases.length; at += LEASES_PER_CALL) {
        await run('release', leases.slice(at, at + LEASES_PER_CALL).flatMap(leaseArguments));
      }
    },
    /**
     * Ends the attempt: final state or back into the queue; frees lease and allocation. To be called only when the attempt's
     * driver cannot run any more: its exit is recorded, or the attempt is fenced. Returns the recorded state, which is
     * `cancelled` if a cancel came first. With `attemptsAbove` another attempt may still run: the state is then still
     * `cancelling`, and nothing was changed. A repetition throws `lease-lost`.
     */
    end: (lease: Lease, decision: EndDecision) => end(run, lease, decision),
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
function launches(run: RunScript) {
  return {
    /** Takes the lease of an allocated attempt. A repeated call with the same token (a new UUID) finds its own lease. */
    async acquire({
      experiment,
      dispatcher,
      leaseMs,
      token,
      unreached = [],
    }: {
      experiment: string;
      dispatcher: string;
      leaseMs: number;
      token: string;
      /** Clusters that the dispatcher does not reach. Default: none. */
      unreached?: readonly string[];
    }): Promise<Acquired> {
      const [outcome, attempt, cluster] = (await run('acquire', [
        experiment,
        dispatcher,
        leaseMs,
        token,
        JSON.stringify(unreached),
        newestLayout('experiment'),
      ])) as [Acquired['outcome'], string, string];
      if (outcome !== 'acquired') return { outcome };
      return { outcome, lease: { experiment, attempt: Number(attempt), token }, cluster };
    },

    /** Records that Launch was answered; launching → running (a cancelling one stays so). Settles. Returns the state. */
    async confirm(lease: Lease): Promise<State> {
      const state = (await run('confirm', [...leaseArguments(lease), 'launched'])) as State | 'lost';
      if (state === 'lost') throw leaseLost(lease);
      return state;
    },

    /**
     * Records that this dispatcher has survived the launch or takeover of an attempt: the attempt is no suspect. May be
     * repeated; without effect for a lease that is lost.
     */
    async settle(lease: Lease): Promise<void> {
      await run('settle', leaseArguments(lease));
    },
  };
}

/** Allocations and leases by their age. */
function counts(context: StoreContext) {
  const { redis, keys } = context;
  return {
    /** Experiments whose attempt was allocated `olderThanMs` ago or earlier and not acquired since; the oldest first. */
    async allocated({ olderThanMs, limit }: { olderThanMs: number; limit: number }): Promise<string[]> {
      const before = (await storeTime(context)) - olderThanMs;
      return await guarded(redis.zrangebyscore(keys.allocated, '-inf', before, 'LIMIT', 0, limit));
    },

    /** Number of valid leases, and of expired ones that no dispatcher has taken over yet. */
    async leases(): Promise<{ held: number; expired: number }> {
      const now = await storeTime(context);
      const commands = redis.pipeline().zcard(keys.leases).zcount(keys.leases, '-inf', now);
      const [all, expired] = await runAll(commands);
      return { held: Number(all) - Number(expired), expired: Number(expired) };
    },
  };
}

async function end(run: RunScript, lease: Lease, decision: EndDecision): Promise<State> {
  const after = STATES.filter((state) => TRANSITIONS[state].includes(decision.to));
  const ended = {
    ...lease,
    attempt: String(lease.attempt),
    attemptsAbove: 0,
    waitMs: 0,
    waitsFor: '',
    ...decision,
    after: `,${after.join()},`,
    ...(decision.ended && { ended: JSON.stringify(decision.ended) }),
  };
  const reply = await run('end', [JSON.stringify(ended)]);
  const [outcome, state] = reply as ['ok' | 'lost' | 'illegal', State];
  if (outcome === 'lost') throw leaseLost(lease);
  if (outcome === 'illegal') {
    throw new EchelonError(
      'internal',
      `An experiment that is ${state} cannot become ${decision.to}: ${lease.experiment}`,
    );
  }
  return state;
}

async function allocate(context: StoreContext, starts: readonly AllocationInput[]): Promise<Allocated[]> {
  if (starts.length === 0) return [];
  const types = await gpuTypes(context, [...new Set(starts.map(({ cluster }) => cluster))]);
  const args = starts.flatMap(
    ({ experiment, cluster, nodes, project, priorityClass, abandons, ...versions }) => [
      experiment,
      cluster,
      fromNodes(nodes, { project, ...(priorityClass && { priorityClass }) }, types),
      `placed on ${cluster}, ${placeInWords(nodes)}${abandons ? `; ${startsAnew(abandons)}` : ''}`,
      versions.allocationVersion,
      versions.projectVersion ?? '',
    ],
  );
  return (await context.run('allocate', [randomUUID(), ...args])) as Allocated[];
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

async function preempt(run: RunScript, input: PreemptionInput): Promise<number> {
  const { experiment, cluster, allocationVersion, preemptions, withinMs, maxTimes, victims } = input;
  const names = victims.flatMap((victim) => [victim.experiment, victim.attempt]);
  const args = [experiment, cluster, allocationVersion, preemptions, withinMs, maxTimes, ...names];
  return (await run('preempt', args)) as number;
}

async function renew(run: RunScript, leases: readonly Lease[], leaseMs: number): Promise<Renewal[]> {
  const renewals: Renewal[] = [];
  for (let at = 0; at < leases.length; at += LEASES_PER_CALL) {
    const some = leases.slice(at, at + LEASES_PER_CALL);
    const reply = (await run('renew', [leaseMs, ...some.flatMap(leaseArguments)])) as string[];
    some.forEach((lease, index) => {
      const [status, state, limit, remaining, why] = reply.slice(5 * index, 5 * index + 5);
      renewals.push({
        lease,
        status: status === 'held' ? 'held' : 'lost',
        state: (state || 'failed') as State, // a deleted record had ended
        limitReached: limit || null,
        preemption: why ? { remainingMs: Number(remaining), reason: why } : null,
      });
    });
  }
  return renewals;
}

async function takeOver(
  run: RunScript,
  input: {
    dispatcher: string;
    leaseMs: number;
    limit: number;
    /** Default: false. */
    suspects?: boolean;
    /** Clusters that the dispatcher does not reach: their attempts are left to other dispatchers. Default: none. */
    unreached?: readonly string[];
  },
): Promise<TakenOver[]> {
  const { dispatcher, leaseMs, limit, suspects = false, unreached = [] } = input;
  const tokens = Array.from({ length: Math.min(limit, LEASES_PER_CALL) }, () => randomUUID());
  const reply = (await run('take-over', [
    leaseMs,
    dispatcher,
    suspects ? 1 : 0,
    QUARANTINE_AFTER,
    JSON.stringify(unreached),
    newestLayout('experiment'),
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
