import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { AuditInput } from '../../../src/store/access-store.ts';
import { AUDIT_DAYS, AUDIT_ENTRIES } from '../../../src/store/audit.ts';
import { storeFor } from '../../support/store.ts';

const { store, redis } = await storeFor({ after });
const entry = (target: string): AuditInput => ({
  ...{ caller: 'k', name: 'a key', project: null, action: 'submitExperiment', target, status: 202 },
  ...{ outcome: 'done', code: null, requestId: 'r', address: '::1', note: null },
});

test('entries are read from the newest, page by page', async () => {
  for (const target of ['a', 'b', 'c']) await store.audit(entry(target));
  const [c, b] = await store.auditLog(2, undefined);
  assert.deepEqual([c?.target, b?.target], ['c', 'b']);
  assert.ok(Math.abs(c!.at - Date.now()) < 60_000);
  assert.deepEqual(
    (await store.auditLog(2, b!.id)).map(({ target }) => target),
    ['a'],
  );
});

test('the log is bounded in age and number', async () => {
  const key = '{echelon}:audit';
  const old = Date.now() - (AUDIT_DAYS + 1) * 24 * 3600 * 1000;
  await redis.del(key);
  const filling = redis.pipeline();
  // Whole nodes go, of some hundred entries each.
  for (let at = 0; at < 1000; at += 1) filling.xadd(key, `${old}-${at + 1}`, 'e', '{}');
  await filling.exec();
  // Fails without the trimming in audit.lua.
  await store.audit(entry('new'));
  assert.ok((await redis.xlen(key)) < 200);
  assert.ok(AUDIT_ENTRIES > 10_000);
});
