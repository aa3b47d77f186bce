import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { EchelonError } from '../../../../src/core/errors.ts';
import { appFor } from '../../../support/http-app.ts';
import { storeFor } from '../../../support/store.ts';

const { store } = await storeFor({ after });

test('a Redis that may lose accepted work gets no writes, and a foreign one no requests', async (t) => {
  let fault: EchelonError | null = null;
  const { call } = await appFor(t, { store, storeFault: () => fault });
  const codes = async () => {
    const answers = [
      await call('GET', '/readyz', { token: null }),
      await call('GET', '/v1/experiments'),
      await call('POST', '/v1/queues/_all/pause'),
      await call('GET', '/healthz', { token: null }),
    ];
    // An operator may correct it at any time, so clients may wait for that.
    for (const { statusCode, headers } of answers)
      if (statusCode === 503) assert.equal(headers['retry-after'], '1');
    return answers.map((answer) => (answer.statusCode === 503 ? answer.json().code : answer.statusCode));
  };
  const misconfigured = 'store-misconfigured';
  fault = new EchelonError(misconfigured, 'appendonly is "no"');
  assert.deepEqual(await codes(), [misconfigured, 200, misconfigured, 200]);
  fault = new EchelonError('store-foreign', 'it is empty');
  assert.deepEqual(await codes(), ['store-foreign', 'store-foreign', 'store-foreign', 200]);
  fault = null;
  assert.deepEqual(await codes(), [200, 200, 200, 200]);
});
