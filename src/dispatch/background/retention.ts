import { cutoffsOf, policyOf, RETENTION_STAGES, type RetentionStage } from '../../schemas/retention.ts';
import type { Store } from '../../store/store.ts';
import { createLoop, type Loop } from '../loop.ts';
import { archiveEnded, createSeeding, rollLong } from './archiving.ts';
import { each } from './each.ts';
import { type ForgettingDeps, forgetOld } from './forgetting.ts';

/** Experiments that lose something in one step; the lease is held for several of them. */
const AT_ONCE = 50;
const LEASE_MS = 10 * 60_000;
/** Sweeps looked at in one step. */
const SWEEPS_AT_ONCE = 200;

type RetentionNeeds = ForgettingDeps['store'] &
  Pick<Store, 'takeArchiving' | 'archiveStream' | 'longStreams' | 'rollStream' | 'seedArchiving'> &
  Pick<Store, 'holdRetention' | 'due' | 'expire' | 'collectGarbage' | 'expireSweeps'>;

/** What archiving and retention need. */
export interface RetentionDeps extends Omit<ForgettingDeps, 'store' | 'stopped'> {
  store: RetentionNeeds;
  /** Names this process: one at a time applies retention. */
  dispatcher: string;
  everyMs: number;
  /** An experiment's stream stays in Redis for so long after its end. */
  archiveAfterMs: number;
}

/**
 * Moves the streams of finished experiments into the archive, and has ray-workers forget them (every dispatcher does); moves
 * the oldest of what running experiments report there, and deletes what its project does not keep any longer (one
 * dispatcher at a time both). Each is a loop of its own, in bounded steps: none waits for another, and what fails for one
 * experiment stops no other and is tried again.
 */
export function createRetention(deps: RetentionDeps): Loop {
  const { store, log, now, dispatcher, everyMs } = deps;
  let stopping = false;
  const stopped = () => stopping;
  const seed = createSeeding({ store, now, log, stopped });
  const held = async () => !stopping && (await store.holdRetention(dispatcher, LEASE_MS));

  async function expire(project: string, stage: RetentionStage, endedBefore: number): Promise<void> {
    for (let more = true; more && !stopping && (await held()); ) {
      const ids = await store.due(stage, project, { endedBefore, limit: AT_ONCE });
      const remove = async (id: string) => (await store.expire(stage, id)) !== 'waiting';
      const done = await each({ log, stopped }, ids, 'deleting what is not kept', remove);
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

  async function applyPolicies(): Promise<void> {
    for (const { name, retention } of await store.projects()) {
      const cutoffs = cutoffsOf(policyOf(retention), now());
      for (const stage of RETENTION_STAGES) {
        const endedBefore = cutoffs[stage];
        if (endedBefore !== null && !stopping) await expire(name, stage, endedBefore);
      }
      if (cutoffs.records !== null) await expireSweeps(name, cutoffs.records);
    }
  }

  async function expireAll(): Promise<void> {
    if (!(await held())) return;
    await seed();
    await applyPolicies();
    // Last: one that the archive cannot remove keeps no record from going.
    while (!stopping && (await store.collectGarbage(AT_ONCE)) === AT_ONCE && (await held()));
  }

  const round = { store, log, stopped };
  const loops = [
    // Taken for a short time: one that waits for a report or its rules comes back soon.
    loopOf('archiving', () => archiveEnded(round, { leaseMs: 4 * everyMs, afterMs: deps.archiveAfterMs })),
    loopOf('rolling', async () => {
      if (await held()) await rollLong(round);
    }),
    loopOf('forgetting', () => forgetOld({ ...deps, stopped })),
    loopOf('expiring', expireAll),
  ];
  function loopOf(name: string, run: () => Promise<void>): Loop {
    return createLoop({ name, everyMs, log, run });
  }
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
      // Not behind the loops: another dispatcher goes on with it though something of ours hangs.
      await store.holdRetention(dispatcher, 0).catch((error) => {
        log.warn({ err: error }, 'retention could not be let go; another dispatcher goes on later');
      });
      await ended;
    },
  };
}
