import type { ExperimentStore } from '../experiments/contract.ts';
import type { StoreContext } from '../redis/context.ts';

/** See {@link ExperimentStore}. */
export function createLimits({ run }: StoreContext): Pick<ExperimentStore, 'failOverdue'> {
  return {
    async failOverdue(limit) {
      const [checked, ...failed] = (await run('fail-overdue', [limit])) as [number, ...string[]];
      return { failed, more: checked === limit };
    },
  };
}
