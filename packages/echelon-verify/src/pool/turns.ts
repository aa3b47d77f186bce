/** Who a piece of work is for: places are shared among projects, and in each project among its callers. */
export interface Party {
  readonly project: string;
  readonly caller: string;
}

/** Lets in as many pieces of work as there are places. */
export interface Turns {
  /** Waits for a place. The answer gives it back. Rejects with the signal's reason once it aborts. */
  enter(party: Party, signal?: AbortSignal): Promise<() => void>;
}

interface Entry {
  readonly party: Party;
  readonly admit: (leave: () => void) => void;
}

/**
 * The next place goes to the project with the fewest places, there to the caller with the fewest, and among equals to the
 * one that was served longest ago. If there are two places or more, the last free one is kept for callers that have none:
 * so a caller that keeps the others busy delays no one else.
 */
export function createTurns(places: number): Turns {
  const waiting: Entry[] = [];
  const projects = createShares();
  const callers = createShares();
  let free = places;

  const keyOf = ({ project, caller }: Party): string => JSON.stringify([project, caller]);
  const ranksOf = ({ party }: Entry): number[] => [
    ...projects.rank(party.project),
    ...callers.rank(keyOf(party)),
  ];
  const fits = ({ party }: Entry): boolean =>
    free > 1 || (free === 1 && (places === 1 || callers.held(keyOf(party)) === 0));

  function admitNext(): void {
    for (;;) {
      const next = waiting.filter(fits).toSorted((a, b) => compared(ranksOf(a), ranksOf(b)))[0];
      if (next === undefined) return;
      waiting.splice(waiting.indexOf(next), 1);
      next.admit(hold(next.party));
    }
  }

  function hold(party: Party): () => void {
    free -= 1;
    const back = [projects.take(party.project), callers.take(keyOf(party))];
    return () => {
      free += 1;
      for (const giveBack of back) giveBack();
      admitNext();
    };
  }

  return {
    async enter(party, signal) {
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
    },
  };
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
