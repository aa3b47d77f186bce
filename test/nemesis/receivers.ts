/** Receivers of notifications that fail, are slow, die and come back, and what each of them received. */
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'echelon-client';
import type { StreamEntry } from '../../src/core/events.ts';
import { settledWithin } from '../../src/core/settled-within.ts';
import { type Received, type Receiver, receiverFor } from '../support/notifications.ts';
import { between } from './faults/fault.ts';
import { violationsOfStates } from './feed.ts';
import { retry } from './users.ts';
import type { World } from './world.ts';

const TIMEOUT_MS = 6_000;
const POLL_MS = 100;

/** What a receiver answered 2xx, in order, repetitions included. */
export interface Notified {
  readonly subscription: string;
  readonly received: readonly Received[];
}

/** Receivers of every state of every experiment of the project. */
export interface Receivers {
  readonly notified: readonly Notified[];
  readonly operations: ReadonlyMap<string, number>;
  /** Lets every receiver answer well from now on; resolves when nothing is pending. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts them, and subscribes each. To be called before the first experiment is submitted. */
export async function startReceivers(
  { bench: { store }, api }: Pick<World, 'bench' | 'api'>,
  random: () => number,
): Promise<Receivers> {
  const client = connect({ ...api, timeoutMs: TIMEOUT_MS });
  const releases: (() => Promise<void>)[] = [];
  const scope = { after: (release: () => Promise<void>) => void releases.push(release) };
  const operations = new Map<string, number>();
  const over = new AbortController();
  let calm = false;
  const strikes = (what: string, share: number) => {
    if (calm || random() >= share) return false;
    operations.set(what, (operations.get(what) ?? 0) + 1);
    return true;
  };
  const quick = await receiverFor(scope);
  const failing = await receiverFor(scope, async () => {
    if (strikes('receivers: answer late', 0.05)) await delay(between(random, 200, 1_500));
    if (strikes('receivers: answer 429 with Retry-After', 0.05))
      return { status: 429, headers: { 'retry-after': '1' } };
    return strikes('receivers: answer 500', 0.05) ? 500 : 200;
  });
  const leaving = await receiverFor(scope, () => (strikes('receivers: answer 410', 0.01) ? 410 : 200));
  const dying = await receiverFor(scope);
  const notified = await Promise.all([quick, failing, leaving, dying].map(subscribe));

  async function subscribe({ url, received }: Receiver): Promise<Notified> {
    const target = { kind: 'webhook' as const, url, secret: 'hook' };
    const body = { events: ['state' as const], target };
    const headers = { 'idempotency-key': url };
    const ask = () => client.post('/v1/subscriptions', { headers, body, signal: over.signal });
    return { subscription: (await retry(ask, over.signal)).id, received };
  }

  /** Enables what an answer 410 has disabled; true: nothing is pending. */
  async function enable(): Promise<boolean> {
    const unread = await store.subscriptions.unread();
    const all = notified.map(async ({ subscription: id }) => {
      const { pending, disabled } = await store.subscriptions.deliveries(id);
      if (disabled === null) return pending;
      const ask = () => client.post('/v1/subscriptions/{id}/resend', { path: { id }, signal: over.signal });
      await retry(ask, over.signal);
      operations.set('enable a subscription', (operations.get('enable a subscription') ?? 0) + 1);
      return pending;
    });
    return (await Promise.all(all)).every((pending) => pending === 0) && unread.length === 0;
  }

  const living = (async () => {
    while (!calm) {
      await delay(between(random, 1_000, 5_000));
      if (strikes('receivers: end and start', 1)) {
        await dying.stop();
        await delay(between(random, 200, 4_000));
        await dying.start();
      }
      // Redis may not answer at present.
      await enable().catch(() => false);
    }
  })();
  return {
    notified,
    operations,
    async settle() {
      calm = true;
      await living;
      while (!over.signal.aborted && !(await enable().catch(() => false))) await delay(POLL_MS);
    },
    async stop() {
      calm = true;
      over.abort();
      await settledWithin(TIMEOUT_MS, living);
      for (const release of releases) await release();
    },
  };
}

/** Each state of the experiments' own streams arrived, in the order of the feed, and repetitions are alike. */
export function violationsOfNotified(
  { subscription, received }: Notified,
  streams: ReadonlyMap<string, readonly StreamEntry[]>,
): string[] {
  const byId = Map.groupBy(received, ({ headers }) => String(headers['webhook-id']));
  const first = [...byId].map(([id, [one]]) => ({ number: Number(id.split('-').at(-1)), ...one!.body }));
  const states = first.flatMap(({ type, data }) =>
    type === 'state' ? [{ experiment: String(data.experiment), to: String(data.to) }] : [],
  );
  return [
    ...first.flatMap(({ type, data }) => (type === 'gap' ? [`${data.dropped} messages were dropped`] : [])),
    ...first.flatMap(({ number }, at) =>
      at > 0 && number <= first[at - 1]!.number
        ? [`message ${number} came after ${first[at - 1]!.number}`]
        : [],
    ),
    ...[...byId].flatMap(([id, all]) =>
      new Set(all.map(({ text }) => text)).size > 1 ? [`${id} had different texts`] : [],
    ),
    ...violationsOfStates(states, streams),
  ].map((words) => `${subscription}: ${words}`);
}
