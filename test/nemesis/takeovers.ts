import type { LeaseOperation } from '../support/recorded-leases.ts';

/** A dispatcher renews its leases three times in their time to live. */
const RENEWALS = 3;
/** Calls after which a lease has its whole time to live. */
const TAKING: ReadonlySet<LeaseOperation['call']> = new Set(['acquire', 'takeOver', 'renew']);

/**
 * Takeovers that no fault explains, in words: over the whole time of a lease, its dispatcher got prompt answers from the store
 * and did not try to renew the lease. A dispatcher that is lost, frozen or cut off from Redis gets none.
 */
export function takeoversWithoutCause(
  byExperiment: ReadonlyMap<string, readonly LeaseOperation[]>,
  { leaseMs }: { leaseMs: number },
): string[] {
  const answered = [...byExperiment.values()].flat().filter(({ outcome }) => outcome !== 'unknown');
  const byProcess = Map.groupBy(answered, ({ process }) => process);
  const pauseMs = leaseMs / RENEWALS;

  /** Whether the process started and finished an operation in each third of the time before `end`. */
  const lived = (process: string, end: number) =>
    Array.from({ length: RENEWALS }, (_, index) => end - (index + 1) * pauseMs).every((from) =>
      byProcess.get(process)?.some((one) => one.start >= from && one.end <= from + pauseMs),
    );

  return [...byExperiment].flatMap(([experiment, operations]) => {
    const sorted = operations.filter(({ outcome }) => outcome === 'ok').sort((a, b) => a.start - b.start);
    return sorted.flatMap((takeover, index) => {
      if (takeover.call !== 'takeOver') return [];
      const before = sorted.slice(0, index);
      const last = before.findLast(({ call }) => TAKING.has(call) && call !== 'renew');
      const tries = operations
        .filter(
          ({ call, token, start }) => token === last?.token && TAKING.has(call) && start < takeover.start,
        )
        .toSorted((x, y) => x.start - y.start);
      // A fault may lose the renewal or its answer, or delay it beyond the lease: the dispatcher then gives the attempt up.
      const latest = tries.at(-1);
      const renewed = latest?.outcome !== 'ok' || latest.end > takeover.start - leaseMs;
      // It leaves attempts of clusters that it cannot reach, and those of its end. A fault may lose the answer of that.
      const left = operations.some(
        ({ call, token, start }) => call === 'release' && token === last?.token && start < takeover.start,
      );
      const explained = renewed || left;
      if (!last || explained || !lived(last.process, takeover.start)) return [];
      return [
        `${experiment} was taken over from ${last.process}, which was alive and did not renew its lease`,
      ];
    });
  });
}
