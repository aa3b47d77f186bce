import type { Ended } from '../../core/events.ts';
import { QUARANTINE_AFTER } from '../../core/states.ts';
import type { Crash } from '../../store/attempts/limits-contract.ts';
import { createBackoff } from './backoff.ts';
import { lostAttempt } from './decide.ts';
import { giveUp } from './stopping.ts';
import { insist, Left, type Story } from './story.ts';

/** Why an experiment is in quarantine, and what its attempt must be spared. */
export interface Quarantine {
  /** In words, with the evidence. */
  reason: string;
  /** Taking the attempt over ended dispatchers: its events are not read any more. */
  unreadable: boolean;
}

/** What an attempt is charged with; null: not enough for quarantine. */
export function quarantineOf(crashes: readonly Crash[]): Quarantine | null {
  const launches = crashes.filter(({ during }) => during === 'launch');
  const takeovers = crashes.filter(({ during }) => during === 'takeover');
  const unreadable = takeovers.length >= QUARANTINE_AFTER;
  if (!unreadable && launches.length < QUARANTINE_AFTER) return null;
  const charged = unreadable ? takeovers : launches;
  const evidence = charged.map(({ at, attempt, dispatcher, during }) => {
    const what = during === 'launch' ? 'launched' : 'took over';
    return `dispatcher ${dispatcher} was lost as it ${what} attempt ${attempt} (${new Date(at).toISOString()})`;
  });
  const unread = unreadable ? '; its events since then were not read' : '';
  return {
    reason: `quarantined after ${charged.length} crashes: ${evidence.join('; ')}${unread}`,
    unreadable,
  };
}

/**
 * Waits for the end of an attempt without reading its events, and without stopping its driver. Returns how the driver
 * ended.
 */
export async function awaitEnd(story: Story, signal: AbortSignal): Promise<Ended> {
  const { experiment, attempt } = story.lease;
  const everyMs = story.deps.retry.longestMs;
  const pause = createBackoff({ firstMs: everyMs, longestMs: everyMs });
  while (!signal.aborted) {
    const list = async () => await (await story.deps.rayWorkerOf(story.cluster)).list(experiment, signal);
    const attempts = await insist(story, 'ask for the end of the attempt', list, signal);
    const known = attempts.find((item) => item.attempt === attempt && !item.tombstone);
    if (!known) return await giveUp(story, lostAttempt('the ray-worker does not know the attempt'));
    if (known.ended) return known.ended;
    await pause.wait(signal);
  }
  throw new Left();
}
