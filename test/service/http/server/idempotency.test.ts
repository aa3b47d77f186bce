import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { makeKey } from '../../../support/access.ts';
import { appFor, REPLAY } from '../../../support/http-app.ts';
import { wholeOperations } from '../../../support/openapi.ts';
import { storeFor } from '../../../support/store.ts';

const { store, redis } = await storeFor({ after });
const { app, call } = await appFor({ after }, { store });

async function submitted(): Promise<string> {
  return (await call('POST', '/v1/experiments', { body: REPLAY })).json().id;
}
const cancel = (id: string, key: string, body?: object) =>
  call('POST', `/v1/experiments/${id}/cancel`, {
    headers: { 'idempotency-key': key },
    ...(body !== undefined && { body }),
  });

describe('an Idempotency-Key', () => {
  // Fails without the stored answer: the second cancel finds nothing to cancel.
  test('a repeated Idempotency-Key returns the stored answer and does not repeat the action', async () => {
    const id = await submitted();
    const first = await cancel(id, 'repeat');
    assert.equal(first.statusCode, 202);
    assert.equal(first.headers['idempotency-replayed'], undefined);
    const again = await cancel(id, 'repeat');
    assert.equal(again.statusCode, 202);
    assert.equal(again.body, first.body);
    assert.equal(again.headers['content-type'], first.headers['content-type']);
    assert.equal(again.headers['idempotency-replayed'], 'true');
    assert.equal((await cancel(id, 'another')).statusCode, 409);
  });

  // Fails if every final refusal is stored: some kilobytes each, for a day.
  test('a refusal is stored under its Idempotency-Key only if it is short', async () => {
    const kept = async () => (await redis.keys('{echelon}:answer:*')).length;
    const ask = (key: string, count: number) => {
      const overrides = Object.fromEntries(Array.from({ length: count }, (_one, at) => [`data.no${at}`, 1]));
      const spec = { engine: 'verl-agent', name: 'x', recipe: 'qwen2.5_1.5b_alfworld_train', overrides };
      return call('POST', '/v1/preflight', { headers: { 'idempotency-key': key }, body: spec });
    };
    const before = await kept();
    const [short, long] = [await ask('short', 1), await ask('long', 90)];
    assert.deepEqual([short.statusCode, long.statusCode], [400, 400]);
    assert.ok(long.body.length > 2048);
    assert.equal(await kept(), before + 1);
    assert.equal((await ask('short', 1)).headers['idempotency-replayed'], 'true');
    const again = await ask('long', 90);
    assert.deepEqual([again.body, again.headers['idempotency-replayed']], [long.body, undefined]);
  });

  test('an Idempotency-Key with another path or body gets 409 idempotency-conflict', async () => {
    const [one, two] = [await submitted(), await submitted()];
    await cancel(one, 'belongs', { reason: 'a' });
    for (const [id, reason] of [
      [two, 'a'],
      [one, 'b'],
    ] as const) {
      const other = await cancel(id, 'belongs', { reason });
      assert.deepEqual([other.statusCode, other.json().code], [409, 'idempotency-conflict']);
    }
    assert.equal((await store.experiments.get(two))?.state, 'queued');
  });

  // Fails if the key of a stored answer does not contain the caller.
  test('an Idempotency-Key of another caller does not return the stored answer', async () => {
    const { token } = await makeKey(store, { scopes: ['submit'] });
    const id = await submitted();
    assert.equal((await cancel(id, 'shared')).statusCode, 202);
    const headers = { 'idempotency-key': 'shared' };
    const other = await call('POST', `/v1/experiments/${id}/cancel`, { headers, token });
    assert.deepEqual([other.statusCode, other.headers['idempotency-replayed']], [409, undefined]);
    const refused = await call('POST', `/v1/experiments/${id}/cancel`, {
      headers: { 'idempotency-key': 'shared' },
      token: (await makeKey(store)).token,
    });
    assert.equal(refused.statusCode, 403);
  });

  // Fails if the key of a stored answer does not contain the caller, or if submissions use separate keys.
  test('the Idempotency-Key of a submission belongs to its caller and to that request', async () => {
    const submit = (body: object, token?: string) =>
      call('POST', '/v1/experiments', {
        headers: { 'idempotency-key': 'submitted' },
        body,
        ...(token !== undefined && { token }),
      });
    const { id } = (await submit(REPLAY)).json();
    assert.equal((await submit(REPLAY)).json().id, id);
    const { token } = await makeKey(store, { scopes: ['submit'] });
    const other = await submit(REPLAY, token);
    assert.equal(other.statusCode, 202);
    assert.notEqual(other.json().id, id);
    for (const answer of [await submit({ ...REPLAY, priority: 1 }), await cancel(id, 'submitted')]) {
      assert.deepEqual([answer.statusCode, answer.json().code], [409, 'idempotency-conflict']);
    }
    assert.equal((await store.experiments.get(id))?.state, 'queued');
  });

  test('an Idempotency-Key stores final refusals and no server errors', async () => {
    const gone = 'exp-00000000000000000000';
    const refused = await cancel(gone, 'refused');
    assert.equal(refused.statusCode, 404);
    const again = await cancel(gone, 'refused');
    assert.deepEqual([again.body, again.headers['idempotency-replayed']], [refused.body, 'true']);

    const id = await submitted();
    let broken = true;
    const cancelOrFail: typeof store.experiments.cancel = (...args) =>
      broken ? Promise.reject(new Error('broken')) : store.experiments.cancel(...args);
    const faulty = { ...store, experiments: { ...store.experiments, cancel: cancelOrFail } };
    const { call: callFaulty } = await appFor({ after }, { store: faulty });
    const headers = { 'idempotency-key': 'faulty' };
    assert.equal((await callFaulty('POST', `/v1/experiments/${id}/cancel`, { headers })).statusCode, 500);
    broken = false;
    const answer = await callFaulty('POST', `/v1/experiments/${id}/cancel`, { headers });
    assert.deepEqual([answer.statusCode, answer.headers['idempotency-replayed']], [202, undefined]);
  });

  // Fails without the claim: several requests are executed.
  test('of 30 parallel requests with one Idempotency-Key one is executed, and the others get its answer or 409', async () => {
    const id = await submitted();
    const answers = await Promise.all(Array.from({ length: 30 }, () => cancel(id, 'parallel')));
    const fresh = answers.filter(
      ({ statusCode, headers }) => statusCode === 202 && !headers['idempotency-replayed'],
    );
    assert.equal(fresh.length, 1);
    for (const answer of answers) {
      if (answer.statusCode === 202) assert.equal(answer.body, fresh[0]!.body);
      else {
        assert.deepEqual([answer.statusCode, answer.json().code], [409, 'idempotency-in-progress']);
        assert.equal(answer.headers['retry-after'], '1');
      }
    }
  });

  test('an Idempotency-Key that is empty, has spaces, or is longer than 255 characters gets 400', async () => {
    for (const key of ['', 'a b', 'k'.repeat(256), 'é']) {
      const answer = await cancel(await submitted(), key);
      assert.deepEqual(
        [answer.statusCode, answer.json().problems?.[0]?.field],
        [400, 'idempotency-key'],
        key,
      );
    }
  });

  test('an answer with a secret is not stored under its Idempotency-Key', async () => {
    const body = { name: 'a key', scopes: ['read'] };
    const headers = { 'idempotency-key': 'secretive' };
    const first = await call('POST', '/v1/keys', { body, headers });
    assert.equal(first.statusCode, 201, first.body);
    const again = await call('POST', '/v1/keys', { body, headers });
    assert.deepEqual([again.statusCode, again.json().code], [409, 'idempotency-conflict']);
    const kept: string[] = [];
    for (const key of await redis.keys('*:answer:*')) kept.push(JSON.stringify(await redis.hgetall(key)));
    assert.ok(kept.length > 3);
    const { secret, key: whole } = first.json();
    for (const text of kept) assert.ok(!text.includes(secret ?? whole), text);
  });

  test('an Idempotency-Key has no effect on a request that stores nothing', async () => {
    const headers = { 'idempotency-key': 'plan' };
    assert.equal((await call('POST', '/v1/plans', { body: REPLAY, headers })).statusCode, 200);
    assert.equal(
      (await call('POST', '/v1/plans', { body: { ...REPLAY, name: 'b' }, headers })).statusCode,
      200,
    );
  });

  test('a stored answer expires within a day', async () => {
    for (const key of await redis.keys('*:answer:*')) {
      // The key of a submission, which stores the id of its experiment, expires later.
      if ((await redis.hget(key, 'answer'))?.startsWith('exp-')) continue;
      const left = await redis.pttl(key);
      assert.ok(left > 0 && left <= 24 * 3600 * 1000, key);
    }
  });
});

test('every POST of the API documents the header Idempotency-Key', () => {
  const paths = wholeOperations(app.swagger()).paths as Record<
    string,
    Record<string, { parameters?: { name: string }[] }>
  >;
  let posts = 0;
  for (const [path, { post }] of Object.entries(paths)) {
    if (post === undefined || !path.startsWith('/v1/')) continue;
    posts += 1;
    assert.ok(
      post.parameters?.some(({ name }) => name === 'idempotency-key'),
      path,
    );
  }
  assert.ok(posts > 5);
});
