import { createHmac } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { BlockList } from 'node:net';
import type { Message } from '../../store/subscriptions/subscriptions.ts';
import { assertMayReach, checkedLookup } from './addresses.ts';

/** A receiver must answer within this time. */
const ANSWER_MS = 15_000;
const GONE = 410;

/** Why nothing was delivered, in words that the readers of the subscription may see. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
}

/** The receiver answered, but not 2xx. */
export class RefusedMessageError extends Error {
  override readonly name = 'RefusedMessageError';
  /** It wants no further message. */
  readonly isGone: boolean;
  /** The time in ms that it asked to wait; null: none. */
  readonly retryAfterMs: number | null;

  constructor(status: number, retryAfter: string | undefined) {
    super(`the receiver answered with the status ${status}`);
    this.isGone = status === GONE;
    this.retryAfterMs = waitOf(retryAfter, Date.now());
  }
}

/** The wait in ms that a Retry-After header asks for: seconds, or a date. Null: none. */
function waitOf(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/**
 * Posts JSON. Resolves if the receiver answers 2xx; rejects otherwise, with {@link RefusedMessageError} after another answer.
 * It connects to the addresses that were checked, follows no redirect and reads no body.
 */
export function postJson(
  place: string,
  { body, headers = {}, allowed }: { body: string; headers?: Record<string, string>; allowed: BlockList },
): Promise<void> {
  const url = new URL(place);
  assertMayReach(url.hostname, allowed);
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = send(url, {
      method: 'POST',
      agent: false,
      lookup: checkedLookup(allowed),
      signal: AbortSignal.timeout(ANSWER_MS),
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'Echelon',
      },
    });
    sent.on('error', (error) => {
      const isLate = error.name === 'AbortError' || error.name === 'TimeoutError';
      reject(isLate ? new DeliveryError(`the receiver did not answer within ${ANSWER_MS / 1000} s`) : error);
    });
    sent.on('response', ({ statusCode = 0, headers: { 'retry-after': retryAfter } }) => {
      sent.destroy();
      if (statusCode >= 200 && statusCode < 300) resolve();
      else reject(new RefusedMessageError(statusCode, retryAfter));
    });
    sent.end(body);
  });
}

/**
 * Body and headers of a message in the format of Standard Webhooks (https://www.standardwebhooks.com). `secret`: whsec_ and
 * 24 to 64 bytes in base64; throws otherwise.
 */
export function signedMessage(
  { id, type, at, data }: Message,
  { secret, now }: { secret: string; now: number },
): { body: string; headers: Record<string, string> } {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const key = Buffer.from(encoded ?? '', 'base64');
  if (key.length < 24 || key.length > 64)
    throw new DeliveryError('the secret of the signatures must be whsec_ and 24 to 64 bytes in base64');
  const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
  const seconds = String(Math.floor(now / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  const headers = { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` };
  return { body, headers };
}
