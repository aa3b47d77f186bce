import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { appFor, LOCAL, NO_STORE, REPLAY } from '../../../../support/http-app.ts';
import { storeFor } from '../../../../support/store.ts';

// Without a store: a dry run neither reads nor writes it.
const { call } = await appFor({ after });

test('a plan shows the resolved spec, its defaults, its fingerprint and the exact command', async () => {
  const response = await call('POST', '/v1/plans', { body: LOCAL });
  assert.equal(response.statusCode, 200);
  const plan = response.json();
  assert.equal(plan.resolved.rollout.groupSize, 8);
  assert.ok(plan.defaults.includes('/rollout/groupSize'));
  assert.match(plan.fingerprint, /^hgpo\(K=2,/);
  assert.equal(plan.plan.module, 'echelon_rayworker.engines.local');
  assert.ok(plan.commandLine.startsWith('python -m echelon_rayworker.engines.local '));
  for (const argument of plan.plan.arguments) assert.ok(plan.commandLine.includes(argument));
});

test('a plan names the secrets of its spec and states the deadline in UTC', async (t) => {
  const { store } = await storeFor(t);
  const { call: ask } = await appFor(t, { store });
  const body = {
    ...REPLAY,
    secrets: { HF_TOKEN: 'hf-read' },
    timeoutSeconds: 60,
    deadline: '2027-01-31T18:00:00Z',
  };
  const { plan, resolved } = (await ask('POST', '/v1/plans', { body })).json();
  assert.deepEqual(plan.secrets, { HF_TOKEN: 'hf-read' });
  assert.equal(resolved.deadline, '2027-01-31T18:00:00.000Z');
});

test('a replay has no fingerprint, and an invalid spec has no plan', async () => {
  assert.equal((await call('POST', '/v1/plans', { body: REPLAY })).json().fingerprint, null);
  const response = await call('POST', '/v1/plans', { body: { ...LOCAL, K: 1 } });
  assert.equal(response.statusCode, 400);
  assert.equal(response.json().problems[0].field, '/K');
});

test('a plan refuses an unknown cluster or label with the same problem as a submission', async (t) => {
  const { store } = await storeFor(t);
  const { call: ask } = await appFor(t, { store });
  for (const [more, field] of [
    [{ cluster: 'nowhere' }, '/cluster'],
    [{ clusterLabels: { gpu: 'h100' } }, '/clusterLabels'],
  ] as const) {
    const [planned, submitted] = [
      await ask('POST', '/v1/plans', { body: { ...LOCAL, ...more } }),
      await ask('POST', '/v1/experiments', { body: { ...LOCAL, ...more } }),
    ];
    assert.deepEqual([planned.statusCode, planned.json().problems[0].field], [400, field]);
    assert.deepEqual(planned.json(), submitted.json());
  }
});

test('every rule preset is listed with its condition in words', async (t) => {
  const { call } = await appFor(t, { store: NO_STORE });
  const { items } = (await call('GET', '/v1/rules/presets')).json();
  assert.equal(items.length, 16);
  const [signal, rows] = items;
  assert.deepEqual([signal.rule.name, signal.condition], ['wrong-signal', 'a wrong training signal']);
  assert.deepEqual([rows.rule.name, rows.condition], ['wrong-rows', 'wrongRows above 0']);
});
