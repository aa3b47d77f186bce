import type { Ended } from '../../core/events.ts';
import type { RayWorkerClient } from '../../rpc/ray-worker.ts';
import { type Backoff, createBackoff } from './backoff.ts';
import { lostAttempt } from './decide.ts';
import { isPassing, whyUnfollowable } from './faults.ts';
import { groupEvents } from './group-events.ts';
import { giveUp } from './stopping.ts';
import { Left, type Story, settle } from './story.ts';

/** Pumps events into the store, over as many streams as it takes. Returns how the driver ended. */
export async function follow(story: Story, signal: AbortSignal): Promise<Ended> {
  const { deps, lease } = story;
  const { experiment, attempt } = lease;
  const backoff = createBackoff(deps.retry);
  let after = story.lastSequence;
  for (let streams = story.takenOver ? 1 : 0; !signal.aborted; streams += 1) {
    const stream = new AbortController();
    try {
      if (streams > 0) {
        // What was recorded is asked for and not remembered: an append whose answer was lost may have counted.
        const known = (await deps.store.attempts(experiment)).find((item) => item.attempt === attempt);
        if (known?.ended) return known.ended;
        after = known?.lastSequence ?? after;
      }
      const client = await deps.rayWorkerOf(story.cluster);
      if (!story.settled) void settleIfQuiet(story, { client, after, signal });
      const events = client.attach(experiment, attempt, after, AbortSignal.any([signal, stream.signal]));
      const ended = await record(story, events, backoff);
      if (ended) return ended;
    } catch (error) {
      void settle(story);
      const lostBecause = whyUnfollowable(error);
      if (lostBecause !== null) return await giveUp(story, lostAttempt(lostBecause));
      if (!isPassing(error)) throw error;
      if (!signal.aborted)
        deps.log.warn({ experiment, attempt, after, err: error }, 'the event stream broke; it is resumed');
    } finally {
      stream.abort();
    }
    await backoff.wait(signal);
  }
  throw new Left();
}

/** Without events to be recorded, nothing more is to be survived. */
async function settleIfQuiet(
  story: Story,
  { client, after, signal }: { client: RayWorkerClient; after: number; signal: AbortSignal },
): Promise<void> {
  const { experiment, attempt } = story.lease;
  const attempts = await client.list(experiment, signal).catch(() => []);
  const known = attempts.find((item) => item.attempt === attempt);
  if (known && known.lastSequence <= after) await settle(story);
}

async function record(
  story: Story,
  events: ReturnType<RayWorkerClient['attach']>,
  backoff: Backoff,
): Promise<Ended | null> {
  for await (const group of groupEvents(events)) {
    if (story.lost.aborted) throw new Left();
    await story.deps.store.append(story.lease, group);
    backoff.reset();
    void settle(story);
    const last = group.at(-1)?.event;
    if (last?.type === 'ended') return last;
  }
  return null;
}
