import { setTimeout as delay } from 'node:timers/promises';
import { isRefusal, PATIENCE_MS } from './client.ts';
import type { Output } from './output.ts';

/**
 * `ask`, asked again where a server that has answered before does not, for a minute from its last answer; that is said
 * once for each time. Throws what `ask` throws where nothing was answered yet, and for a refusal.
 */
export function patient<T>(
  ask: () => Promise<T>,
  {
    output,
    pauseMs = 1_000,
    patienceMs = PATIENCE_MS,
  }: { output: Output; pauseMs?: number; patienceMs?: number },
): () => Promise<T> {
  let answeredAt: number | undefined;
  return async () => {
    for (let isCut = false; ; isCut = true) {
      try {
        const answer = await ask();
        answeredAt = Date.now();
        return answer;
      } catch (error) {
        const isOver = answeredAt === undefined || Date.now() - answeredAt > patienceMs;
        if (isOver || isRefusal(error)) throw error;
        if (!isCut) output.remark(`${(error as Error).message} Trying again for a minute.`);
        await delay(pauseMs);
      }
    }
  };
}
