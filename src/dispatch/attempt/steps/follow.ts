import { type Backoff, createBackoff } from '../../../core/retry.ts';
import type { RayWorkerClient } from '../../../rpc/ray-worker.ts';
import { type AttemptContext, noteCheckpoint, settle } from '../context.ts';
import { lostAttempt } from '../decide.ts';
import { whyUnfollowable } from '../faults.ts';
import { groupEvents } from '../group-events.ts';
import { type Ending, repeat, YIELDED } from '../step.ts';
import { discard } from './stop.ts';

/** Records the attempt's events until its end, over as many streams as that takes. */
export function follow(context: AttemptContext, signal: AbortSignal): Promise<Ending> {
  const { deps, lease } = context;
  const { experiment, attempt } = lease;
  let after = context.lastSequence;
  let asks = context.takenOver;
  const stream = async (backoff: Backoff): Promise<Ending> => {
    const over = new AbortController();
    try {
      if (asks) {
        // Only the store knows how far it is: an append whose answer was lost may have been recorded.
        const known = (await deps.store.attempts.list(experiment)).find((item) => item.attempt === attempt);
        if (known?.ended) return { kind: 'ended', ended: known.ended };
        after = known?.lastSequence ?? after;
      }
      asks = true;
      const client = await context.rayWorker();
      if (!context.settled) void settleIfQuiet(context, client, after);
      const events = client.attach(experiment, attempt, after, AbortSignal.any([signal, over.signal]));
      return await record(context, events, backoff);
    } catch (error) {
      const reason = whyUnfollowable(error);
      if (reason === null) throw error;
      void settle(context);
      return await discardLost(context, reason);
    } finally {
      over.abort();
    }
  };
  return repeat(context, 'follow the attempt', stream, { signal });
}

/** Waits for the attempt's end without reading its events, because reading them may have ended dispatchers. */
export function awaitEnd(context: AttemptContext, signal: AbortSignal): Promise<Ending> {
  const { experiment, attempt } = context.lease;
  const everyMs = context.deps.retry.longestMs;
  const pause = createBackoff({ firstMs: everyMs, longestMs: everyMs });
  const ask = async (): Promise<Ending> => {
    while (!signal.aborted) {
      const attempts = await (await context.rayWorker()).list(experiment, signal);
      const known = attempts.find((item) => item.attempt === attempt && !item.tombstone);
      if (known?.ended) return { kind: 'ended', ended: known.ended };
      if (!known) return await discardLost(context, 'the ray-worker does not know the attempt');
      await pause.wait(signal);
    }
    return YIELDED;
  };
  return repeat(context, 'ask for the end of the attempt', ask, { signal });
}

function discardLost(context: AttemptContext, reason: string): Promise<Ending> {
  return discard(context, reason, { kind: 'ended', ended: lostAttempt(reason) });
}

/** Settles an attempt that has no events to record: the takeover has nothing more to survive. */
async function settleIfQuiet(context: AttemptContext, client: RayWorkerClient, after: number): Promise<void> {
  const { experiment, attempt } = context.lease;
  const attempts = await client.list(experiment, context.yielded).catch(() => []);
  const known = attempts.find((item) => item.attempt === attempt);
  if (known && known.lastSequence <= after) await settle(context);
}

async function record(
  context: AttemptContext,
  events: ReturnType<RayWorkerClient['attach']>,
  backoff: Backoff,
): Promise<Ending> {
  for await (const group of groupEvents(events)) {
    if (context.leaseLost.signal.aborted) return YIELDED;
    await context.deps.store.events.append(context.lease, group);
    backoff.reset();
    void settle(context);
    if (group.some(({ event }) => event.type === 'checkpoint')) noteCheckpoint(context);
    const last = group.at(-1)?.event;
    if (last?.type === 'ended') return { kind: 'ended', ended: last };
  }
  return YIELDED; // a stream without an end was aborted by us; any other one throws
}
