import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { AUDIT_DAYS, AUDIT_ENTRIES, type AuditInput } from '../../../../src/store/access/audit.ts';
import { storeFor } from '../../../support/store.ts';

const { store, redis } = await storeFor({ after });
const entry = (target: string): AuditInput => ({
  caller: 'k',
  name: 'a key',
  project: null,
  action: 'submitExperiment',
  target,
  status: 202,
  outcome: 'done',
  code: null,
  requestId: 'r',
  address: '::1',
  note: null,
});

test('entries are read from the newest, page by page', async () => {
  for (const target of ['a', 'b', 'c']) await store.audit.record(entry(target));
  const [c, b] = await store.audit.page(2, undefined);
  assert.deepEqual([c?.target, b?.target], ['c', 'b']);
  assert.ok(Math.abs(c!.at - Date.now()) < 60_000);
  assert.deepEqual(
    (await store.audit.page(2, b!.id)).map(({ target }) => target),
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
  await store.audit.record(entry('new'));
  assert.ok((await redis.xlen(key)) < 200);
  assert.ok(AUDIT_ENTRIES > 10_000);
});

test('entries after the clock was set back are newer than all others', async (t) => {
  const { store: late, redis: own } = await storeFor(t);
  const future = Date.now() + 3600 * 1000;
  await own.xadd('{echelon}:audit', `${future}-1998`, 'e', JSON.stringify(entry('future')));
  await late.audit.record(entry('first'));
  await late.audit.record(entry('second'));
  await late.audit.record({ ...entry('third'), caller: 'another' });
  const page = await late.audit.page(10, undefined);
  assert.deepEqual(
    page.map(({ target }) => target),
    ['third', 'second', 'first', 'future'],
  );
});

test('a caller’s entries push out its own oldest only, and never what administrators did', async (t) => {
  const { store: bounded, redis: own } = await storeFor(t, { limits: { auditOfCaller: 5 } });
  const of = (caller: string | null, target: string) => ({ ...entry(target), caller });
  await bounded.audit.record(of('root', 'revoked'), { administrative: true });
  await bounded.audit.record(of('other', 'first'));
  for (let at = 0; at < 50; at += 1) await bounded.audit.record(of('flood', `flood ${at}`));
  for (let at = 0; at < 50; at += 1) await bounded.audit.record(of(null, `guess ${at}`));
  const told = (await bounded.audit.page(100, undefined)).map(({ target }) => target);
  const last = (word: string) => [49, 48, 47, 46, 45].map((at) => `${word} ${at}`);
  assert.deepEqual(told, [...last('guess'), ...last('flood'), 'first', 'revoked']);
  assert.equal(await own.xlen('{echelon}:audit'), 11);
  const pages: (string | null)[] = [];
  for (let before: string | undefined; ; ) {
    const page: { id: string; target: string | null }[] = await bounded.audit.page(2, before);
    if (page.length === 0) break;
    pages.push(...page.map(({ target }) => target));
    before = page.at(-1)!.id;
  }
  assert.deepEqual(pages, told, 'both streams are one list');
});
