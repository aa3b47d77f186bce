import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditInput } from '../../../src/store/access/audit.ts';
import { storeFor } from '../../support/store.ts';

const MAX_BYTES = 40 * 1024 * 1024;

/** Calls `make` for each number below `count`, some at a time. */
async function many(count: number, make: (at: number) => Promise<void>): Promise<void> {
  for (let at = 0; at < count; at += 100)
    await Promise.all(Array.from({ length: Math.min(100, count - at) }, (_one, more) => make(at + more)));
}

/*
 * The data that one key can make the store retain with requests that begin nothing is bounded: the oldest answers and
 * entries of a caller go for new ones, so more requests than the bounds hold are as good as an hour of them.
 */
test('one caller makes the store keep no more than 40 MB of answers and audit entries, and pushes out nothing of others', async (t) => {
  const { store, redis } = await storeFor(t);
  const keep = async (name: string, caller: string, body: string) => {
    const claim = await store.answers.claim({ name, digest: 'd'.repeat(64), leaseMs: 60_000 });
    if (claim.outcome !== 'claimed') return;
    const answer = { status: 202, headers: {}, body };
    await store.answers.keep({ name, token: claim.token, caller, answer, keepMs: 24 * 3600 * 1000 });
  };
  const entry = (caller: string): AuditInput => ({
    caller,
    name: 'a key',
    project: 'default',
    action: 'preflight',
    target: 'cmd-1',
    status: 202,
    outcome: 'done',
    code: null,
    requestId: 'r'.repeat(36),
    address: '10.0.0.1',
    note: null,
  });
  await keep('of-another', 'other', '{}');
  await store.audit.record(entry('other'));
  await store.audit.record({ ...entry('root'), action: 'revokeKey' }, { administrative: true });
  const used = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  const before = await used();
  await many(400, (at) => keep(`large-${at}`, 'flood', 'x'.repeat(64 * 1024)));
  await many(4000, (at) => keep(`small-${at}`, 'flood', 'x'.repeat(100)));
  await many(12_000, () => store.audit.record(entry('flood')));
  const grown = (await used()) - before;
  assert.ok(grown < MAX_BYTES, `${Math.round(grown / 1024 / 1024)} MB`);
  assert.equal(
    (await store.answers.claim({ name: 'of-another', digest: 'd'.repeat(64), leaseMs: 1 })).outcome,
    'answered',
  );
  const all = await store.audit.page(20_000, undefined);
  const callers = new Map<string | null, number>();
  for (const { caller } of all) callers.set(caller, (callers.get(caller) ?? 0) + 1);
  assert.deepEqual(Object.fromEntries(callers), { flood: 10_000, other: 1, root: 1 });
});
