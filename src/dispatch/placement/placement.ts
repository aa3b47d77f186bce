import type { Line } from '../../queue/line.ts';
import type { Start } from '../../scheduler/choose.ts';
import type { Lease } from '../../store/attempts/contract.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';
import { createLoop } from '../loop.ts';
import { createLook, type Look } from './placement-look.ts';
import { createNotes } from './placement-notes.ts';

/*
 * What always holds: a claim is made only for an experiment that the choice, over what the store said in the same
 * round, starts now; the store refuses it where somebody else changed a reservation in between.
 *
 * What starts is claimed by whoever sees it first, so that a launch does not wait for its job; that may come later, and
 * finds it begun. Jobs in hand come first, which is how dispatchers share a burst.
 */

/** Starts of one round that are claimed without a job in hand. */
const UNASKED_AT_ONCE = 16;

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

/** What a placement needs. */
interface PlacementDeps {
  store: Store;
  line: Pick<Line, 'leave'>;
  dispatcher: string;
  leaseMs: number;
  /** Time between two rounds without a poke. */
  everyMs: number;
  now: () => number;
  log: Log;
  /** Gets each new lease at once. */
  onClaimed: (lease: Lease, start: Start) => void;
}

/** See {@link Placement}. */
export function createPlacement(deps: PlacementDeps): Placement {
  const { store, now, everyMs, log } = deps;
  const requests = createRequests();
  let stopped = false;
  const look = createLook({ store, now });
  const note = createNotes({ store, now });
  const claims: Claims = { ...deps, requests, stopped: () => stopped };

  /** Whoever asked and does not start now waits, or waits no more. */
  async function answerOthers(asked: string[], { choice, waiting }: Look): Promise<void> {
    const starting = new Set(choice.start.map((start) => start.experiment));
    const inLine = new Set(waiting.map((item) => item.experiment));
    const others = asked.filter((experiment) => !starting.has(experiment) && requests.has(experiment));
    await Promise.all(
      others.map(async (experiment) => {
        const waits = inLine.has(experiment) || (await store.position(experiment)).rank !== null;
        requests.answer(experiment, waits ? 'wait' : 'gone');
      }),
    );
  }

  async function round(): Promise<void> {
    const asked = requests.all();
    try {
      const seen = await look();
      const again = await claimAll(seen, claims);
      await answerOthers(asked, seen);
      await note(seen);
      if (again) loop.poke();
    } catch (error) {
      // Parked, they are asked for again; a job must not be held while the store is away.
      for (const experiment of asked) requests.answer(experiment, 'wait');
      throw error;
    }
  }

  const loop = createLoop({ name: 'placement', everyMs, run: round, log });
  return {
    start: loop.start,
    poke: loop.poke,
    request(experiment) {
      if (stopped) return Promise.resolve('wait');
      const placed = requests.add(experiment);
      loop.poke();
      return placed;
    },
    async stop() {
      stopped = true;
      await loop.stop();
      for (const experiment of requests.all()) requests.answer(experiment, 'wait');
    },
  };
}

/** Who asked for which experiments, until each is answered. */
interface Requests {
  add(experiment: string): Promise<Placed>;
  has(experiment: string): boolean;
  all(): string[];
  answer(experiment: string, placed: Placed): void;
}

function createRequests(): Requests {
  const requests = new Map<string, ((placed: Placed) => void)[]>();
  return {
    add(experiment) {
      const { promise, resolve } = Promise.withResolvers<Placed>();
      requests.set(experiment, [...(requests.get(experiment) ?? []), resolve]);
      return promise;
    },
    has: (experiment) => requests.has(experiment),
    all: () => [...requests.keys()],
    answer(experiment, placed) {
      for (const resolve of requests.get(experiment) ?? []) resolve(placed);
      requests.delete(experiment);
    },
  };
}

interface Claims extends Pick<PlacementDeps, 'store' | 'line' | 'dispatcher' | 'leaseMs' | 'onClaimed'> {
  requests: Requests;
  stopped: () => boolean;
}

/** Claims what is in our hands, and some of the rest, in as few round trips as that takes. True: look again. */
async function claimAll(seen: Look, claims: Claims): Promise<boolean> {
  const { requests, line, stopped } = claims;
  const { start: starts } = seen.choice;
  const inHand = starts.filter(({ experiment }) => requests.has(experiment));
  const others = starts.filter((start) => !inHand.includes(start));
  if (stopped()) return false;
  const outcomes = await Promise.all(inHand.map((start) => claim(start, seen, claims)));
  if (outcomes.includes('busy')) return false;
  if (outcomes.some((outcome) => outcome !== 'claimed')) return true;
  if (stopped()) return false;
  const unasked = others.slice(0, UNASKED_AT_ONCE);
  const found = await Promise.all(unasked.map((start) => claim(start, seen, claims)));
  // A job has nothing more to say where its experiment is claimed.
  for (const [at, outcome] of found.entries())
    if (outcome === 'claimed') void line.leave(unasked[at]!.experiment);
  if (found.includes('gone')) return true;
  // Whoever changed it wakes us, or is at the same starts: then it is left to them.
  return others.length > UNASKED_AT_ONCE && !found.includes('changed') && !found.includes('busy');
}

/**
 * `changed`: somebody changed what its cluster or project holds since that was read, or paused it. `busy`: this
 * dispatcher can claim nothing now; a wake-up follows when it can.
 */
async function claim(
  start: Start,
  { waiting, versions, projectVersions }: Look,
  { store, dispatcher, leaseMs, onClaimed, requests }: Claims,
): Promise<'claimed' | 'gone' | 'changed' | 'busy'> {
  const { experiment, cluster } = start;
  const project = waiting.find((item) => item.experiment === experiment)!.project;
  const answering = store.claim({
    ...{ ...start, reservationVersion: versions.get(cluster) ?? 0, dispatcher, leaseMs, project },
    ...(projectVersions.has(project) && { projectVersion: projectVersions.get(project)! }),
  });
  // For the claim that is sent behind it: where this one is refused, that one is too.
  for (const [map, key] of [[versions, cluster] as const, [projectVersions, project] as const])
    if (map.has(key)) map.set(key, map.get(key)! + 1);
  const claimed = await answering;
  if (claimed.outcome === 'changed' || claimed.outcome === 'busy') return claimed.outcome;
  if (claimed.outcome === 'claimed') onClaimed(claimed.lease, start);
  const outcome = claimed.outcome === 'claimed' ? 'claimed' : 'gone';
  requests.answer(experiment, outcome);
  return outcome;
}
