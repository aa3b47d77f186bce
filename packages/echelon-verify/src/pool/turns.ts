import { createUse } from './use.ts';

/** Who a piece of work is for: places are shared among projects, and in each project among its callers. */
export interface Party {
  readonly project: string;
  readonly caller: string;
}

/** Lets in as many pieces of work as there are places. */
export interface Turns {
  /**
   * Waits for a place. The answer gives it back. Rejects with the signal's reason once it aborts. Work without a party takes
   * any free place.
   */
  enter(party: Party | undefined, signal?: AbortSignal): Promise<() => void>;
}

interface Entry {
  readonly party: Party | undefined;
  readonly admit: (leave: () => void) => void;
}

/**
 * The next place goes to callers that have not used more than their share lately, then to the project with the fewest places,
 * there to the caller with the fewest, and among equals to the one that was served longest ago. If there are two places or more, the
 * last free one is kept for callers that have none and have not used more than their share: so any number of callers whose
 * work takes long, or exceeds its budget, delay no one else after their first turns.
 */
export function createTurns(places: number, now: () => number = () => performance.now()): Turns {
  const waiting: Entry[] = [];
  const projects = createShares();
  const callers = createShares();
  const use = createUse(now);
  let free = places;

  const keyOf = ({ project, caller }: Party): string => JSON.stringify([project, caller]);
  const ranksOf = ({ party }: Entry): number[] =>
    party === undefined
      ? [0, 0, 0, 0, 0]
      : [Number(use.isHeavy(keyOf(party))), ...projects.rank(party.project), ...callers.rank(keyOf(party))];
  const fits = ({ party }: Entry): boolean => {
    if (free > 1 || places === 1 || party === undefined) return free > 0;
    return free === 1 && callers.held(keyOf(party)) === 0 && !use.isHeavy(keyOf(party));
  };

  function admitNext(): void {
    for (;;) {
      const next = waiting.filter(fits).toSorted((a, b) => compared(ranksOf(a), ranksOf(b)))[0];
      if (next === undefined) return;
      waiting.splice(waiting.indexOf(next), 1);
      next.admit(hold(next.party));
    }
  }

  function hold(party: Party | undefined): () => void {
    free -= 1;
    const back =
      party === undefined
        ? []
        : [projects.take(party.project), callers.take(keyOf(party)), use.begin(keyOf(party))];
    return () => {
      free += 1;
      for (const giveBack of back) giveBack();
      admitNext();
    };
  }

  return { enter: (party, signal) => entered(waiting, { party, signal, admitNext }) };
}

/** Adds an entry to those that wait, and waits until it is admitted. */
async function entered(
  waiting: Entry[],
  {
    party,
    signal,
    admitNext,
  }: { party: Party | undefined; signal: AbortSignal | undefined; admitNext: () => void },
): Promise<() => void> {
  signal?.throwIfAborted();
  return await new Promise((resolve, reject) => {
    const entry: Entry = {
      party,
      admit(leave) {
        signal?.removeEventListener('abort', abort);
        resolve(leave);
      },
    };
    const abort = (): void => {
      waiting.splice(waiting.indexOf(entry), 1);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    waiting.push(entry);
    admitNext();
  });
}

/** Counts the places of each name, and remembers the order in which names that have some, or had lately, were served. */
function createShares() {
  const held = new Map<string, number>();
  const served = new Map<string, number>();
  let turn = 0;
  return {
    held: (name: string): number => held.get(name) ?? 0,
    rank: (name: string): [number, number] => [held.get(name) ?? 0, served.get(name) ?? 0],
    take(name: string): () => void {
      held.set(name, (held.get(name) ?? 0) + 1);
      turn += 1;
      served.delete(name);
      served.set(name, turn);
      if (served.size > MAX_REMEMBERED) served.delete(served.keys().next().value!);
      return () => {
        const left = held.get(name)! - 1;
        if (left === 0) held.delete(name);
        else held.set(name, left);
      };
    },
  };
}

/** Names whose last turn is remembered. */
const MAX_REMEMBERED = 1_000;

function compared(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at === -1 ? 0 : a[at]! - b[at]!;
}
