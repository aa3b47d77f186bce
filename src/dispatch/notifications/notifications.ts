import type { DeliveriesQueue } from '../../queue/deliveries-queue.ts';
import type { QueueServer } from '../../queue/serve.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';
import { createLoop, type Loop } from '../loop.ts';
import { createDeliver } from './deliver.ts';
import type { ratesOf } from './rates.ts';
import { createFeedReader } from './read-feeds.ts';
import type { SendSettings } from './send.ts';

/** Deliveries at the same time: each waits for a receiver, so a slow one occupies one of them. */
const DELIVERIES_AT_ONCE = 200;
/** After about this time, the deliveries of a process that died are received again. */
const LOCK_MS = 30_000;
/** How long a stop waits for running deliveries. */
const CLOSE_MS = 500;

/** What sends notifications, and its times. */
export interface NotificationDeps {
  queue: DeliveriesQueue;
  settings: SendSettings;
  retry?: { firstMs: number; longestMs: number };
  giveUpMs?: number;
  /** How often a subscription may send. Default: {@link ratesOf}. */
  rates?: typeof ratesOf;
  /** Default: 30 s. */
  lockMs?: number;
}

/** Reads the feeds for subscriptions, and delivers their messages. Any number of dispatchers may do so. */
export function createNotifications({
  store,
  log,
  everyMs,
  queue,
  lockMs = LOCK_MS,
  ...deps
}: NotificationDeps & { store: Store; log: Log; everyMs: number }): Loop {
  let stopping = false;
  let server: QueueServer | undefined;
  const stopped = () => stopping;
  const readFeeds = createFeedReader({ store, log, stopped });
  const deliver = createDeliver({ ...deps, store, log, stopped });
  const loop = createLoop({
    name: 'notifications',
    everyMs,
    log,
    async run() {
      const { time } = await store.clock.read();
      await readFeeds(time);
      await queue.add(await store.subscriptions.due(time));
    },
  });
  return {
    start() {
      loop.start();
      server = queue.serve(deliver, { concurrency: DELIVERIES_AT_ONCE, lockMs });
    },
    poke: loop.poke,
    async stop() {
      stopping = true;
      await Promise.all([loop.stop(), server?.close(CLOSE_MS)]);
    },
  };
}
