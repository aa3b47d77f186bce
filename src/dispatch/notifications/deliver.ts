import type { Store } from '../../store/store.ts';
import type { Delivery, DeliveryEnd } from '../../store/subscriptions/subscriptions.ts';
import type { Log } from '../log.ts';
import { everyMs } from './match.ts';
import { RefusedMessageError } from './post.ts';
import { ratesOf } from './rates.ts';
import { messagesAtOnce, type SendSettings, send } from './send.ts';
import { shownReason } from './shown-reason.ts';

/** A message that could not be delivered for so long becomes a dead letter. */
const GIVE_UP_MS = 3 * 24 * 3_600_000;
/** Waits between attempts: the first, and the longest; each is three times the one before it. */
const RETRY = { firstMs: 5_000, longestMs: 6 * 3_600_000 };
/** Deliveries of one subscription in a row, before others have their turn. */
const IN_A_ROW = 20;

/** The wait after `tries` failed attempts, with up to a fifth more, so that receivers do not get all of them at once. */
export function retryWaitMs(tries: number, { firstMs, longestMs } = RETRY): number {
  return Math.min(firstMs * 3 ** (tries - 1), longestMs) * (1 + Math.random() / 5);
}

/** Delivers the due messages of a subscription in their order, until one fails. Throws only errors of the store. */
export function createDeliver(deps: {
  store: Pick<Store, 'subscriptions'>;
  log: Log;
  settings: SendSettings;
  /** Default: 5 s to 6 hours. */
  retry?: { firstMs: number; longestMs: number } | undefined;
  /** Default: three days. */
  giveUpMs?: number | undefined;
  /** Default: {@link ratesOf}. */
  rates?: typeof ratesOf | undefined;
  stopped: () => boolean;
}): (subscription: string) => Promise<void> {
  const { store, log, stopped, rates: ratesFor = ratesOf } = deps;
  return async (id) => {
    const subscription = await store.subscriptions.get(id);
    const most = subscription === undefined ? 1 : messagesAtOnce(subscription);
    const rates = subscription === undefined ? [] : ratesFor(subscription);
    for (let turn = 0; turn < IN_A_ROW && !stopped(); turn += 1) {
      const delivery = await store.subscriptions.begin(id, most, rates);
      if (delivery === undefined) return;
      const error = await send(delivery.subscription, delivery.messages, deps.settings).then(
        () => null,
        (reason: Error) => reason,
      );
      const end = endOf(delivery, error, deps);
      await store.subscriptions.end(delivery, end);
      if (error === null) continue;
      const { outcome, reason } = end;
      // Only the operator sees which address was refused, or what the network said.
      log.info(
        { subscription: id, message: delivery.messages[0]?.id, outcome, reason, cause: causeOf(error) },
        'a notification was not delivered',
      );
      return;
    }
  };
}

function causeOf({ message, cause }: Error): string {
  return (cause instanceof Error ? cause.message : message).slice(0, 300);
}

function endOf(
  { subscription, tries, pendingMs }: Delivery,
  error: Error | null,
  { retry = RETRY, giveUpMs = GIVE_UP_MS }: Pick<Parameters<typeof createDeliver>[0], 'retry' | 'giveUpMs'>,
): DeliveryEnd {
  if (error === null) return { outcome: 'delivered', waitMs: everyMs(subscription), reason: null };
  const reason = shownReason(error).slice(0, 300);
  const { isGone, retryAfterMs } =
    error instanceof RefusedMessageError ? error : { isGone: false, retryAfterMs: null };
  if (isGone) return { outcome: 'gone', waitMs: 0, reason: `${reason}: it wants no further message` };
  if (pendingMs >= giveUpMs) return { outcome: 'dead', waitMs: 0, reason };
  // A receiver may ask for a longer wait, but not for one without end.
  const asked = Math.min(retryAfterMs ?? 0, retry.longestMs);
  return { outcome: 'failed', waitMs: Math.max(retryWaitMs(tries + 1, retry), asked), reason };
}
