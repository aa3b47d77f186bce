import type { Output } from 'command-kit/output';
import { retryUntil } from '../core/retry.ts';
import { isRefusal, PATIENCE_MS, RETRYING } from './client.ts';

/**
 * A function that makes `request` and retries it while the server does not answer, for a minute after the last answer. One
 * message announces each series of retries. The first request is not retried, and neither is a refusal.
 */
export function retrying<T>(
  request: () => Promise<T>,
  {
    output,
    pauseMs = 1_000,
    patienceMs = PATIENCE_MS,
  }: { output: Output; pauseMs?: number; patienceMs?: number },
): () => Promise<T> {
  let answeredAt: number | undefined;
  return async () => {
    const answer = await retryUntil(request, {
      waits: { firstMs: pauseMs, longestMs: pauseMs },
      shouldRetry(error, tries) {
        const isOver = answeredAt === undefined || Date.now() - answeredAt > patienceMs;
        if (isOver || isRefusal(error)) return false;
        if (tries === 1) output.remark(`${(error as Error).message} ${RETRYING}`);
        return true;
      },
    });
    answeredAt = Date.now();
    return answer;
  };
}
