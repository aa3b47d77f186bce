import type { BatchRecord } from '../../src/store/batches/types.ts';
import type { Store } from '../../src/store/store.ts';

/** All batches of an experiment in order, with their reports. */
export async function allBatches(store: Pick<Store, 'batches'>, experiment: string): Promise<BatchRecord[]> {
  const { items, more } = await store.batches.page(experiment, { limit: 10_000 });
  if (more) throw new Error(`${experiment} has more than 10,000 batches`);
  return items;
}
