import { createHash } from 'node:crypto';
import type { Idempotency } from '../experiments/records-contract.ts';

/**
 * Names under which an Idempotency-Key is kept, as the scripts take them (separated by spaces, '' without a key): the
 * first is the caller's own and is the one that is written; behind it, for who sees every project, the name that keys
 * had before callers were told apart, so that those entries still count.
 */
export function keyNames(idempotency: Idempotency | undefined): string {
  if (idempotency === undefined) return '';
  const { key, caller } = idempotency;
  const shared = digestOf(key);
  if (caller === undefined) return shared;
  const own = digestOf(JSON.stringify([caller.id, key]));
  return caller.project === null ? `${own} ${shared}` : own;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
