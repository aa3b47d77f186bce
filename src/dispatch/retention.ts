import type { RayWorkerClient } from '../rpc/ray-worker.ts';
import { RayWorkerError } from '../rpc/status.ts';
import {
  cutoffsOf,
  eventLogDaysOf,
  policyOf,
  RETENTION_STAGES,
  type RetentionStage,
} from '../schemas/retention.ts';
import type { Forgetting } from '../store/retention-store.ts';
import type { Store } from '../store/store.ts';
import type { Log } from './log.ts';
import { createLoop, type Loop } from './loop.ts';

/** Streams archived, and experiments that lose something, in one step; the lease is held for several of them. */
const AT_ONCE = 50;
const LEASE_MS = 10 * 60_000;
/** Sweeps looked at in one step. */
const SWEEPS_AT_ONCE = 200;
/** Experiments looked at in one step for what an earlier version ended. */
const SEEDED_AT_ONCE = 1_000;
/** So often the whole list is walked for those. */
const SEED_MS = 24 * 3600 * 1000;

/**
 * Long enough for a restore of a backup: an attempt that the restored records take for running is then still known where
 * it ran.
 */
const DAY_MS = 24 * 3600 * 1000;
const FORGET_MS = 7 * DAY_MS;
/** Where a project keeps event logs for longer, an experiment is looked at again so often: its policy may change. */
const LOOK_AGAIN_MS = 24 * 3600 * 1000;
/** Of a deleted experiment every attempt is forgotten, wherever it ran. */
const EVERY_ATTEMPT = 2 ** 32 - 1;
const ANSWER_MS = 30_000;

type RetentionNeeds = Pick<
  Store,
  | 'takeArchiving'
  | 'archiveStream'
  | 'longStreams'
  | 'rollStream'
  | 'seedArchiving'
  | 'holdRetention'
  | 'projects'
  | 'due'
  | 'expire'
  | 'collectGarbage'
  | 'expireSweeps'
  | 'takeForgetting'
  | 'forgetLater'
  | 'forgotten'
  | 'clusters'
>;

/** What archiving and retention need. */
export interface RetentionDeps {
  store: RetentionNeeds;
  /** Names this process: one at a time applies retention. */
  dispatcher: string;
  everyMs: number;
  /** An experiment's stream stays in Redis for so long after its end. */
  archiveAfterMs: number;
  /** The ray-worker's own event logs stay for so long after the end; absent: {@link FORGET_MS}. */
  forgetAfterMs?: number;
  rayWorkerOf: (cluster: string) => Promise<Pick<RayWorkerClient, 'forget'>>;
  now: () => number;
  log: Log;
}

/**
 * Moves the streams of finished experiments into the archive (every dispatcher does), the oldest of what those that run
 * report, and deletes what its project does not keep any longer (one dispatcher at a time both). In bounded steps; what fails for one experiment stops no other and is
 * tried again.
 */
export function createRetention(deps: RetentionDeps): Loop {
  const { store, log } = deps;
  let stopping = false;
  let seededAt = Number.NEGATIVE_INFINITY;

  /** Does something for each; one that fails is logged. Returns how many were done. */
  async function each(
    ids: readonly string[],
    what: string,
    work: (id: string) => Promise<boolean>,
  ): Promise<number> {
    let done = 0;
    for (const experiment of ids) {
      if (stopping) break;
      try {
        if (await work(experiment)) done += 1;
      } catch (error) {
        log.warn({ err: error, experiment }, `${what} failed; it is tried again`);
      }
    }
    return done;
  }

  async function archive(): Promise<void> {
    // Short: one that waits for a report or its rules comes back soon, and two that archive one stream do no harm.
    const options = { limit: AT_ONCE, leaseMs: 4 * deps.everyMs, afterMs: deps.archiveAfterMs };
    for (let more = true; more && !stopping; ) {
      const ids = await store.takeArchiving(options);
      await each(ids, 'archiving a stream', async (id) => (await store.archiveStream(id)) === 'archived');
      more = ids.length === AT_ONCE;
    }
  }

  /** What runs keeps only the newest of its stream in Redis, which would fill up else. */
  async function roll(): Promise<void> {
    const ids = await store.longStreams();
    const work = async (id: string) => (await store.rollStream(id)) > 0;
    const done = await each(ids, 'archiving the oldest of a stream', work);
    if (done > 0) log.info({ experiments: done }, 'the oldest of long streams were archived');
  }

  /** True where no cluster that is known keeps anything of it any more. */
  async function forget(id: string, attempts: ReadonlyMap<string, number>): Promise<boolean> {
    for (const [cluster, attempt] of attempts) {
      try {
        const rayWorker = await deps.rayWorkerOf(cluster);
        await rayWorker.forget(id, attempt, AbortSignal.timeout(ANSWER_MS));
      } catch (error) {
        // A ray-worker that does not know the call, or refuses it, will not do it later either.
        if (!(error instanceof RayWorkerError) || error.retry) throw error;
      }
    }
    return true;
  }

  async function forgetOld(): Promise<void> {
    const known = (await store.clusters()).map(({ name }) => name);
    const policies = new Map(
      (await store.projects()).map(({ name, retention }) => [name, eventLogDaysOf(retention)]),
    );
    const isKept = ({ record }: Forgetting) => {
      const days = record === null ? undefined : policies.get(record.project);
      if (record === null || days === undefined) return false;
      if (days !== null && days * DAY_MS <= FORGET_MS) return false;
      return days === null || deps.now() < record.endedAt + days * DAY_MS;
    };
    for (let more = true; more && !stopping; ) {
      const afterMs = deps.forgetAfterMs ?? FORGET_MS;
      const taken = await store.takeForgetting({ limit: AT_ONCE, leaseMs: LEASE_MS, afterMs });
      const later = taken.filter(isKept).map(({ id }) => id);
      await store.forgetLater(later, { laterMs: LOOK_AGAIN_MS, afterMs });
      const due = taken.filter(({ id }) => !later.includes(id));
      const byId = new Map(due.map(({ id, record }) => [id, record?.attempts]));
      await each([...byId.keys()], 'forgetting on the cluster', async (id) => {
        const attempts = byId.get(id) ?? new Map(known.map((name) => [name, EVERY_ATTEMPT]));
        const there = [...attempts].filter(([cluster]) => known.includes(cluster));
        await forget(id, new Map(there));
        await store.forgotten([id]);
        return true;
      });
      more = taken.length === AT_ONCE;
    }
  }

  async function seed(): Promise<void> {
    if (deps.now() - seededAt < SEED_MS) return;
    let cursor: string | null = null;
    do {
      const { added, next } = await store.seedArchiving(cursor, SEEDED_AT_ONCE);
      if (added > 0) log.info({ experiments: added }, 'experiments that ended earlier will be archived');
      cursor = next;
    } while (cursor !== null && !stopping);
    seededAt = deps.now();
  }

  const held = () => store.holdRetention(deps.dispatcher, LEASE_MS);

  async function expire(project: string, stage: RetentionStage, endedBefore: number): Promise<void> {
    for (let more = true; more && !stopping && (await held()); ) {
      const ids = await store.due(stage, project, { endedBefore, limit: AT_ONCE });
      const done = await each(
        ids,
        'deleting what is not kept',
        async (id) => (await store.expire(stage, id)) !== 'waiting',
      );
      if (done > 0) log.info({ project, what: stage, experiments: done }, 'retention deleted');
      // Those that cannot be done now come first again: no further than them.
      more = ids.length === AT_ONCE && done === ids.length;
    }
  }

  async function expireSweeps(project: string, endedBefore: number): Promise<void> {
    let cursor: string | null = null;
    do {
      if (stopping || !(await held())) return;
      const step = await store.expireSweeps(project, { endedBefore, limit: SWEEPS_AT_ONCE, cursor });
      if (step.deleted > 0) log.info({ project, what: 'sweeps', sweeps: step.deleted }, 'retention deleted');
      cursor = step.next;
    } while (cursor !== null);
  }

  const loop = createLoop({
    name: 'retention',
    everyMs: deps.everyMs,
    log,
    async run() {
      await archive();
      if (stopping || !(await held())) return;
      await roll();
      await seed();
      await forgetOld();
      while (!stopping && (await store.collectGarbage(AT_ONCE)) === AT_ONCE && (await held()));
      for (const { name, retention } of await store.projects()) {
        const cutoffs = cutoffsOf(policyOf(retention), deps.now());
        for (const stage of RETENTION_STAGES) {
          const endedBefore = cutoffs[stage];
          if (endedBefore !== null && !stopping) await expire(name, stage, endedBefore);
        }
        if (cutoffs.records !== null) await expireSweeps(name, cutoffs.records);
      }
    },
  });
  return {
    start: loop.start,
    poke: loop.poke,
    async stop() {
      stopping = true;
      await loop.stop();
    },
  };
}
