import { setTimeout as delay } from 'node:timers/promises';
import { type Connection, type FeedMessage, follow } from 'echelon-client';
import type { StreamEntry } from '../../src/core/events.ts';
import { DEFAULT_PROJECT } from '../../src/schemas/project.ts';
import { between } from './faults/fault.ts';

const POLL_MS = 100;

/** What a follower of the project's feed received, from the first entry on, over all its connections. */
export interface FollowedFeed {
  readonly received: readonly FeedMessage[];
  /** Resolves when it has received the entry of this number; `signal` ends the wait. */
  reaches(number: number, signal: AbortSignal): Promise<void>;
}

/** Follows the feed until `signal` aborts, and connects again after the last entry every few seconds. */
export function followFeed(
  client: Connection,
  { random, signal }: { random: () => number; signal: AbortSignal },
): FollowedFeed {
  const received: FeedMessage[] = [];
  const path = { name: DEFAULT_PROJECT };
  const open = (headers: Record<string, string>, ends: AbortSignal) =>
    client.open('/v1/projects/{name}/events', { path, headers, signal: ends });

  async function connectAgain(): Promise<void> {
    while (!signal.aborted) {
      const pause = AbortSignal.timeout(between(random, 500, 5_500));
      const options = {
        signal: AbortSignal.any([pause, signal]),
        patienceMs: 300_000,
        pauseMs: 100,
        after: received.at(-1)?.id ?? '0',
      };
      for await (const { data } of follow<FeedMessage>(open, options)) received.push(data);
    }
  }
  void connectAgain();
  return {
    received,
    async reaches(number, over) {
      while (!over.aborted && Number(received.at(-1)?.id ?? 0) < number) await delay(POLL_MS);
    },
  };
}

/** A feed has the numbers from 1 on, and each state of the experiments' own streams once and in their order. */
export function violationsOfFeed(
  received: readonly FeedMessage[],
  streams: ReadonlyMap<string, readonly StreamEntry[]>,
): string[] {
  const gap = received.findIndex(({ id }, index) => Number(id) !== index + 1);
  const states = received.flatMap(({ experiment, event }) =>
    event.type === 'state'
      ? [{ experiment: experiment ?? '', to: (event as unknown as { to: string }).to }]
      : [],
  );
  return [
    ...(gap < 0 ? [] : [`entry ${received[gap]!.id} of the feed stands at ${gap + 1}`]),
    ...violationsOfStates(states, streams),
  ];
}

/** The states of each experiment are those of its own stream, once and in their order. */
export function violationsOfStates(
  told: readonly { experiment: string; to: string }[],
  streams: ReadonlyMap<string, readonly StreamEntry[]>,
): string[] {
  const states = Map.groupBy(told, ({ experiment }) => experiment);
  const differ = [...streams].flatMap(([id, entries]) => {
    const own = entries.flatMap(({ event }) => (event.type === 'state' ? [event.to] : []));
    const known = (states.get(id) ?? []).map(({ to }) => to);
    return own.join() === known.join() ? [] : [`${id}: its states are ${own}, told were ${known}`];
  });
  return [
    ...[...states.keys()].filter((id) => !streams.has(id)).map((id) => `told are states of ${id}`),
    ...differ,
  ];
}
