import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { explainRow } from '../../../src/verify/explain.ts';
import { createVerifierPool } from '../../../src/verify/pool.ts';
import { decodeBatch, encodeBatch } from '../../../src/verify/wire.ts';
import { goldenBatch } from '../../support/golden-batches.ts';
import { appFor } from '../../support/http-app.ts';
import { running, storeFor } from '../../support/store.ts';

test('a row of a recorded batch is explained as the verifier explains it, in a thread of its own', async (t) => {
  const { store } = await storeFor(t);
  const pool = createVerifierPool({ threads: 1, budgetMs: 60_000, budgetBytes: 2 ** 30 });
  t.after(() => pool.close());
  const { call } = await appFor(t, { store, explain: (bytes, row) => pool.explain(bytes, row) });
  const data = encodeBatch(goldenBatch('one-step-episodes'));
  const digest = createHash('sha256').update(data).digest('hex');
  const lease = await running(store);
  const part = {
    type: 'batch',
    step: 1,
    batch: 1,
    index: 0,
    count: 1,
    rows: 5,
    digest,
    bytes: data.length,
  } as const;
  await store.append(lease, [{ sequence: 1, at: 1, event: part, data: Buffer.from(data) }]);
  const response = await call('GET', `/v1/experiments/${lease.experiment}/explain?batch=1&row=3`);
  assert.equal(response.statusCode, 200, response.body);
  const expected = explainRow(decodeBatch(data), 3);
  assert.deepEqual(response.json().explanation, JSON.parse(JSON.stringify(expected)));
});
