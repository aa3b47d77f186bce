import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { encodeBatch } from '../../../../../packages/echelon-verify/src/format/batch-wire.ts';
import { readBatchFile } from '../../../../../packages/echelon-verify/src/format/read.ts';
import { bundle as bundleTask } from '../../../../../packages/echelon-verify/src/pool/tasks.ts';
import { goldenBatch } from '../../../../../packages/echelon-verify/test/support/golden-batches.ts';
import { appFor } from '../../../../support/http-app.ts';
import { running, storeFor } from '../../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const { call } = await appFor(scope, {
  store,
  bundle: async (wire, origin) => {
    const answer = bundleTask({ wire, origin, budgetBytes: 2 ** 28 });
    if ('value' in answer) return answer.value;
    throw new RangeError('it takes more than 5 ms');
  },
});

const lease = await running(store);
const url = `/v1/experiments/${lease.experiment}/batches`;
const golden = goldenBatch('alfworld-scale');
const wires = [Buffer.from(encodeBatch(golden)), Buffer.from('no batch')];
for (const [at, data] of wires.entries()) {
  const digest = createHash('sha256').update(data).digest('hex');
  const event = {
    type: 'batch' as const,
    step: 5,
    batch: at + 1,
    index: 0,
    count: 1,
    rows: golden.rows,
    digest,
  };
  await store.events.append(lease, [
    { sequence: at + 1, at: 1, event: { ...event, bytes: data.length }, data },
  ]);
}

describe('GET /v1/experiments/:id/batches/:attempt/:batch/bundle', () => {
  test('the bundle of a batch is a file that reads back as the batch, with its provenance', async () => {
    const answer = await call('GET', `${url}/1/1/bundle`);
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.headers['content-type'], 'application/gzip');
    assert.match(String(answer.headers['content-disposition']), /filename="exp-\S+-1-1\.json\.gz"/);
    const [batch] = readBatchFile(answer.rawPayload, 'f');
    assert.equal(batch?.rows, golden.rows);
    const { bundle } = JSON.parse(gunzipSync(answer.rawPayload).toString()) as {
      bundle: Record<string, unknown>;
    };
    assert.deepEqual([bundle.experiment, bundle.step, bundle.report], [lease.experiment, 5, null]);
    assert.equal(bundle.digest, createHash('sha256').update(wires[0]!).digest('hex'));
  });

  test('the bundle of an unknown batch gets 404, and the bundle of an unreadable batch gets not-verifiable', async () => {
    assert.equal((await call('GET', `${url}/1/9/bundle`)).json().code, 'not-found');
    assert.equal((await call('GET', `${url}/2/1/bundle`)).json().code, 'not-found');
    assert.equal((await call('GET', `${url}/0/1/bundle`)).statusCode, 400);
    assert.equal((await call('GET', `${url}/1/2/bundle`)).json().code, 'not-verifiable');
  });
});
