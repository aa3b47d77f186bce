import { cutoffsOf, policyOf, RETENTION_STAGES, type RetentionStage } from '../../schemas/retention.ts';
import { isLeapt } from '../../store/clock/judge.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';
import { createLoop, type Loop } from '../loop.ts';
import { archiveEnded, rollLong } from './archiving.ts';
import { type BackgroundWork, forEachExperiment } from './for-each-experiment.ts';
import { type FindRayWorker, forgetExperiments } from './forget-experiments.ts';

/** Experiments in one step. */
const AT_ONCE = 50;
/** Rounds for which the lease of retention lasts, and thus several steps: `RETENTION_LEASE_MS` at a round each 30 s. */
const LEASE_ROUNDS = 20;
/**
 * MAX experiments of a project that one round deletes at a stage: after a wrong policy, or a wrong clock that an operator
 * confirmed, most data is still there when the operator notices.
 */
const MAX_EXPIRED = 500;
/** Sweeps in one step. */
const SWEEPS_AT_ONCE = 200;

/** Expires data by the retention policies of the projects, as long as `held` confirms the lease of retention. */
function createExpiry(
  { store, log, stopped }: BackgroundWork & { store: Store },
  held: () => Promise<boolean>,
): () => Promise<void> {
  async function expire(project: string, stage: RetentionStage, endedBefore: number): Promise<void> {
    let deleted = 0;
    for (let more = true; more && deleted < MAX_EXPIRED && (await held()); ) {
      const ids = await store.retention.due(stage, project, { endedBefore, limit: AT_ONCE });
      const remove = async (id: string) => (await store.retention.expire(stage, id)) !== 'waiting';
      const done = await forEachExperiment({ log, stopped }, ids, 'deleting expired data', remove);
      if (done > 0) log.info({ project, what: stage, experiments: done }, 'retention deleted');
      deleted += done;
      // The experiments that cannot be done now would come first again.
      more = ids.length === AT_ONCE && done === ids.length;
    }
  }

  async function expireSweeps(project: string, endedBefore: number): Promise<void> {
    const limit = SWEEPS_AT_ONCE;
    let cursor: string | null = null;
    let deleted = 0;
    do {
      if (!(await held())) return;
      const step = await store.retention.expireSweeps(project, { endedBefore, limit, cursor });
      if (step.deleted > 0) log.info({ project, what: 'sweeps', sweeps: step.deleted }, 'retention deleted');
      deleted += step.deleted;
      cursor = step.next;
    } while (cursor !== null && deleted < MAX_EXPIRED);
  }

  return async () => {
    if (!(await held())) return;
    const { time: now, correction } = await store.clock.read();
    if (isLeapt(correction)) return;
    for (const { name, retention } of await store.projects.list()) {
      const cutoffs = cutoffsOf(policyOf(retention), now);
      for (const stage of RETENTION_STAGES) {
        const endedBefore = cutoffs[stage];
        if (endedBefore !== null && !stopped()) await expire(name, stage, endedBefore);
      }
      if (cutoffs.records !== null) await expireSweeps(name, cutoffs.records);
    }
    // Last: a file that the archive cannot remove must not prevent records from being deleted.
    while (!stopped() && (await store.retention.collectGarbage(AT_ONCE)) === AT_ONCE && (await held()));
  };
}

/**
 * Every dispatcher moves the streams of finished experiments into the archive, and has ray-workers forget experiments.
 * One dispatcher at a time archives the oldest events of running experiments, and deletes expired data. Each task is a
 * loop of its own with bounded steps: no task waits for another, and a failure for one experiment stops no other.
 */
export function createRetentionLoops(deps: {
  store: Store;
  log: Log;
  rayWorkerOf: FindRayWorker;
  /** The name of this process: one dispatcher at a time applies retention. */
  dispatcher: string;
  everyMs: number;
  /** How long an experiment's stream stays in Redis after its end. */
  archiveAfterMs: number;
}): Loop {
  const { store, log, rayWorkerOf, dispatcher, everyMs, archiveAfterMs } = deps;
  let stopping = false;
  const stopped = () => stopping;
  const held = async () => !stopping && (await store.retention.hold(dispatcher, LEASE_ROUNDS * everyMs));
  const round = { store, log, stopped };
  const loopOf = (name: string, run: () => Promise<void>) => createLoop({ name, everyMs, log, run });
  const loops = [
    // Taken for a short time, so that an experiment that waits for a report or its rules is taken again soon.
    loopOf('archiving', () => archiveEnded(round, { leaseMs: 4 * everyMs, afterMs: archiveAfterMs })),
    loopOf('rolling', async () => {
      if (await held()) await rollLong(round);
    }),
    loopOf('forgetting', () => forgetExperiments({ ...round, rayWorkerOf })),
    loopOf('expiring', createExpiry(round, held)),
  ];
  return {
    start() {
      for (const loop of loops) loop.start();
    },
    poke() {
      for (const loop of loops) loop.poke();
    },
    async stop() {
      stopping = true;
      const ended = Promise.all(loops.map((loop) => loop.stop()));
      // Before the loops have ended: another dispatcher can continue although a call of this one hangs.
      await store.retention.hold(dispatcher, 0).catch((error) => {
        log.warn({ err: error }, 'cannot release the retention lease; it expires by itself');
      });
      await ended;
    },
  };
}
