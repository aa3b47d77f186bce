import { QUARANTINE_AFTER } from '../../core/states.ts';
import { notStarted } from './decide.ts';
import { giveUp } from './stopping.ts';
import { insist, Left, Poison, type Story } from './story.ts';

/** What is known of the ray-worker's processes between the tries of one launch. */
export interface Restarts {
  /** When the process that answered last was started; 0: none has answered yet. */
  startedAt: number;
  /** Processes that were lost while the launch was the only one under way on the cluster. */
  charged: number;
}

/**
 * After a launch without an answer: waits for the ray-worker and notes whether it is another process than after the
 * try before. With `alone`, the lost process is charged to the launch. Throws {@link Poison} at QUARANTINE_AFTER charges.
 */
export async function watchRestarts(
  story: Story,
  restarts: Restarts,
  { given, alone }: { given: AbortSignal; alone: boolean },
): Promise<void> {
  const { experiment, attempt } = story.lease;
  const signal = AbortSignal.any([given, story.left]);
  const reach = async () => await (await story.deps.rayWorkerOf(story.cluster)).describe(signal);
  const answer = await insist(story, 'reach the ray-worker', reach, signal).catch((error) => {
    if (error instanceof Left) return null;
    throw error;
  });
  if (answer === null || answer.startedAt === 0) return;
  const lost = restarts.startedAt !== 0 && restarts.startedAt !== answer.startedAt;
  restarts.startedAt = answer.startedAt;
  if (lost && alone) restarts.charged += 1;
  if (restarts.charged < QUARANTINE_AFTER) return;
  const message = `quarantined after ${QUARANTINE_AFTER} crashes: the ray-worker of ${story.cluster} was lost at each launch of attempt ${attempt}`;
  story.deps.log.error({ experiment, attempt }, message);
  await giveUp(story, notStarted(message));
  throw new Poison(message);
}
