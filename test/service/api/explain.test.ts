import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { explainRow } from 'echelon-verify/explain';
import { createVerifierPool } from 'echelon-verify/pool';
import { decodeBatch, encodeBatch } from '../../../packages/echelon-verify/src/format/batch-wire.ts';
import { goldenBatch } from '../../../packages/echelon-verify/test/support/golden-batches.ts';
import type { Store } from '../../../src/store/store.ts';
import { until } from '../../support/dispatch.ts';
import { appFor, TOKEN } from '../../support/http-app.ts';
import { running, storeFor } from '../../support/store.ts';

/** An experiment with one batch. */
async function recorded(store: Store) {
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
  await store.events.append(lease, [{ sequence: 1, at: 1, event: part, data: Buffer.from(data) }]);
  return { data, experiment: lease.experiment };
}

test('the explanation of a row comes from the verifier, in a thread of its own', async (t) => {
  const { store } = await storeFor(t);
  const pool = createVerifierPool({ processes: 1, budgetMs: 60_000, budgetBytes: 2 ** 30 });
  t.after(() => pool.close());
  const { call } = await appFor(t, { store, explain: pool.explain });
  const { data, experiment } = await recorded(store);
  const response = await call('GET', `/v1/experiments/${experiment}/explain?batch=1&row=3`);
  assert.equal(response.statusCode, 200, response.body);
  const expected = explainRow(decodeBatch(data), 3);
  assert.deepEqual(response.json().explanation, JSON.parse(JSON.stringify(expected)));
});

/* Fails without the signal and the bound: clients that leave keep every thread busy, and the queue of requests grows without end. */
test('an explanation beyond the share of a caller gets 429 with Retry-After, until a client disconnects', async (t) => {
  const { store } = await storeFor(t);
  const { experiment } = await recorded(store);
  const working: AbortSignal[] = [];
  const { app, call } = await appFor(t, {
    store,
    limits: { recomputations: 8 },
    explain: (_bytes, _row, { signal }) => {
      working.push(signal);
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
  });
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  const path = `/v1/experiments/${experiment}/explain?batch=1&row=3`;
  const ask = (client: AbortController) =>
    fetch(`${origin}${path}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
      signal: client.signal,
    }).catch(() => 'left');
  const [client, next] = [new AbortController(), new AbortController()];
  const asked = [ask(client), ask(client)];
  await until(() => working.length === 2, 'both are in hand');
  const refused = await call('GET', path);
  assert.deepEqual([refused.statusCode, refused.json().code], [429, 'rate-limited']);
  assert.equal(refused.headers['retry-after'], '1');
  assert.ok(working.every(({ aborted }) => !aborted));
  client.abort();
  assert.deepEqual(await Promise.all(asked), ['left', 'left']);
  await until(() => working.every(({ aborted }) => aborted), 'the work is given up');
  const third = ask(next);
  await until(() => working.length === 3, 'there is room again');
  // An open request would delay the close of the app.
  next.abort();
  assert.equal(await third, 'left');
});
