import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { resolveRules } from '../../../../../src/plan/rules.ts';
import { appFor } from '../../../../support/http-app.ts';
import { running, storeFor } from '../../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const { call } = await appFor(scope, { store });

test('an experiment shows its rules with their conditions in words and when they fired', async () => {
  const rules = resolveRules([{ preset: 'kl-high', do: 'stop' }, { preset: 'coverage' }]);
  const lease = await running(store, { input: { resolved: { engine: 'replay', priority: 0, rules } } });
  await store.events.append(lease, [
    { sequence: 1, at: 1, event: { type: 'metrics', step: 7, values: { 'actor/ppo_kl': 1 } } },
  ]);
  const { cursor, last } = await store.rules.readSignals(lease.experiment, 10);
  const evidence = {
    condition: 'actor/ppo_kl above 0.1',
    values: [{ name: 'actor/ppo_kl', step: 7, value: 1, batch: null }],
  };
  const fired = { attempt: 1, step: 7, at: 1, batch: null, reason: 'rule kl-high', evidence };
  await store.rules.advance({
    experiment: lease.experiment,
    cursor,
    last,
    memory: {},
    due: null,
    fired: [{ type: 'rule', rule: 'kl-high', do: 'stop', ...fired }],
    stop: { rule: 'kl-high', reason: 'rule kl-high' },
  });
  const answer = (await call('GET', `/v1/experiments/${lease.experiment}/rules`)).json();
  assert.equal(answer.marks, 1);
  assert.equal(answer.stoppedBy.rule, 'kl-high');
  assert.deepEqual(answer.rules[0].fired, [fired]);
  assert.deepEqual(
    answer.rules.map((rule: { name: string; condition: string }) => [rule.name, rule.condition]),
    [
      ['kl-high', 'actor/ppo_kl above 0.1'],
      ['coverage', 'coverage below 0.9'],
    ],
  );
  const record = (await call('GET', `/v1/experiments/${lease.experiment}`)).json();
  assert.deepEqual([record.state, record.marks, record.stoppedBy.rule], ['cancelling', 1, 'kl-high']);
  assert.deepEqual(record.rules[0].fired, [fired]);
  assert.equal((await call('GET', '/v1/experiments/exp-0/rules')).statusCode, 404);
});
