import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRulesRound } from '../../../../src/dispatch/background/rules.ts';
import { resolveRules } from '../../../../src/plan/rules.ts';
import type { RuleSpec } from '../../../../src/schemas/rules.ts';
import type { Lease } from '../../../../src/store/attempts/types.ts';
import type { Store } from '../../../../src/store/store.ts';
import { QUIET, until } from '../../../support/dispatch.ts';
import { claimed, running, storeFor, submitInput } from '../../../support/store.ts';
import { expandAll, sweepInput, sweepRequest } from '../../../support/sweep.ts';

const queue = { async remove() {} };
const deps = { queue, log: QUIET, leaseMs: 60_000 };

async function started(store: Store, rules: RuleSpec[]): Promise<Lease> {
  return running(store, {
    input: { resolved: { engine: 'replay', priority: 0, rules: resolveRules(rules) } },
  });
}

async function tell(store: Store, lease: Lease, values: readonly number[], first = 1): Promise<void> {
  await store.events.append(
    lease,
    values.map((value, at) => ({
      sequence: first + at,
      at: 1,
      event: { type: 'metrics' as const, step: first + at, values: { x: value } },
    })),
  );
}

async function ruleEvents(store: Store, id: string) {
  return (await store.events.read(id, undefined, 10_000)).flatMap(({ event }) =>
    event.type === 'rule' ? [event] : [],
  );
}

test('a rule stops an experiment once and states why, with any number of dispatchers', async (t) => {
  const { store } = await storeFor(t);
  const lease = await started(store, [
    { name: 'high', when: { metric: ['x'], above: 1 }, for: 2, do: 'stop' },
  ]);
  await tell(store, lease, [2]);
  await createRulesRound({ store, ...deps })();
  assert.equal((await store.experiments.get(lease.experiment))?.marks, 0);
  await tell(store, lease, [3, 4, 5], 2);
  // Another dispatcher continues from the recorded state.
  await Promise.all([createRulesRound({ store, ...deps })(), createRulesRound({ store, ...deps })()]);
  await tell(store, lease, [6, 7], 5);
  await createRulesRound({ store, ...deps })();
  const [event, ...more] = await ruleEvents(store, lease.experiment);
  assert.deepEqual([event?.rule, event?.step, more.length], ['high', 2, 0]);
  const record = await store.experiments.get(lease.experiment);
  assert.equal(record?.state, 'cancelling');
  assert.equal(record?.reason, 'rule high: x was 3 at step 2 (x above 1, 2 times in a row)');
});

test('a rule that stops a queued experiment removes its job, and leaves the job of a running one', async (t) => {
  const { store } = await storeFor(t);
  const rules: RuleSpec[] = [{ when: { metric: ['x'], above: 1 }, do: 'stop' }];
  const [queued, other] = [await started(store, rules), await started(store, rules)];
  for (const lease of [queued, other]) await tell(store, lease, [2]);
  await store.attempts.end(queued, { to: 'queued', reason: 'the node was lost' });
  const removed: string[] = [];
  const round = createRulesRound({
    store,
    ...deps,
    queue: { remove: async (ids) => void removed.push(...ids) },
  });
  await round();
  assert.equal((await store.experiments.get(queued.experiment))?.state, 'cancelled');
  assert.equal((await store.experiments.get(other.experiment))?.state, 'cancelling');
  assert.deepEqual(removed, [queued.experiment]);
});

test('an experiment without rules has no stored state, and a failure of one stops no other', async (t) => {
  const { store, redis } = await storeFor(t);
  const none = await running(store);
  await tell(store, none, [1]);
  const bad = await started(store, [{ preset: 'coverage' }]);
  await tell(store, bad, [1]);
  const good = await started(store, [{ when: { metric: ['x'], above: 0 } }]);
  await tell(store, good, [1]);
  const readSignals: Store['rules']['readSignals'] = (id, limit) =>
    id === bad.experiment ? Promise.reject(new Error('away')) : store.rules.readSignals(id, limit);
  await createRulesRound({ ...deps, store: { ...store, rules: { ...store.rules, readSignals } } })();
  assert.equal((await ruleEvents(store, good.experiment)).length, 1);
  assert.equal(await redis.exists(`{echelon}:x:${none.experiment}:rules`), 0);
  assert.deepEqual(await redis.zrange('{echelon}:signals', '0', '-1'), [bad.experiment]);
});

/* Fails if experiments without rules are not remembered. */
test('the stream of an experiment without rules is read once', async (t) => {
  const { store } = await storeFor(t);
  const none = await running(store);
  const some = await started(store, [{ when: { metric: ['x'], above: 1 } }]);
  const read: string[] = [];
  const readSignals: Store['rules']['readSignals'] = (id, limit) => {
    read.push(id);
    return store.rules.readSignals(id, limit);
  };
  const round = createRulesRound({ ...deps, store: { ...store, rules: { ...store.rules, readSignals } } });
  for (let at = 1; at <= 3; at++) {
    await tell(store, none, [at], at);
    await tell(store, some, [at], at);
    await round();
    assert.deepEqual((await store.rules.takeSignals(10, 1)).ids, []);
  }
  assert.equal(read.filter((id) => id === none.experiment).length, 1);
  assert.equal(read.filter((id) => id === some.experiment).length, 3);
  assert.equal((await ruleEvents(store, some.experiment)).length, 1);
});

test('one round evaluates many experiments and long streams', async (t) => {
  const { store } = await storeFor(t);
  const leases: Lease[] = [];
  for (let at = 0; at < 70; at++)
    leases.push(await started(store, [{ when: { metric: ['x'], above: 1500 } }]));
  const values = Array.from({ length: 1600 }, (_v, at) => at + 1);
  await tell(store, leases[0]!, values);
  for (const lease of leases.slice(1)) await tell(store, lease, [2000]);
  await createRulesRound({ store, ...deps })();
  for (const lease of leases) assert.equal((await store.experiments.get(lease.experiment))?.marks, 1);
  assert.equal((await ruleEvents(store, leases[0]!.experiment))[0]?.step, 1501);
});

test('an experiment that waits for a checkpoint is stopped after its time although no event follows', async (t) => {
  const { store, redis } = await storeFor(t);
  const within = { minutes: 0.0001 };
  const rule: RuleSpec = { when: { metric: ['x'], above: 0 }, do: 'stop-at-checkpoint', within };
  const lease = await started(store, [rule]);
  await tell(store, lease, [1]);
  await createRulesRound({ store, ...deps })();
  assert.equal((await store.experiments.get(lease.experiment))?.state, 'running');
  assert.equal(await redis.zcard('{echelon}:signals:waits'), 1);
  const record = await until(async () => {
    await createRulesRound({ store, ...deps })();
    const now = await store.experiments.get(lease.experiment);
    return now?.state === 'cancelling' ? now : undefined;
  }, 'it is stopped');
  assert.match(record.reason, /no checkpoint came in 0.0001 minutes$/);
});

test('early stopping ends the child that is worse than the median, once, and counts it', async (t) => {
  const { store } = await storeFor(t);
  const earlyStopping = { metric: 'x', goal: 'max', afterSteps: 3, everySteps: 2, minChildren: 2 } as const;
  const { id } = await store.sweeps.create(sweepInput(sweepRequest(3), { earlyStopping }));
  const leases: Lease[] = [];
  for (const child of await expandAll(store, id)) {
    const lease = await claimed(store, child);
    await store.attempts.confirm(lease);
    leases.push(lease);
  }
  const [good, fair, poor] = leases as [Lease, Lease, Lease];
  // The poor one comes to its first look before there are enough others, and to its second when there are.
  await tell(store, poor, [0.1, 0.2, 0.1]);
  await createRulesRound({ store, ...deps })();
  await tell(store, good, [0.5, 0.9, 0.9, 0.9, 0.9]);
  await tell(store, fair, [0.5, 0.4, 0.6, 0.7, 0.6]);
  await createRulesRound({ store, ...deps })();
  assert.equal((await store.sweeps.get(id))?.stoppedEarly, 0);
  await tell(store, poor, [0.2, 0.15, 0.1, 0.1], 4);
  await Promise.all([createRulesRound({ store, ...deps })(), createRulesRound({ store, ...deps })()]);
  const record = await store.experiments.get(poor.experiment);
  assert.equal(record?.stoppedBy?.rule, 'early-stopping');
  assert.equal(
    record?.reason,
    'early stopping: the best x by step 5 was 0.2, the median of the running averages of 2 others 0.69',
  );
  assert.equal((await ruleEvents(store, poor.experiment)).length, 1);
  assert.equal((await store.sweeps.get(id))?.stoppedEarly, 1);
  for (const lease of [good, fair])
    assert.equal((await store.experiments.get(lease.experiment))?.state, 'running');
});

test('an ended child counts in the comparison and is not stopped', async (t) => {
  const { store } = await storeFor(t);
  const earlyStopping = { metric: 'x', goal: 'max', afterSteps: 1, everySteps: 1, minChildren: 1 } as const;
  const { id } = await store.sweeps.create(sweepInput(sweepRequest(2), { earlyStopping }));
  const [good, poor] = await expandAll(store, id);
  for (const [child, value] of [
    [good!, 0.9],
    [poor!, 0.1],
  ] as const) {
    const lease = await claimed(store, child);
    await store.attempts.confirm(lease);
    await tell(store, lease, [value]);
    await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
    await createRulesRound({ store, ...deps })();
  }
  assert.equal((await store.experiments.get(poor!))?.marks, 0);
  assert.equal((await store.sweeps.get(id))?.stoppedEarly, 0);
  const others = await store.sweeps.recordAverage({ sweep: id, index: 9, step: 1, average: 0 });
  assert.deepEqual(others.toSorted(), [0.1, 0.9]);
});

test('an experiment without a sweep and rules is not stopped', async (t) => {
  const { store } = await storeFor(t);
  const { id } = await store.experiments.submit(submitInput());
  await createRulesRound({ store, ...deps })();
  assert.equal((await store.experiments.get(id))?.state, 'queued');
});
