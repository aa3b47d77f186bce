/** An experiment as far as its need for attention depends on it. */
interface Considered {
  state: string;
  stoppedBy: unknown;
  verification: { wrong: number; unverifiable: number; errors: number };
}

/** The experiments that a person should look at, and those that run; each list keeps the order. */
export function attention<T extends Considered>(
  experiments: readonly T[],
): { wrong: T[]; failed: T[]; running: T[] } {
  return {
    wrong: experiments.filter(({ verification: v }) => v.wrong + v.unverifiable + v.errors > 0),
    failed: experiments.filter(({ state, stoppedBy }) => state === 'failed' || stoppedBy !== null),
    running: experiments.filter(({ state }) => ['launching', 'running', 'cancelling'].includes(state)),
  };
}

/** The experiments of all lists, once each, the newest first. */
export function newestOf<T extends { id: string; submittedAt: number }>(...lists: readonly T[][]): T[] {
  const byId = new Map(lists.flat().map((one) => [one.id, one]));
  return [...byId.values()].sort((a, b) => b.submittedAt - a.submittedAt);
}
