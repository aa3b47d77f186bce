import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { rowColumns } from 'echelon-verify/explain';
import { createVerifierPool } from 'echelon-verify/pool';
import { encodeBatch } from '../../../../../packages/echelon-verify/src/format/batch-wire.ts';
import { goldenBatch } from '../../../../../packages/echelon-verify/test/support/golden-batches.ts';
import { appFor } from '../../../../support/http-app.ts';
import { running, storeFor } from '../../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const pool = createVerifierPool({ processes: 1, budgetMs: 30_000, budgetBytes: 2 ** 28 });
after(() => pool.close());
const { call } = await appFor(scope, { store, rows: pool.rows });

const lease = await running(store);
const url = `/v1/experiments/${lease.experiment}/batches`;
const golden = goldenBatch('walk-K4-mean_std_norm-base1');
for (const [at, data] of [Buffer.from(encodeBatch(golden)), Buffer.from('no batch')].entries()) {
  const digest = createHash('sha256').update(data).digest('hex');
  const about = { type: 'batch' as const, step: 5, batch: at + 1, index: 0, count: 1, rows: golden.rows };
  const event = { ...about, digest, bytes: data.length };
  await store.events.append(lease, [{ sequence: at + 1, at: 1, event, data }]);
}

describe('GET /v1/experiments/:id/batches/:attempt/:batch/rows', () => {
  test('the rows of a batch are those that the verifier computes', async () => {
    const answer = await call('GET', `${url}/1/1/rows`);
    assert.equal(answer.statusCode, 200);
    assert.deepEqual(answer.json(), rowColumns(golden, { first: 0, count: 10_000 }));
  });

  test('a page, a trajectory and a state choose rows', async () => {
    const page = (await call('GET', `${url}/1/1/rows?first=2&count=3`)).json();
    assert.deepEqual([page.row, page.matching], [[2, 3, 4], golden.rows]);
    const [name] = golden.trajectoryNames;
    const own = (await call('GET', `${url}/1/1/rows?trajectory=${encodeURIComponent(name!)}`)).json();
    assert.deepEqual(own.trajectories, [name]);
    const same = (await call('GET', `${url}/1/1/rows?sameStateAs=7`)).json();
    assert.ok(same.row.includes(7) && same.observations.length === 1 && same.groups.length === 1);
  });

  test('an unknown batch, an unreadable batch and a row beyond the batch get a clear answer', async () => {
    assert.equal((await call('GET', `${url}/1/9/rows`)).json().code, 'not-found');
    assert.equal((await call('GET', `${url}/1/2/rows`)).json().code, 'not-verifiable');
    const beyond = (await call('GET', `${url}/1/1/rows?sameStateAs=${golden.rows}`)).json();
    assert.deepEqual([beyond.code, beyond.problems[0].field], ['invalid-request', 'sameStateAs']);
    assert.equal((await call('GET', `${url}/1/1/rows?count=100001`)).statusCode, 400);
  });
});
