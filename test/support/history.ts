import assert from 'node:assert/strict';
import type { Client, ReceivedEvent } from '../../src/cli/client.ts';
import { parseEntryId } from '../../src/core/ids.ts';

/** All events of an ended experiment. */
export function historyOf(client: Client, id: string): Promise<ReceivedEvent[]> {
  return Array.fromAsync(client.events(id, { signal: AbortSignal.timeout(60_000) }));
}

/**
 * Fails unless every attempt's events stand there once, in order, from 1 without a gap, each attempt that started
 * has one `started` event, and all ids rise. Returns the number of events of each attempt.
 */
export function assertWhole(history: ReceivedEvent[]): Map<number, number> {
  const last = new Map<number, number>();
  let before: { attempt: number; low: bigint } | undefined;
  for (const { id, event } of history) {
    const place = parseEntryId(id)!;
    const at = { attempt: place.attempt, low: BigInt(id.split('-')[1]!) };
    if (before)
      assert.ok(
        at.attempt > before.attempt || (at.attempt === before.attempt && at.low > before.low),
        `${id} is out of order`,
      );
    before = at;
    if (!place.fromAttempt || event.type === 'state' || event.type === 'verification') continue;
    assert.equal(place.sequence, (last.get(place.attempt) ?? 0) + 1, `a gap or a repetition before ${id}`);
    last.set(place.attempt, place.sequence);
  }
  for (const attempt of last.keys()) {
    const started = history.filter(
      ({ id, event }) => parseEntryId(id)!.attempt === attempt && event.type === 'started',
    );
    assert.equal(started.length, 1, `attempt ${attempt} started ${started.length} times`);
  }
  return last;
}
