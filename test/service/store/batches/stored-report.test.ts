import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeys } from '../../../../src/store/redis/keys.ts';
import { appFor } from '../../../support/http-app.ts';
import { reportOf } from '../../../support/report.ts';
import { recordBatch, running, storeFor } from '../../../support/store.ts';

const keys = createKeys('echelon');
const COUNTS = { rows: 4, exact: 4, rounding: 0, wrong: 0, unverifiable: 0, errors: [], ok: true };
const HOLDER = { holder: 'v', leaseMs: 60_000 };
const eventOf = (batch: number) =>
  ({ type: 'verification', attempt: 1, batch, step: batch, ...COUNTS }) as const;

/* Each gave 500 for the whole list: the reader trusted what is stored. */
const UNREADABLE: Readonly<Record<string, string>> = {
  'no findings': JSON.stringify({ ...reportOf({ step: 1, ...COUNTS }), findings: undefined }),
  'findings that are no list': JSON.stringify({ ...reportOf({ step: 1, ...COUNTS }), findings: 'none' }),
  'a finding without a code': JSON.stringify({ ...reportOf({ step: 1, ...COUNTS }), findings: [{}] }),
  'no counts': '{"findings":[]}',
  'a step without stages': JSON.stringify({ ...reportOf({ step: 1, ...COUNTS }), step: {} }),
  'a description without keys': JSON.stringify({
    ...reportOf({ step: 1, ...COUNTS }),
    diagnosis: { signal: {} },
  }),
  'a number': '7',
  'no JSON': '{"findings":',
};

test('a stored report that is no report is shown as unverifiable, with every other batch beside it', async (t) => {
  const { store, redis } = await storeFor(t);
  const { call } = await appFor(t, { store });
  const lease = await running(store);
  for (const batch of [1, 2]) await recordBatch(store, lease, { batch, data: Buffer.from('b') });
  for (const record of await store.batches.takePending(2, HOLDER)) {
    await store.batches.report(record, eventOf(record.batch), reportOf({ step: record.batch, ...COUNTS }));
  }
  const path = `/v1/experiments/${lease.experiment}`;
  for (const [what, text] of Object.entries(UNREADABLE)) {
    await redis.hset(keys.reports(lease.experiment), '1:1', text);
    const list = await call('GET', `${path}/batches`);
    assert.equal(list.statusCode, 200, what);
    const [first, second] = list.json().items;
    const { ok, exact, unverifiable, findings } = first.verification;
    assert.deepEqual([ok, exact, unverifiable, findings], [false, 0, 4, ['not-verifiable']], what);
    assert.equal(second.verification.exact, 4, what);
    for (const place of ['/batches/1/1', '/verification', '/signal']) {
      assert.equal((await call('GET', path + place)).statusCode, 200, `${what}: ${place}`);
    }
    const [finding] = (await call('GET', `${path}/batches/1/1`)).json().report.findings;
    assert.match(finding.message, /^Its stored report cannot be read: .+ Verify the batch again\.$/);
  }
});

test('a stored report that is no report is verified again, replaced and counted once', async (t) => {
  const { store, redis } = await storeFor(t);
  for (const [what, text] of Object.entries(UNREADABLE)) {
    const lease = await running(store);
    const { experiment } = lease;
    await recordBatch(store, lease, { batch: 1, data: Buffer.from('b') });
    const [record] = await store.batches.takePending(1, HOLDER);
    // The counters have what the report says as far as it can be read.
    const counted = text.includes('"exact":4') ? 4 : 0;
    const report = JSON.parse(JSON.stringify(reportOf({ step: 1, ...COUNTS })));
    await store.batches.report(record!, { ...eventOf(1), exact: counted }, report);
    await redis.hset(keys.reports(experiment), '1:1', text);
    assert.equal(await store.batches.verifyAgain(experiment), 1, what);
    assert.equal(await store.batches.report(record!, eventOf(1), report), 'replaced', what);
    assert.equal(await store.batches.report(record!, eventOf(1), report), 'known', what);
    const { verification } = (await store.experiments.get(experiment))!;
    const { batchesVerified, exact, unverifiable, errors, signal } = verification;
    assert.deepEqual([batchesVerified, exact, unverifiable, errors, signal], [1, 4, 0, 0, 'right'], what);
    assert.equal(await store.batches.verifyAgain(experiment), 0, what);
  }
});

/* Fails if all reports are read by one HGETALL, or by one HSCAN of them all. */
test('verify-again finds every unverified batch and reads no more than some hundred reports at a time', async (t) => {
  const { store, redis } = await storeFor(t);
  const { experiment } = await running(store);
  const good = JSON.stringify(reportOf({ step: 1, ...COUNTS }));
  const unread = { ...COUNTS, exact: 0, unverifiable: 4, errors: ['not-verifiable'], ok: false };
  const bad = JSON.stringify(reportOf({ step: 1, ...unread }));
  const BATCHES = 2_000;
  const reports = Array.from({ length: BATCHES }, (_, at) => [`1:${at + 1}`, at % 7 === 0 ? bad : good]);
  await redis.hset(keys.reports(experiment), Object.fromEntries(reports));
  await redis.hset(
    keys.batches(experiment),
    Object.fromEntries(reports.map(([field]) => [field, '1 4 d 1-1 1-1 0'])),
  );
  const before = await callsOf(redis);
  assert.equal(await store.batches.verifyAgain(experiment), Math.ceil(BATCHES / 7));
  const after = await callsOf(redis);
  assert.equal(after.hgetall - before.hgetall, 0);
  assert.ok(after.hscan - before.hscan >= BATCHES / 200, `${after.hscan - before.hscan} reads`);
  assert.equal(await store.batches.backlog(), Math.ceil(BATCHES / 7));
});

async function callsOf(redis: { info(section: string): Promise<string> }) {
  const stats = await redis.info('commandstats');
  const calls = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  return { hscan: calls('hscan'), hgetall: calls('hgetall') };
}
