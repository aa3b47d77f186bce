/** A queued experiment as far as its line on the screen depends on it. */
interface Queued {
  experiment: string;
  name: string;
  project: string;
  position: number;
  gpus: number;
  cpus: number;
  nodes: number;
  waitReason: string | null;
  estimate: { startAt: number } | null;
}

/** Queued experiments of one sweep or of one name that need the same: one line. */
export interface QueuedGroup<T> {
  name: string;
  first: T;
  count: number;
  /** The earliest estimated start in ms since 1970; null: no start is known. */
  startAt: number | null;
}

/** The queue in lines, in the order of the first experiment of each. Children of a sweep are named `SWEEP: VALUES`. */
export function groupsOf<T extends Queued>(items: readonly T[]): QueuedGroup<T>[] {
  const nameOf = ({ name }: T) => name.split(': ')[0]!;
  const byShape = Map.groupBy(items, (one) =>
    JSON.stringify([nameOf(one), one.project, one.gpus, one.cpus, one.nodes]),
  );
  return [...byShape.values()].map((group) => {
    const first = group[0]!;
    const starts = group.flatMap(({ estimate }) => (estimate === null ? [] : [estimate.startAt]));
    return {
      name: group.length === 1 ? first.name : nameOf(first),
      first,
      count: group.length,
      startAt: starts.length === 0 ? null : Math.min(...starts),
    };
  });
}

/** An allocation as the API lists it: one for each node of an experiment. */
interface Allocated {
  experiment: string;
  gpus: number;
  end: { endAt: number } | null;
}

/** GPUs in use and the expected end of each running experiment. */
export function allocatedOf(
  items: readonly Allocated[],
): Map<string, { gpus: number; endAt: number | null }> {
  const found = new Map<string, { gpus: number; endAt: number | null }>();
  for (const { experiment, gpus, end } of items) {
    const before = found.get(experiment)?.gpus ?? 0;
    found.set(experiment, { gpus: before + gpus, endAt: end?.endAt ?? null });
  }
  return found;
}

/** Ends and wrong signals since a time, in words; undefined: nothing happened. */
export function sinceInWords(
  experiments: readonly { endedAt: number | null; state: string; verification: { signal: string | null } }[],
  since: number,
): string | undefined {
  const ended = experiments.filter(({ endedAt }) => endedAt !== null && endedAt > since);
  if (ended.length === 0) return undefined;
  const failed = ended.filter(({ state }) => state === 'failed').length;
  const wrong = ended.filter(({ verification }) => verification.signal === 'wrong').length;
  return [
    `${ended.length} ended`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(wrong > 0 ? [`${wrong} with a wrong signal`] : []),
  ].join(', ');
}
