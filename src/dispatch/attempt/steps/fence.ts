import type { AttemptContext } from '../context.ts';
import { NEXT, repeat, type StepResult } from '../step.ts';

/**
 * Makes sure that no earlier attempt runs. The store has the end of every earlier attempt, but a store that was restored
 * from a backup, or an earlier version that gave an unconfirmed attempt up, may have been wrong. The launch itself fences
 * the launches of earlier attempts that are still under way.
 */
export async function fence(context: AttemptContext): Promise<StepResult> {
  const { experiment, attempt } = context.lease;
  if (attempt === 1 || context.confirmed) return NEXT;
  const options = { gracePeriodMs: 0, reason: `attempt ${attempt} takes its place` };
  return await repeat(context, 'fence earlier attempts', async () => {
    const client = await context.rayWorker();
    for (const known of await client.list(experiment, context.yielded))
      if (known.running && known.attempt < attempt)
        await client.stop(experiment, known.attempt, options, context.yielded);
    return NEXT;
  });
}
