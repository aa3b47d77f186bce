import { randomUUID } from 'node:crypto';
import { EchelonError } from '../../core/errors.ts';
import { shortNode } from '../../core/ids.ts';
import { QUARANTINE_AFTER, STATES, type State, TRANSITIONS } from '../../core/states.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { RunScript } from '../redis/scripts.ts';
import type { Store } from '../store.ts';
import type { Lease, Renewal, TakenOver } from './contract.ts';
import type { Crash } from './limits-contract.ts';

/** Leases in one atomic step. */
const LEASES_PER_CALL = 100;

/** Claims and leases: who may write for an attempt, from its claim to its end. */
export function createLeases(
  context: StoreContext,
): Pick<Store, 'claim' | 'confirm' | 'settle' | 'renew' | 'takeOver' | 'leases' | 'release' | 'end'> {
  const { run, redis, keys } = context;
  return {
    claim: (input) => claim(run, input),

    async confirm(lease) {
      const state = (await run('confirm', [...leaseArguments(lease), 'launched'])) as State | 'lost';
      if (state === 'lost') throw leaseLost(lease);
      return state;
    },

    async settle(lease) {
      await run('settle', leaseArguments(lease));
    },

    renew: (leases, leaseMs) => renew(run, leases, leaseMs),

    takeOver: (input) => takeOver(run, input),

    async leases() {
      const [seconds] = (await guarded(redis.time())) as [number | string, number | string];
      const commands = redis
        .pipeline()
        .zcard(keys.leases)
        .zcount(keys.leases, '-inf', Number(seconds) * 1000);
      const [all, expired] = await runAll(commands);
      return { held: Number(all) - Number(expired), expired: Number(expired) };
    },

    async release(leases) {
      for (let at = 0; at < leases.length; at += LEASES_PER_CALL) {
        await run('release', leases.slice(at, at + LEASES_PER_CALL).flatMap(leaseArguments));
      }
    },

    async end(lease, decision) {
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
    },
  };
}

async function claim(run: RunScript, input: Parameters<Store['claim']>[0]): ReturnType<Store['claim']> {
  const token = randomUUID();
  const { experiment, cluster, node, gpus, cpus } = input;
  const [outcome, attempt] = (await run('claim', [
    experiment,
    cluster,
    JSON.stringify({ node, gpus, cpus, ...(input.project !== undefined && { project: input.project }) }),
    input.reservationVersion,
    input.dispatcher,
    input.leaseMs,
    token,
    `placed on ${cluster}, node ${shortNode(node)}`,
    input.projectVersion ?? '',
  ])) as ['claimed' | 'not-waiting' | 'changed' | 'busy', string];
  if (outcome !== 'claimed') return { outcome };
  return { outcome, lease: { experiment, attempt: Number(attempt), token } };
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
        state: (reply[3 * index + 1] || 'failed') as State, // a record that is gone ended somehow
        limitReached: reply[3 * index + 2] || null,
      });
    });
  }
  return renewals;
}

async function takeOver(
  run: RunScript,
  { dispatcher, leaseMs, limit, suspects = false }: Parameters<Store['takeOver']>[0],
): Promise<TakenOver[]> {
  const tokens = Array.from({ length: Math.min(limit, LEASES_PER_CALL) }, () => randomUUID());
  const reply = (await run('take-over', [
    leaseMs,
    dispatcher,
    'its dispatcher was lost before the launch was confirmed',
    suspects ? 1 : 0,
    QUARANTINE_AFTER,
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

/** A lease as the scripts take it: experiment, attempt, token. */
export function leaseArguments(lease: Lease): string[] {
  return [lease.experiment, String(lease.attempt), lease.token];
}

/** The refusal of a write whose lease is not the present one. */
export function leaseLost(lease: Lease): EchelonError {
  return new EchelonError(
    'lease-lost',
    `Attempt ${lease.attempt} of ${lease.experiment} is over or held by another dispatcher`,
  );
}
