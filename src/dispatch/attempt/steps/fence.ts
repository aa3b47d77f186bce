import type { AttemptContext } from '../context.ts';
import { NEXT, repeat, type StepResult } from '../step.ts';

/**
 * Makes sure that no earlier attempt runs or will run. The dispatcher that launched an earlier attempt may have died
 * before it saw the answer, several times in a row. The tombstone covers launches that are still under way; the list
 * finds drivers that have started.
 */
export async function fence(context: AttemptContext): Promise<StepResult> {
  const { experiment, attempt } = context.lease;
  if (attempt === 1 || context.confirmed) return NEXT;
  const options = { gracePeriodMs: 0, reason: `attempt ${attempt} takes its place` };
  return await repeat(context, 'fence earlier attempts', async () => {
    const client = await context.rayWorker();
    if (context.takenOver) await client.stop(experiment, attempt - 1, options, context.yielded);
    for (const known of await client.list(experiment, context.yielded))
      if (known.running && known.attempt < attempt)
        await client.stop(experiment, known.attempt, options, context.yielded);
    return NEXT;
  });
}
