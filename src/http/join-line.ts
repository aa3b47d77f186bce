import type { RouteDeps } from './server/deps.ts';

/**
 * Gives accepted experiments their jobs, behind the answer. They are on disk already: a job that fails or takes its time
 * is no reason to say otherwise, since the reconciler gives one to everyone who waits without.
 */
export function joinLine(
  { line, log }: Pick<RouteDeps, 'line' | 'log'>,
  places: readonly { experiment: string; priority: number }[],
): void {
  const joining = Promise.all(
    places.map(async ({ experiment, priority }) => line.join(experiment, priority)),
  );
  joining.catch((err: unknown) => {
    const experiments = places.slice(0, 3).map(({ experiment }) => experiment);
    log.warn(
      { err, experiments, of: places.length },
      'no jobs yet for accepted experiments; the reconciler adds them',
    );
  });
}
