import { MAX_CHILDREN } from '../../../core/ids.ts';
import type { Store } from '../../../store/store.ts';
import type { Figures, SweepChild, SweepRecord } from '../../../store/sweeps/types.ts';

/** Children read from the store in one call. */
export const PAGE = 500;

/** All children, by index. */
export async function childrenOf(store: Pick<Store, 'sweeps'>, sweep: SweepRecord): Promise<SweepChild[]> {
  const children: SweepChild[] = [];
  for (let from = 0; from < Math.min(sweep.count, MAX_CHILDREN); from += PAGE) {
    children.push(...(await store.sweeps.children(sweep, from, PAGE)));
  }
  return children;
}

/** The figures of experiments, in their order. */
export async function figuresOf(
  store: Pick<Store, 'sweeps'>,
  ids: readonly string[],
  metrics: readonly string[],
) {
  const figures: (Figures | undefined)[] = [];
  for (let at = 0; at < ids.length; at += PAGE)
    figures.push(...(await store.sweeps.figures(ids.slice(at, at + PAGE), metrics)));
  return figures;
}
