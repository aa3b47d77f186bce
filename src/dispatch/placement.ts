import type { Start } from '../queue/choose.ts';
import type { Line } from '../queue/line.ts';
import type { Lease } from '../store/lease-store.ts';
import type { Store } from '../store/store.ts';
import type { Log } from './log.ts';
import { createLoop } from './loop.ts';
import { createLook, type Look } from './placement-look.ts';
import { createNotes } from './placement-notes.ts';

/*
 * What always holds: a claim is made only for an experiment that the choice, over what the store said in the same
 * round, starts now; the store refuses it where somebody else changed a reservation in between.
 */

/** What became of a request. `gone`: it does not wait any more. `wait`: it is not its turn, or there is no room. */
export type Placed = 'claimed' | 'gone' | 'wait';

/** Places waiting experiments, one round of choice and claims at a time. */
export interface Placement {
  start(): void;
  /** Asks for an experiment whose job is in our hands; answered by the next round. */
  request(experiment: string): Promise<Placed>;
  /** The line or the capacity changed. */
  poke(): void;
  stop(): Promise<void>;
}

/** See {@link Placement}. `onClaimed` gets each new lease at once; `everyMs` is the time between rounds without a poke. */
export function createPlacement(deps: {
  store: Store;
  line: Pick<Line, 'ensure'>;
  dispatcher: string;
  leaseMs: number;
  staleMs: number;
  everyMs: number;
  now: () => number;
  log: Log;
  onClaimed: (lease: Lease, start: Start) => void;
}): Placement {
  const { store, line, log } = deps;
  const requests = new Map<string, ((placed: Placed) => void)[]>();
  /** Since when a start has an active job that is not in our hands: its BullMQ worker may have died. */
  const elsewhere = new Map<string, number>();
  let stopped = false;
  const look = createLook({ store, now: deps.now, staleMs: deps.staleMs });
  const note = createNotes({ store, now: deps.now });

  function answer(experiment: string, placed: Placed): void {
    for (const resolve of requests.get(experiment) ?? []) resolve(placed);
    requests.delete(experiment);
  }

  /** Whether its job has been in hands that do nothing for too long; wakes or adds a job that nobody has. */
  async function isForsaken({ experiment }: Start, priority: number): Promise<boolean> {
    if ((await line.ensure(experiment, priority)) === 'ready') {
      elsewhere.delete(experiment);
      return false;
    }
    const since = elsewhere.get(experiment) ?? deps.now();
    elsewhere.set(experiment, since);
    return deps.now() - since >= deps.leaseMs;
  }

  /** False where somebody changed what its cluster or project holds since that was read, or paused it. */
  async function claim(start: Start, { waiting, versions, projectVersions }: Look): Promise<boolean> {
    const { experiment, cluster } = start;
    const version = versions.get(cluster) ?? 0;
    const { dispatcher, leaseMs } = deps;
    const project = waiting.find((item) => item.experiment === experiment)!.project;
    const projectVersion = projectVersions.get(project);
    const claimed = await store.claim({
      ...{ ...start, reservationVersion: version, dispatcher, leaseMs, project },
      ...(projectVersion !== undefined && { projectVersion }),
    });
    if (claimed.outcome === 'changed') return false;
    elsewhere.delete(experiment);
    if (claimed.outcome === 'claimed') {
      versions.set(cluster, version + 1);
      if (projectVersion !== undefined) projectVersions.set(project, projectVersion + 1);
      deps.onClaimed(claimed.lease, start);
      answer(experiment, 'claimed');
    } else answer(experiment, 'gone');
    return true;
  }

  /** Claims what is in our hands, then sees to it that the others come into somebody's. True: look again. */
  async function claimAll(seen: Look): Promise<boolean> {
    const { waiting, choice } = seen;
    const priorities = new Map(waiting.map((item) => [item.experiment, item.priority]));
    let again = false;
    const others: Start[] = [];
    for (const start of choice.start) {
      if (stopped) return false;
      if (!requests.has(start.experiment)) others.push(start);
      else if (!(await claim(start, seen))) again = true;
    }
    for (const start of others) {
      if (stopped) return false;
      if (requests.has(start.experiment)) again = true;
      else if (await isForsaken(start, priorities.get(start.experiment) ?? 0))
        again = !(await claim(start, seen)) || again;
    }
    return again;
  }

  async function answerOthers(asked: string[], { choice, waiting }: Look): Promise<void> {
    const starting = new Set(choice.start.map((start) => start.experiment));
    const inLine = new Set(waiting.map((item) => item.experiment));
    const others = asked.filter((experiment) => !starting.has(experiment) && requests.has(experiment));
    await Promise.all(
      others.map(async (experiment) => {
        const waits = inLine.has(experiment) || (await store.position(experiment)).rank !== null;
        answer(experiment, waits ? 'wait' : 'gone');
      }),
    );
  }

  async function round(): Promise<void> {
    const asked = [...requests.keys()];
    try {
      const seen = await look();
      const again = await claimAll(seen);
      await answerOthers(asked, seen);
      await note(seen);
      if (again) loop.poke();
    } catch (error) {
      // Parked, they are asked for again; a job must not be held while the store is away.
      for (const experiment of asked) answer(experiment, 'wait');
      throw error;
    }
  }

  const loop = createLoop({ name: 'placement', everyMs: deps.everyMs, run: round, log });
  return {
    start: loop.start,
    poke: loop.poke,
    request(experiment) {
      if (stopped) return Promise.resolve('wait');
      const { promise, resolve } = Promise.withResolvers<Placed>();
      requests.set(experiment, [...(requests.get(experiment) ?? []), resolve]);
      loop.poke();
      return promise;
    },
    async stop() {
      stopped = true;
      await loop.stop();
      for (const experiment of [...requests.keys()]) answer(experiment, 'wait');
    },
  };
}
