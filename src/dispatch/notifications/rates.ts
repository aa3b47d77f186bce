import { createHash } from 'node:crypto';
import type { Rate, StoredSubscription } from '../../store/subscriptions/subscriptions.ts';

/** POSTs of a project in a minute. */
const MAX_POSTS = 600;
/** POSTs of a project to one host in a minute. */
const MAX_HOST_POSTS = 300;
/** Messages of a project to one chat in a minute. */
const MAX_CHAT_POSTS = 60;
/** E-mails of a project in an hour. */
const MAX_MAILS = 60;
/** E-mails of a project to one address in an hour. */
const MAX_ADDRESS_MAILS = 12;

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * The rates that each delivery of a subscription counts for. A receiver's rate is of one project, so that no project delays
 * what another one sends there.
 */
export function ratesOf({ project, target }: StoredSubscription): Rate[] {
  if (target.kind === 'email')
    return [
      rate(`mail:${project}`, MAX_MAILS, HOUR_MS),
      ...[...new Set(target.to.map(mailboxOf))].map((to) =>
        rate(`mail:${project}:${to}`, MAX_ADDRESS_MAILS, HOUR_MS),
      ),
    ];
  const posts = rate(`post:${project}`, MAX_POSTS, MINUTE_MS);
  if (target.kind === 'webhook')
    return [posts, rate(`post:${project}:${new URL(target.url).hostname}`, MAX_HOST_POSTS, MINUTE_MS)];
  return [posts, rate(`chat:${project}:${target.secret}`, MAX_CHAT_POSTS, MINUTE_MS)];
}

/** The mailbox of an address: many servers deliver `name+anything@domain` to `name`. */
function mailboxOf(address: string): string {
  return address.toLowerCase().replace(/\+[^@]*@/, '@');
}

/** `most` at once, or in `ms`. A digest names the key: no address stands in it. */
function rate(of: string, most: number, ms: number): Rate {
  return { of: createHash('sha256').update(of).digest('hex'), burst: most, everyMs: ms / most };
}
