import type { Ended, NumberedEvent } from '../../src/core/events.ts';
import type { LaunchPlan, StoredCheckpoint } from '../../src/core/launch-plan.ts';
import type { State } from '../../src/core/states.ts';
import {
  type AttemptEntry,
  type AttemptServices,
  createLaunches,
} from '../../src/dispatch/attempt/context.ts';
import { lostAttempt } from '../../src/dispatch/attempt/decide.ts';
import { type AttemptRun, runAttempt } from '../../src/dispatch/attempt/run-attempt.ts';
import { createSlurm } from '../../src/dispatch/clusters/slurm/commands.ts';
import type { CheckpointStores } from '../../src/engines/checkpoint-stores.ts';
import type { SecretProjects } from '../../src/engines/secret-projects.ts';
import type { AttemptStatus, LaunchOutcome, RayWorkerClient, StopOutcome } from '../../src/rpc/ray-worker.ts';
import { RayWorkerError, type RayWorkerFault } from '../../src/rpc/status.ts';
import type { Secrets } from '../../src/schemas/secrets.ts';
import type { Attempt, EndDecision, Lease } from '../../src/store/attempts/types.ts';
import { compileTestSpec, QUIET, type TestSpec } from './dispatch.ts';

const PLAN: LaunchPlan = {
  engine: 'replay',
  module: 'm',
  arguments: [],
  environment: {},
  gpus: 0,
  cpus: 1,
  gracePeriodMs: 7,
  files: {},
};
/** A driver that ended well. */
export const SUCCEEDED: Ended = { ...lostAttempt(''), cause: 'succeeded' };
/** A driver that was stopped. */
export const STOPPED: Ended = { ...lostAttempt(''), cause: 'stopped' };

/** The store and the ray-worker as one attempt meets them; `calls` is what it did, in order. */
export function attemptBench(entry: Partial<Omit<AttemptEntry, 'lease'>> & { attempt?: number } = {}) {
  const lease: Lease = { experiment: 'exp-a', attempt: entry.attempt ?? 1, token: 't' };
  const calls: string[] = [];
  const state = {
    record: 'launching' as State,
    confirmed: 'running' as State,
    ended: null as Ended | null,
    earlier: [] as Attempt[],
    appended: 0,
    settled: 0,
    decision: null as EndDecision | null,
    appendError: null as Error | null,
    endError: null as Error | null,
    endAnswer: null as State | null,
    known: [] as Pick<AttemptStatus, 'attempt' | 'running'>[] | AttemptStatus[],
    startedAt: () => 1,
    clusterEnv: undefined as Record<string, string> | undefined,
    specVersions: undefined as number[] | undefined,
    secretProjects: null as SecretProjects,
    checkpointStores: {} as CheckpointStores,
    storedCheckpoints: [] as StoredCheckpoint[],
    spec: {} as { project?: string; secrets?: Secrets; checkpointStore?: { url: string } },
    launch: async (_plan: LaunchPlan): Promise<LaunchOutcome> => ({ outcome: 'started' }),
    stop: async (): Promise<StopOutcome> => ({ dropped: true, ended: null }),
    events: async function* (_signal: AbortSignal): AsyncGenerator<NumberedEvent> {
      yield { sequence: 1, at: 0, event: SUCCEEDED };
    },
  };
  const store = {
    experiments: {
      async get() {
        const spec: TestSpec = { plan: PLAN, maxAttempts: 3, maxClusterFaults: 20, ...state.spec };
        return { state: state.record, attempt: lease.attempt, resolved: spec };
      },
      storedCheckpoints: async () => state.storedCheckpoints,
    },
    clusters: {
      async list() {
        const { clusterEnv: env, secretProjects, checkpointStores, specVersions } = state;
        return [{ name: 'c', env, secretProjects, checkpointStores, specVersions, rayWorkerVersion: '0.9' }];
      },
    },
    attempts: {
      async list() {
        return [
          ...state.earlier,
          { attempt: lease.attempt, ended: state.ended, lastSequence: state.appended } as Attempt,
        ];
      },
      allocation: async () => [],
      async confirm() {
        calls.push('confirm');
        return state.confirmed;
      },
      async settle() {
        state.settled += 1;
      },
      async end(_: Lease, decision: EndDecision) {
        if (state.endError) throw state.endError;
        calls.push(`end ${decision.to}`);
        state.decision = decision;
        return state.endAnswer ?? decision.to;
      },
    },
    events: {
      async append(_: Lease, events: readonly NumberedEvent[]) {
        if (state.appendError) throw state.appendError;
        state.appended = events.at(-1)?.sequence ?? state.appended;
        calls.push(`append ${state.appended}`);
        return state.appended;
      },
    },
  };
  const client = {
    async launch(_: string, attempt: number, plan: LaunchPlan) {
      calls.push(`launch ${attempt}`);
      return await state.launch(plan);
    },
    attach(_: string, attempt: number, after: number, signal: AbortSignal) {
      calls.push(`attach ${attempt} after ${after}`);
      return state.events(signal);
    },
    async stop(_: string, attempt: number, { gracePeriodMs }: { gracePeriodMs: number }) {
      calls.push(`stop ${attempt} grace ${gracePeriodMs}`);
      return await state.stop();
    },
    async list() {
      return state.known;
    },
    async describe() {
      return { startedAt: state.startedAt() };
    },
  } as unknown as RayWorkerClient;
  const deps: AttemptServices = {
    store: store as unknown as AttemptServices['store'],
    rayWorkerOf: async () => client,
    launches: createLaunches(),
    compile: compileTestSpec,
    log: QUIET,
    hooks: {},
    retry: { firstMs: 1, longestMs: 2 },
    slurm: createSlurm(),
  };
  const whole: AttemptEntry = {
    lease,
    cluster: 'c',
    state: 'launching',
    confirmed: false,
    lastSequence: 0,
    takenOver: false,
    crashes: [],
    ...entry,
  };
  const run = (): AttemptRun => runAttempt(deps, whole);
  return { state, calls, run, deps, entry: whole };
}

/** An answer of the ray-worker with that fault. */
export const fails = (fault: RayWorkerFault) => async () => {
  throw new RayWorkerError(fault, fault);
};

/** Events that never end by themselves. */
export async function* silence(signal: AbortSignal): AsyncGenerator<NumberedEvent> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
