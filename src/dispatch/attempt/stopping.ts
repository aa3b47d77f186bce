import type { Ended } from '../../core/events.ts';
import type { LaunchPlan, StopOutcome } from '../../rpc/ray-worker.ts';
import { stopHigher } from './outrun.ts';
import { insist, Left, type Story } from './story.ts';

/** Waits until the driver is to be stopped, then ends it within `gracePeriod`. Null: `signal` came first. */
export async function stopWhenTold(
  story: Story,
  gracePeriod: () => LaunchPlan['gracePeriodMs'],
  signal: AbortSignal,
): Promise<StopOutcome | null> {
  const { experiment, attempt } = story.lease;
  await aborted(AbortSignal.any([signal, story.stopping.signal]));
  if (signal.aborted) {
    if (story.left.aborted) throw new Left();
    return null;
  }
  story.deps.log.info({ experiment, attempt }, 'the attempt is being stopped');
  const reason = story.limitReached ?? 'the experiment was cancelled';
  const options = { gracePeriodMs: gracePeriod(), reason };
  return await insist(
    story,
    'stop the attempt',
    async () => {
      const client = await story.deps.rayWorkerOf(story.cluster);
      const stop = await client.stop(experiment, attempt, options, signal);
      await stopHigher(story, options, signal);
      return stop;
    },
    signal,
  );
}

/** Sees to it that the attempt does not run and never will, although nothing more can be learned of it. */
export async function giveUp(story: Story, ended: Ended): Promise<Ended> {
  const { experiment, attempt } = story.lease;
  await insist(story, 'stop an attempt that cannot be followed', async () => {
    const client = await story.deps.rayWorkerOf(story.cluster);
    await client.stop(experiment, attempt, { gracePeriodMs: 0, reason: ended.message }, story.left);
  });
  return ended;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
