import { QUARANTINE_AFTER } from '../core/states.ts';
import { notStarted } from './decide.ts';
import { giveUp } from './stopping.ts';
import { insist, Left, Poison, type Story } from './story.ts';

/**
 * After a launch without an answer: waits for the ray-worker, and notes whether it is another process than after the last
 * one. Throws {@link Poison} where it was so again and again; that may be this launch's doing.
 */
export async function watchRestarts(story: Story, seen: Set<number>, given: AbortSignal): Promise<void> {
  const { experiment, attempt } = story.lease;
  const signal = AbortSignal.any([given, story.left]);
  const reach = async () => await (await story.deps.rayWorkerOf(story.cluster)).describe(signal);
  const answer = await insist(story, 'reach the ray-worker', reach, signal).catch((error) => {
    if (error instanceof Left) return null;
    throw error;
  });
  if (answer === null || answer.startedAt === 0) return;
  seen.add(answer.startedAt);
  if (seen.size <= QUARANTINE_AFTER) return;
  const message = `quarantined after ${QUARANTINE_AFTER} crashes: the ray-worker of ${story.cluster} was lost at each launch of attempt ${attempt}`;
  story.deps.log.error({ experiment, attempt }, message);
  await giveUp(story, notStarted(message));
  throw new Poison(message);
}
