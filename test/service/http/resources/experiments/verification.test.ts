import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { BatchFormatError } from 'echelon-verify/format';
import type { Lease } from '../../../../../src/store/attempts/types.ts';
import { appFor } from '../../../../support/http-app.ts';
import { running, storeFor } from '../../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const asked: [Buffer, number][] = [];
const { call } = await appFor(scope, {
  store,
  explain: async (bytes, { row }) => {
    asked.push([Buffer.from(bytes), row]);
    if (row === 3) throw new RangeError('it takes more than 5 ms');
    if (row === 2) throw new BatchFormatError({ code: 'unreadable', file: 'a batch', expected: 'a message' });
    return { row, levels: [] };
  },
});

async function appendBatch(lease: Lease, batch: number): Promise<Buffer> {
  const data = Buffer.from(`batch ${batch}`);
  const digest = createHash('sha256').update(data).digest('hex');
  const event = {
    type: 'batch',
    step: batch * 10,
    batch,
    index: 0,
    count: 1,
    rows: 4,
    digest,
    bytes: data.length,
  };
  await store.events.append(lease, [{ sequence: batch, at: batch, event: event as never, data }]);
  return data;
}

const lease = await running(store);
const url = `/v1/experiments/${lease.experiment}`;
const bytes: Buffer[] = [];
for (let batch = 1; batch <= 5; batch++) bytes.push(await appendBatch(lease, batch));
const [record] = await store.batches.takePending(1, { holder: 'verifier-1', leaseMs: 60_000 });
const outcome = { rows: 4, exact: 3, rounding: 0, wrong: 1, unverifiable: 0 };
await store.batches.report(
  record!,
  {
    type: 'verification',
    attempt: 1,
    batch: record!.batch,
    step: record!.step,
    ...outcome,
    errors: [],
    ok: false,
  },
  { name: 'x', ...outcome, findings: [], ok: false, fingerprint: 'hgpo(K=2)' },
);

describe('GET /v1/experiments/:id/verification', () => {
  test('GET verification shows the counters, and every batch once with its report', async () => {
    const items: { batch: number; report: unknown }[] = [];
    let query = '?limit=2';
    for (let pages = 0; pages < 9; pages++) {
      const page = (await call('GET', `${url}/verification${query}`)).json();
      assert.equal(page.counts.batches, 5);
      assert.equal(page.counts.wrong, 1);
      assert.equal(page.counts.status, 'pending');
      items.push(...page.items);
      if (page.next === null) break;
      query = `?limit=2&cursor=${page.next}`;
    }
    assert.deepEqual(
      items.map(({ batch }) => batch),
      [1, 2, 3, 4, 5],
    );
    assert.deepEqual(
      items.map(({ report }) => report !== null),
      [1, 2, 3, 4, 5].map((batch) => batch === record!.batch),
    );
  });

  test('a verification cursor of another experiment is refused', async () => {
    const { next } = (await call('GET', `${url}/verification?limit=1`)).json();
    const other = await running(store);
    const response = await call('GET', `/v1/experiments/${other.experiment}/verification?cursor=${next}`);
    assert.equal(response.json().code, 'invalid-cursor');
  });
});

test('an explanation that does not finish gets 503 at the handler timeout', {
  timeout: 20_000,
}, async (t) => {
  const never = new Promise<never>(() => {});
  const app = await appFor(t, { store, explain: () => never, limits: { handlerTimeoutMs: 300 } });
  // Times out if the route has no handler timeout.
  const answer = await app.call('GET', `${url}/explain?batch=2&row=1`);
  assert.deepEqual([answer.statusCode, answer.json().code], [503, 'deadline-exceeded']);
});

describe('GET /v1/experiments/:id/explain', () => {
  test('GET explain passes the bytes of the recorded batch and the row to the verifier', async () => {
    const answer = (await call('GET', `${url}/explain?batch=2&row=1`)).json();
    assert.deepEqual(answer, { attempt: 1, batch: 2, step: 20, row: 1, explanation: { row: 1, levels: [] } });
    assert.deepEqual(asked.at(-1), [bytes[1], 1]);
  });

  test('GET explain refuses an unknown batch, a row out of range and a batch that cannot be verified', async () => {
    const cases: [string, number, string][] = [
      ['batch=6&row=0', 404, 'not-found'],
      ['batch=1&row=0&attempt=2', 404, 'not-found'],
      ['batch=1&row=4', 400, 'invalid-request'],
      ['batch=1&row=-1', 400, 'invalid-request'],
      ['batch=0&row=0', 400, 'invalid-request'],
      ['row=0', 400, 'invalid-request'],
      ['batch=1&row=99999999999', 400, 'invalid-request'],
      ['batch=1&row=3', 422, 'not-verifiable'],
      ['batch=1&row=2', 422, 'not-verifiable'],
    ];
    for (const [query, status, code] of cases) {
      const response = await call('GET', `${url}/explain?${query}`);
      assert.equal(response.statusCode, status, query);
      assert.equal(response.json().code, code, query);
    }
  });
});
