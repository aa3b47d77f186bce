import type { StoreContext } from '../redis/context.ts';

/** Experiments: their records, lists, versions, artifacts and deletion. */
export function createLimits({ run }: StoreContext) {
  return {
    /**
     * Fails experiments whose deadline passed before a dispatcher acquired an attempt of them. Checks at most `limit`;
     * `more`: others may be due.
     */
    async failOverdue(limit: number): Promise<{ failed: string[]; more: boolean }> {
      const [checked, ...failed] = (await run('fail-overdue', [limit])) as [number, ...string[]];
      return { failed, more: checked === limit };
    },
  };
}
