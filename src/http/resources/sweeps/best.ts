import type { Sweep } from '../../../schemas/sweep.ts';
import type { Store } from '../../../store/store.ts';
import { childrenOf, figuresOf } from './children.ts';
import { combinationsOf, compareCombination, seedAxes } from './comparison.ts';

/** Children of a sweep for which a list finds the best combination. */
const MAX_JUDGED = 2_000;
/** Sweeps that are judged at the same time. */
const AT_ONCE = 4;
/** Sweeps whose best combination is remembered, and for how long in ms: deleted children change it without a count. */
const MAX_REMEMBERED = 2_000;
const REMEMBERED_MS = 300_000;

type Best = NonNullable<Sweep['best']> | null;

/**
 * Finds the combination of each sweep with the best mean of its metric over seeds; null if there is none or the sweep is
 * long. It is found again when more children have succeeded.
 */
export function createBest(store: Pick<Store, 'sweeps'>) {
  const remembered = new Map<string, { succeeded: number; at: number; best: Best }>();

  async function bestOf({ id, counts: { succeeded } }: Sweep): Promise<Best> {
    if (succeeded === 0) return null;
    const known = remembered.get(id);
    if (known?.succeeded === succeeded && Date.now() - known.at < REMEMBERED_MS) return known.best;
    const one = { succeeded, at: Date.now(), best: await judged(store, id) };
    remembered.delete(id);
    remembered.set(id, one);
    if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!);
    return one.best;
  }

  /** Sets `best` of each sweep. */
  return async (sweeps: readonly Sweep[]): Promise<void> => {
    const left = sweeps.values();
    const judge = async () => {
      for (const sweep of left) sweep.best = await bestOf(sweep);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, judge));
  };
}

async function judged(store: Pick<Store, 'sweeps'>, id: string): Promise<Best> {
  const sweep = await store.sweeps.get(id);
  if (sweep === undefined || sweep.count > MAX_JUDGED) return null;
  const { name, goal } = sweep.metric;
  const children = await childrenOf(store, sweep);
  const ids = children.map(({ experiment }) => experiment);
  const all = await figuresOf(store, ids, [name]);
  const figures = new Map(ids.map((id, at) => [id, all[at]]));
  const combinations = combinationsOf(sweep.axes, children, seedAxes(sweep.axes));
  const means = combinations.flatMap((combination) => {
    const own = combination.children.map(({ experiment }) => figures.get(experiment));
    const mean = compareCombination(combination, own, { metrics: [name], now: 0 }).metrics[name]!.mean;
    return mean === null ? [] : [{ values: combination.values, mean, combinations: combinations.length }];
  });
  const sign = goal === 'max' ? 1 : -1;
  return means.toSorted((a, b) => sign * (b.mean - a.mean))[0] ?? null;
}
