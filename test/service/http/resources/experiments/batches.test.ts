import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { appFor } from '../../../../support/http-app.ts';
import { recordBatch, running, storeFor } from '../../../../support/store.ts';

const { store } = await storeFor({ after });
const { call } = await appFor({ after }, { store });
const data = Buffer.from('a batch');
const finding = { code: 'rows-missing', severity: 'error', message: 'two are missing', rows: [1] };
const report = {
  name: 'step 1',
  rows: 4,
  exact: 2,
  rounding: 1,
  wrong: 1,
  unverifiable: 0,
  ok: false,
  findings: [finding, finding],
  fingerprint: 'hgpo(K=2)',
  levels: [],
};

describe('batch routes', () => {
  let path: string;
  before(async () => {
    const lease = await running(store);
    path = `/v1/experiments/${lease.experiment}/batches`;
    for (let batch = 1; batch <= 3; batch++) await recordBatch(store, lease, { batch, data });
    const first = await store.batches.get(lease.experiment, 1, 1);
    const { rows, exact, rounding, wrong, unverifiable, ok } = report;
    const counts = { rows, exact, rounding, wrong, unverifiable, ok, errors: ['rows-missing'] };
    await store.batches.report(
      first!,
      { type: 'verification', attempt: 1, batch: 1, step: 1, ...counts },
      report,
    );
  });

  test('the list of batches shows a summary of each report', async () => {
    const first = (await call('GET', `${path}?limit=2`)).json();
    assert.deepEqual(first.items[0].verification, {
      kind: 'advantage',
      ok: false,
      exact: 2,
      rounding: 1,
      wrong: 1,
      unverifiable: 0,
      findings: ['rows-missing'],
      errors: ['rows-missing'],
    });
    assert.equal(first.items[1].verification, null);
    const rest = (await call('GET', `${path}?limit=2&cursor=${first.next}`)).json();
    assert.deepEqual([rest.items[0].batch, rest.items.length, rest.next], [3, 1, null]);
    assert.equal(
      (await call('GET', `${path}?cursor=${first.next.replace(/..$/, 'xx')}`)).json().code,
      'invalid-cursor',
    );
  });

  test('one batch shows its whole report, and an unknown batch gets 404', async () => {
    const one = await call('GET', `${path}/1/1`);
    assert.deepEqual(one.json().report, report);
    assert.ok(one.headers.etag);
    assert.equal((await call('GET', `${path}/1/2`)).json().report, null);
    for (const place of ['1/4', '2/1']) assert.equal((await call('GET', `${path}/${place}`)).statusCode, 404);
    for (const place of ['0/1', '1/x', '-1/1', '1/99999999999']) {
      assert.equal((await call('GET', `${path}/${place}`)).statusCode, 400, place);
    }
  });
});
