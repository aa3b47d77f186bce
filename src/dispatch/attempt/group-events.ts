import type { NumberedEvent } from '../../core/events.ts';

/** The limits that close a group of events; the first one that is reached counts. */
interface GroupLimits {
  events: number;
  bytes: number;
  /** Time since its first event. */
  waitMs: number;
}

/** The limits of one append: one round trip for many small events, and short enough not to block Redis. */
const APPEND_LIMITS: GroupLimits = { events: 256, bytes: 1024 * 1024, waitMs: 20 };

function sizeOf(numbered: NumberedEvent): number {
  const { event, data } = numbered;
  if (data) return data.length;
  if (event.type === 'evaluation') return event.games.length * 128;
  // Other events have a few hundred bytes.
  return event.type === 'log' ? event.lines.reduce((sum, line) => sum + line.length, 64) : 256;
}

/**
 * Groups events in their order. A group is yielded when it is full, when its first event has waited for `waitMs`, or when
 * it contains the attempt's `ended` event. While the consumer handles a group, at most one more event is taken from the
 * source. It ends with the source. An error of the source is thrown after the events that came before it.
 */
export async function* groupEvents(
  source: AsyncIterable<NumberedEvent>,
  limits: GroupLimits = APPEND_LIMITS,
): AsyncGenerator<NumberedEvent[], void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  let pending: Promise<Taken> | undefined;
  try {
    for (;;) {
      pending ??= take(iterator);
      const first = await pending;
      pending = undefined;
      if ('error' in first) throw first.error;
      if (first.done) return;
      const group = [first.value];
      let bytes = sizeOf(first.value);
      // Not an AbortController: its error costs more than the rest of a group of one event.
      const { promise: late, resolve: isLate } = Promise.withResolvers<undefined>();
      const timer = setTimeout(isLate, limits.waitMs, undefined);
      let end: Taken | undefined;
      while (group.length < limits.events && bytes < limits.bytes && group.at(-1)?.event.type !== 'ended') {
        pending ??= take(iterator);
        const taken = await Promise.race([pending, late]);
        if (taken === undefined) break;
        pending = undefined;
        if ('error' in taken || taken.done) {
          end = taken;
          break;
        }
        group.push(taken.value);
        bytes += sizeOf(taken.value);
      }
      clearTimeout(timer);
      yield group;
      if (end && 'error' in end) throw end.error;
      if (end) return;
    }
  } finally {
    // A pending take would make return() wait for the next event; the source's own signal ends it.
    void iterator.return?.().catch(() => {});
  }
}

type Taken = { done: false; value: NumberedEvent } | { done: true } | { error: unknown };

async function take(iterator: AsyncIterator<NumberedEvent>): Promise<Taken> {
  try {
    const result = await iterator.next();
    return result.done ? { done: true } : { done: false, value: result.value };
  } catch (error) {
    return { error };
  }
}
