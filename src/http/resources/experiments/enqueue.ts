import type { RouteDeps } from '../../server/deps.ts';

/**
 * Gives accepted experiments their jobs, after the answer. The store has them already: a job that fails or takes its time
 * is no reason to answer otherwise, because the reconciler adds missing jobs.
 */
export function enqueue(
  { queue, log }: Pick<RouteDeps, 'queue' | 'log'>,
  accepted: readonly { experiment: string }[],
): void {
  const ids = accepted.map(({ experiment }) => experiment);
  const adding = (async () => await queue.enqueue(ids))();
  adding.catch((err: unknown) => {
    const experiments = ids.slice(0, 3);
    log.warn(
      { err, experiments, of: ids.length },
      'no jobs yet for accepted experiments; the reconciler adds them',
    );
  });
}

/** Removes the jobs of cancelled experiments, after the answer. A job that stays is completed when its delay ends. */
export function removeJobs(
  { queue, log }: Pick<RouteDeps, 'queue' | 'log'>,
  experiments: readonly string[],
): void {
  const removing = (async () => await queue.remove(experiments))();
  removing.catch((err: unknown) => {
    log.warn({ err, of: experiments.length }, 'jobs of cancelled experiments stay until their delay ends');
  });
}
