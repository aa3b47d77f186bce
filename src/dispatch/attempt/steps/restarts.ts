import type { AttemptContext } from '../context.ts';
import type { LaunchUnderWay } from '../launches.ts';

/**
 * Counts the ray-worker processes that were lost during the launches of one attempt. The returned function is to be
 * called after a launch without an answer. It waits for the ray-worker; a lost process counts if the launch was alone.
 */
export function createRestarts(
  context: AttemptContext,
  signal: AbortSignal,
): (unanswered: LaunchUnderWay) => Promise<number> {
  let lastStart = 0;
  let lost = 0;
  return async (unanswered) => {
    const client = await context.rayWorker();
    const { startedAt } = await client.describe(AbortSignal.any([signal, context.yielded]));
    if (startedAt === 0) return lost; // a ray-worker that does not report its start
    if (lastStart !== 0 && lastStart !== startedAt && unanswered.isAlone()) lost += 1;
    lastStart = startedAt;
    return lost;
  };
}
