import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { AuditEntry } from '../../../../src/schemas/audit.ts';
import type { Store } from '../../../../src/store/store.ts';
import { makeKey } from '../../../support/access.ts';
import { until } from '../../../support/dispatch.ts';
import { appFor, REPLAY, TOKEN } from '../../../support/http-app.ts';
import { storeFor, submitInput } from '../../../support/store.ts';

const { store } = await storeFor({ after });
const { call } = await appFor({ after }, { store, limits: { failedSignIns: 10_000 } });

/** The newest entry. */
async function newest(): Promise<AuditEntry | undefined> {
  return (await store.audit.page(1, undefined))[0];
}

describe('the audit log', () => {
  test('an audit entry names the caller, the action, the target and the outcome, and holds nothing of the body', async () => {
    const { id: caller, token } = await makeKey(store, { scopes: ['read', 'submit'], name: 'ci' });
    const made = await call('POST', '/v1/experiments', { token, body: { ...REPLAY, name: 'PRIVATE' } });
    const { id } = made.json();
    const entry = await newest();
    assert.deepEqual(
      { ...entry, id: undefined, at: undefined, requestId: undefined },
      {
        id: undefined,
        at: undefined,
        requestId: undefined,
        address: '127.0.0.1',
        note: null,
        caller,
        name: 'ci',
        project: null,
        action: 'submitExperiment',
        target: id,
        status: 202,
        outcome: 'done',
        code: null,
      },
    );
    await call('POST', `/v1/experiments/${id}/cancel`, { token });
    assert.deepEqual([(await newest())?.action, (await newest())?.target], ['cancelExperiment', id]);
    await call('POST', `/v1/experiments/${id}/cancel`, { token });
    const again = await until(async () => {
      const last = await newest();
      return last?.outcome === 'refused' && last;
    }, 'the refusal is there');
    assert.deepEqual([again.code, again.status, again.target], ['already-final', 409, id]);
    const all = JSON.stringify(await store.audit.page(100, undefined));
    for (const secret of ['PRIVATE', token.slice(-43), TOKEN]) assert.ok(!all.includes(secret));
  });

  test('a submission has one audit entry, and its repetition has none', async () => {
    const asked = async () =>
      (await store.audit.page(1000, undefined))
        .filter(({ target }) => target === id)
        .map(({ action }) => action);
    const headers = { 'idempotency-key': 'audited' };
    const { id } = (await call('POST', '/v1/experiments', { body: REPLAY, headers })).json();
    // Two entries if both the store's script and the answer write one.
    assert.deepEqual(await asked(), ['submitExperiment']);
    await call('POST', '/v1/experiments', { body: REPLAY, headers });
    assert.deepEqual(await asked(), ['submitExperiment']);
  });

  test('a replayed answer and a repeated sweep have no audit entry', async () => {
    const before = async () => (await store.audit.page(1000, undefined)).length;
    const sweep = { name: 's', method: 'list', spec: { engine: 'replay' }, axes: { 'replay.batches': [1] } };
    for (const [path, body] of [
      ['/v1/queues/default/pause', { reason: 'x' }],
      ['/v1/sweeps', sweep],
    ] as const) {
      const headers = { 'idempotency-key': `audited-${path}` };
      const first = await call('POST', path, { body, headers });
      assert.ok(first.statusCode < 300, first.body);
      const entries = await before();
      assert.equal((await call('POST', path, { body, headers })).statusCode, first.statusCode);
      assert.equal(await before(), entries, path);
    }
    await call('POST', '/v1/queues/default/resume');
  });

  test('reads, dry runs and unknown paths have no audit entry', async () => {
    const before = (await newest())?.id;
    await call('GET', '/v1/experiments');
    await call('POST', '/v1/plans', { body: REPLAY });
    await call('POST', '/v1/nothing', { body: {} });
    assert.equal((await newest())?.id, before);
  });

  test('a sign-in has an audit entry', async () => {
    await call('POST', '/login', { token: null, body: { token: TOKEN } });
    assert.deepEqual([(await newest())?.action, (await newest())?.outcome], ['signIn', 'done']);
  });

  test('a refused request has an audit entry, which points out a token in the query', async () => {
    const { id: caller, token } = await makeKey(store, { scopes: ['read'] });
    const before = (await newest())?.id;
    const since = async () => (await store.audit.page(10, undefined)).filter(({ id }) => id > (before ?? ''));
    await call('GET', `/v1/experiments?access_token=${TOKEN}`, { token: null });
    await call('POST', '/v1/experiments', { token, body: REPLAY });
    const [second, first] = await until(async () => {
      const entries = await since();
      return entries.length === 2 && entries;
    }, 'both refusals are there');
    assert.deepEqual([first?.caller, first?.status, first?.code], [null, 401, 'unauthenticated']);
    assert.match(first?.note ?? '', /query seems to contain a token/);
    assert.deepEqual([second?.caller, second?.status, second?.action], [caller, 403, 'submitExperiment']);
  });

  test('the audit log stores at most 60 refusals a minute and counts the omitted ones', async () => {
    let now = 10 * 60_000;
    const guessed = await appFor({ after }, { store, now: () => now, limits: { failedSignIns: 10_000 } });
    const count = async () => (await store.audit.page(1000, undefined)).length;
    const before = await count();
    for (let at = 0; at < 200; at += 1) await guessed.call('GET', '/v1/sweeps', { token: 'wrong' });
    // Fails without REFUSALS_A_MINUTE.
    await until(async () => (await count()) - before === 60, 'sixty entries are there');
    // Refusals of an authenticated caller are counted separately.
    const { id: caller, token } = await makeKey(store, { scopes: ['submit'] });
    for (let at = 0; at < 70; at += 1) await guessed.call('POST', '/v1/experiments', { token, body: {} });
    const own = async () =>
      (await store.audit.page(1000, undefined)).filter((entry) => entry.caller === caller);
    await until(async () => (await own()).length === 60, 'sixty of theirs are there');
    now += 60_000;
    await guessed.call('GET', '/v1/sweeps', { token: 'wrong' });
    await until(async () => /10 refusals/.test((await newest())?.note ?? ''), 'the others are counted');
  });
});

/** The same store, whose audit log is written by `record`. */
function withAudit(record: Store['audit']['record']): Store {
  return { ...store, audit: { ...store.audit, record } };
}

test('the answer to a write waits until its audit entry is stored', async () => {
  const [asked, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = withAudit(async () => {
    asked.resolve();
    await written.promise;
  });
  const { call: send } = await appFor({ after }, { store: slow, limits: { storeTimeoutMs: 60_000 } });
  const { id } = await store.experiments.submit(submitInput());
  let answered = false;
  const answer = send('POST', `/v1/experiments/${id}/cancel`).then(() => {
    answered = true;
  });
  await asked.promise;
  await new Promise((resolve) => setImmediate(resolve));
  // Fails if the entry is written after the answer.
  assert.equal(answered, false);
  written.resolve();
  await answer;
});

test('an audit entry that cannot be stored is logged, and the request succeeds', async () => {
  const broken = withAudit(async () => {
    throw new Error('away');
  });
  const { call: send, logged } = await appFor({ after }, { store: broken });
  const { id } = await store.experiments.submit(submitInput());
  assert.equal((await send('POST', `/v1/experiments/${id}/cancel`)).statusCode, 202);
  const line = logged.find(({ audit }) => audit !== undefined);
  assert.equal((line?.audit as AuditEntry | undefined)?.action, 'cancelExperiment');
});
