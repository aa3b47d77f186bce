import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet } from './fleet.ts';
import { SPEC } from './load.ts';

/** The steady load: an experiment every `everyMs`, each of which runs for `steps` times `delayMs`. */
export const STEADY = { everyMs: 1_500, steps: 45, delayMs: 1_000, followers: 20 };

/** One of so many experiments is cancelled after some seconds, and one of so many belongs to the retained project. */
const CANCELLED = 10;
const CANCEL_AFTER_MS = 15_000;
const RETAINED = 10;

/** Submits, follows, lists and cancels over HTTP until `stop`, `pace` times as often; `counts` says how much of it was done. */
export function startSteadyLoad(
  { url, tokens }: Pick<Fleet, 'url' | 'tokens'>,
  stop: AbortSignal,
  pace = 1,
): { done: Promise<unknown>; counts: Record<string, number> } {
  const counts = { submitted: 0, cancelled: 0, 'pages read': 0, 'events followed': 0, 'requests failed': 0 };
  const headers = { authorization: `Bearer ${tokens[0]}`, 'content-type': 'application/json' };
  let newest = '';

  /** The answer; undefined if there was none or another status than `wanted`. */
  async function ask(path: string, wanted: number, body?: object): Promise<unknown> {
    const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, { ...init, signal: stop }).catch(() => undefined);
    const answer = await response?.json().catch(() => undefined);
    if (response?.status === wanted) return answer;
    if (!stop.aborted) counts['requests failed'] += 1;
    return undefined;
  }

  async function cancelLater(id: string): Promise<void> {
    await pause(CANCEL_AFTER_MS / pace, undefined, { signal: stop });
    if (await ask(`/v1/experiments/${id}/cancel`, 202, {})) counts.cancelled += 1;
  }

  async function submitAll(): Promise<void> {
    for (let number = 0; !stop.aborted; number += 1) {
      const project = number % RETAINED === 5 ? 'retained' : 'expired';
      const answer = await ask('/v1/experiments', 202, { ...SPEC, project });
      if (answer !== undefined) {
        newest = (answer as { id: string }).id;
        counts.submitted += 1;
        if (number % CANCELLED === 1) void cancelLater(newest).catch(() => {});
      }
      if (await ask('/v1/experiments?limit=50', 200)) counts['pages read'] += 1;
      await pause(STEADY.everyMs / pace, undefined, { signal: stop });
    }
  }

  /** Follows the newest experiment to its end, then the one that is the newest by then. */
  async function followAll(): Promise<void> {
    while (!stop.aborted) {
      await pause(STEADY.everyMs / pace, undefined, { signal: stop });
      if (newest === '') continue;
      const response = await fetch(`${url}/v1/experiments/${newest}/events`, { headers, signal: stop });
      for await (const chunk of response.body ?? [])
        counts['events followed'] += Buffer.from(chunk).toString('latin1').split('\nid: ').length - 1;
    }
  }

  const untilStopped = (work: () => Promise<void>) =>
    work().catch((error: unknown) => {
      if (!stop.aborted) throw error;
    });
  const followers = Array.from({ length: STEADY.followers }, () => untilStopped(followAll));
  return { done: Promise.all([untilStopped(submitAll), ...followers]), counts };
}
