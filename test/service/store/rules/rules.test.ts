import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerEvent, NumberedEvent, RuleEvent } from '../../../../src/core/events.ts';
import { makeChild } from '../../../../src/plan/sweep.ts';
import type { EarlyStopping } from '../../../../src/schemas/sweep.ts';
import type { RulesAdvance, SignalPage } from '../../../../src/store/rules/rules.ts';
import type { Store } from '../../../../src/store/store.ts';
import type { MakeChild } from '../../../../src/store/sweeps/types.ts';
import { claimed, running, storeFor, submitInput } from '../../../support/store.ts';
import { expandAll, sweepInput, sweepRequest } from '../../../support/sweep.ts';

type Verification = Extract<ControllerEvent, { type: 'verification' }>;

const RULES = [{ name: 'r', do: 'stop' }];
const input = { resolved: { engine: 'replay', priority: 0, rules: RULES } };

function firing(changes: Partial<RuleEvent> = {}): RuleEvent {
  const evidence = { condition: 'x above 0', values: [{ name: 'x', step: 1, value: 2, batch: 3 }] };
  return {
    type: 'rule',
    rule: 'r',
    do: 'stop',
    attempt: 1,
    step: 1,
    at: 5,
    batch: 3,
    reason: 'rule r: x was 2',
    evidence,
    ...changes,
  } as RuleEvent;
}

function advanceOf(page: SignalPage, changes: Partial<RulesAdvance> = {}): RulesAdvance {
  const { experiment, cursor, last } = page;
  return { experiment, cursor, last, memory: { seen: 1 }, due: null, fired: [], stop: null, ...changes };
}

async function withMetrics(store: Store, step = 1, sequence = 1) {
  const lease = await running(store, { input });
  await store.events.append(lease, [{ sequence, at: 1, event: { type: 'metrics', step, values: { x: 2 } } }]);
  return lease;
}

test('what rules may look at is taken by one, and stays until they were moved on', async (t) => {
  const { store } = await storeFor(t);
  const lease = await running(store, { input });
  assert.deepEqual((await store.rules.takeSignals(10, 60_000)).ids, []);
  const log = { type: 'log' as const, source: 'stdout' as const, lines: ['a'], cutBytes: 0 };
  await store.events.append(lease, [{ sequence: 1, at: 1, event: log }]);
  assert.deepEqual((await store.rules.takeSignals(10, 60_000)).ids, []);
  assert.equal(await store.rules.backlog(), 0);
  await store.events.append(lease, [
    { sequence: 2, at: 7, event: { type: 'metrics', step: 4, values: { x: 'NaN' } } },
  ]);
  const taken = await store.rules.takeSignals(10, 60_000);
  assert.deepEqual(taken.ids, [lease.experiment]);
  assert.ok(Math.abs(taken.now - Date.now()) < 60_000);
  assert.deepEqual((await store.rules.takeSignals(10, 60_000)).ids, []);
  assert.equal(await store.rules.backlog(), 1);

  const page = await store.rules.readSignals(lease.experiment, 100);
  assert.deepEqual(
    page.entries.map(({ id, at, event }) => [id, at, event]),
    [['1-2097152', 7, { type: 'metrics', step: 4, values: { x: 'NaN' } }]],
  );
  assert.deepEqual([page.cursor, page.memory, page.state, page.more], ['', null, 'running', false]);
  assert.deepEqual(page.resolved, input.resolved);
  // Something comes in between: it is not forgotten.
  await store.events.append(lease, [
    { sequence: 3, at: 8, event: { type: 'metrics', step: 5, values: { x: 1 } } },
  ]);
  assert.equal((await store.rules.advance(advanceOf(page))).outcome, 'ok');
  assert.deepEqual((await store.rules.takeSignals(10, 60_000)).ids, [lease.experiment]);
  const next = await store.rules.readSignals(lease.experiment, 100);
  assert.deepEqual([next.cursor, next.memory, next.entries.length], [page.last, { seen: 1 }, 1]);
  assert.equal(await store.rules.backlog(), 1);
  await store.rules.advance(advanceOf(next));
  assert.equal(await store.rules.backlog(), 0);
  assert.deepEqual((await store.rules.takeSignals(10, 0)).ids, []);
});

// Fails without the comparison of the cursor in advance-rules.lua; without that comparison, also without its HSETNX.
test('two who looked at the same entries record one event and stop once', async (t) => {
  const { store } = await storeFor(t);
  const { experiment } = await withMetrics(store);
  const pages = [
    await store.rules.readSignals(experiment, 100),
    await store.rules.readSignals(experiment, 100),
  ];
  const stop = { rule: 'r', reason: 'rule r: x was 2' };
  const done = await Promise.all(
    pages.map((page) => store.rules.advance(advanceOf(page, { fired: [firing()], stop }))),
  );
  assert.deepEqual(done.map(({ outcome }) => outcome).sort(), ['moved', 'ok']);
  // One who comes much later, under a cursor of its own, does not record it again either.
  const again = await store.rules.readSignals(experiment, 100);
  const late = await store.rules.advance(advanceOf(again, { fired: [firing({ reason: 'again' })] }));
  assert.deepEqual(late, { outcome: 'ok', stopped: false, recorded: [] });

  const events = (await store.events.read(experiment, undefined, 100)).map(({ event }) => event);
  assert.deepEqual(
    events.filter(({ type }) => type === 'rule'),
    [firing()],
  );
  const record = await store.experiments.get(experiment);
  assert.deepEqual([record?.state, record?.reason, record?.marks], ['cancelling', stop.reason, 1]);
  assert.deepEqual([record?.stoppedBy?.rule, record?.stoppedBy?.reason], ['r', stop.reason]);
  const { type: _type, rule: _rule, do: _do, ...fired } = firing();
  assert.deepEqual(record?.rules, [{ name: 'r', do: 'stop', fired: [fired] }]);
  assert.deepEqual(await store.rules.keptBatches(experiment), ['1:3']);
});

// Fails without the entry that advance-rules.lua tells to the feeds.
test('the feeds have what was recorded, once, with its evidence', async (t) => {
  const { store } = await storeFor(t);
  const { experiment } = await withMetrics(store);
  const page = await store.rules.readSignals(experiment, 100);
  await store.rules.advance(advanceOf(page, { fired: [firing()] }));
  const again = await store.rules.readSignals(experiment, 100);
  await store.rules.advance(advanceOf(again, { fired: [firing({ reason: 'again' })] }));
  const { project } = (await store.experiments.get(experiment))!;
  for (const feed of [project, null]) {
    const told = (await store.feed.read(feed, '0', 100)).filter(({ event }) => event.type === 'rule');
    assert.deepEqual(
      told.map((entry) => [entry.experiment, entry.event]),
      [[experiment, firing()]],
      String(feed),
    );
  }
});

test('the end says by which rule it was stopped, and how the driver ended', async (t) => {
  const { store } = await storeFor(t);
  const lease = await withMetrics(store);
  const page = await store.rules.readSignals(lease.experiment, 100);
  await store.rules.advance(advanceOf(page, { stop: { rule: 'r', reason: 'rule r: x was 2' } }));
  assert.equal(
    await store.attempts.end(lease, { to: 'cancelled', reason: 'cancelled; the driver was stopped' }),
    'cancelled',
  );
  assert.equal(
    (await store.experiments.get(lease.experiment))?.reason,
    'rule r: x was 2; the driver was stopped',
  );
});

test('one that waits for its next attempt is cancelled at once; one that has ended is only marked', async (t) => {
  const { store } = await storeFor(t);
  const lease = await withMetrics(store);
  await store.attempts.end(lease, { to: 'queued', reason: 'the node was lost' });
  const page = await store.rules.readSignals(lease.experiment, 100);
  const stop = { rule: 'r', reason: 'rule r' };
  await store.rules.advance(advanceOf(page, { stop }));
  const record = await store.experiments.get(lease.experiment);
  assert.deepEqual([record?.state, record?.reason, await store.queue.ids(10)], ['cancelled', 'rule r', []]);

  const ended = await withMetrics(store);
  await store.attempts.end(ended, { to: 'succeeded', reason: 'done' });
  const last = await store.rules.readSignals(ended.experiment, 100);
  const done = await store.rules.advance(advanceOf(last, { fired: [firing()], stop }));
  assert.deepEqual(done, { outcome: 'ok', stopped: false, recorded: ['r'] });
  const over = await store.experiments.get(ended.experiment);
  assert.deepEqual([over?.state, over?.marks, over?.stoppedBy], ['succeeded', 1, null]);
});

test('a cancel by a person stays one', async (t) => {
  const { store } = await storeFor(t);
  const lease = await withMetrics(store);
  await store.experiments.cancel(lease.experiment, 'not needed');
  const page = await store.rules.readSignals(lease.experiment, 100);
  const done = await store.rules.advance(advanceOf(page, { stop: { rule: 'r', reason: 'rule r' } }));
  assert.deepEqual(done, { outcome: 'ok', stopped: false, recorded: [] });
  await store.attempts.end(lease, { to: 'cancelled', reason: 'cancelled; stopped' });
  assert.equal((await store.experiments.get(lease.experiment))?.reason, 'cancelled; stopped');
});

test('a wait for a checkpoint brings the experiment back by the clock', async (t) => {
  const { store, redis } = await storeFor(t);
  const { experiment } = await withMetrics(store);
  const page = await store.rules.readSignals(experiment, 100);
  await store.rules.advance(advanceOf(page, { due: Date.now() + 3_600_000 }));
  assert.deepEqual((await store.rules.takeSignals(10, 0)).ids, []);
  await redis.zadd('{echelon}:signals:waits', 1, experiment);
  assert.deepEqual((await store.rules.takeSignals(10, 0)).ids, [experiment]);
  const none = await store.rules.readSignals(experiment, 100);
  assert.deepEqual([none.entries, none.last], [[], none.cursor]);
  await store.rules.advance(advanceOf(none));
  assert.equal(await redis.zcard('{echelon}:signals:waits'), 0);
});

test('a report is something to look at, also after the end', async (t) => {
  const { store } = await storeFor(t);
  const lease = await running(store, { input });
  const part = {
    type: 'batch',
    step: 1,
    batch: 1,
    index: 0,
    count: 1,
    rows: 2,
    digest: 'd',
    bytes: 1,
  } as const;
  await store.events.append(lease, [{ sequence: 1, at: 1, event: part, data: new Uint8Array(1) }]);
  await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
  const batch = (await store.batches.get(lease.experiment, 1, 1))!;
  const event: Verification = {
    type: 'verification',
    attempt: 1,
    batch: 1,
    step: 1,
    rows: 2,
    exact: 1,
    rounding: 0,
    wrong: 1,
    unverifiable: 0,
    errors: ['wrong-rows'],
    ok: false,
  };
  await store.batches.report(batch, event, {});
  assert.deepEqual((await store.rules.takeSignals(10, 0)).ids, [lease.experiment]);
  const { entries } = await store.rules.readSignals(lease.experiment, 100);
  assert.deepEqual(
    entries.map((entry) => entry.event.type),
    ['batch', 'verification'],
  );
  await store.rules.dropSignals(lease.experiment);
  assert.deepEqual((await store.rules.takeSignals(10, 0)).ids, []);
});

// Fails where a follower does not ask whether rules still look: it ends before the rule that fires last.
test('a follower waits for the rules of an experiment that has ended', async (t) => {
  const { store, redis } = await storeFor(t);
  const lease = await withMetrics(store);
  await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
  const following = store.events.follow(lease.experiment, undefined, new AbortController().signal);
  const entries = following[Symbol.asyncIterator]();
  for (let over = false; !over; ) {
    const { event } = (await entries.next()).value!;
    over = event.type === 'state' && event.to === 'succeeded';
  }
  const next = entries.next();
  // Each of its questions and each of these take one turn on the same connection: it has found nothing more by then.
  for (let turn = 0; turn < 20; turn++) await redis.ping();
  await store.rules.advance(
    advanceOf(await store.rules.readSignals(lease.experiment, 10), { fired: [firing()] }),
  );
  assert.equal((await next).value?.event.type, 'rule');
  assert.equal((await entries.next()).done, true);
});

// Fails where only the rules of its own spec are asked for.
test('a stream is not over while the early stopping of its sweep may fire', async (t) => {
  const { store } = await storeFor(t);
  const metrics: NumberedEvent[] = [
    { sequence: 1, at: 1, event: { type: 'metrics', step: 1, values: { x: 2 } } },
  ];
  for (const isStopping of [true, false]) {
    const earlyStopping = isStopping ? ({ metric: 'x', goal: 'max' } as EarlyStopping) : null;
    const { id } = await store.sweeps.create(sweepInput(sweepRequest(1), { earlyStopping }));
    const withoutRules: MakeChild = (base, entry) => ({ ...makeChild(base, entry), resolved: { rules: [] } });
    const [child] = await expandAll(store, id, withoutRules);
    const lease = await claimed(store, child!);
    await store.attempts.confirm(lease);
    await store.events.append(lease, metrics);
    assert.equal(await store.events.isOver(child!), false);
    await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
    assert.equal(await store.events.isOver(child!), !isStopping);
    await store.rules.dropSignals(child!);
    assert.equal(await store.events.isOver(child!), true);
  }
});

test('what is gone is not looked at again; older records have no rules', async (t) => {
  const { store, redis } = await storeFor(t);
  await redis.zadd('{echelon}:signals', 1, 'exp-gone');
  const gone = await store.rules.readSignals('exp-gone', 10);
  assert.deepEqual([gone.state, gone.resolved], [null, null]);
  assert.equal((await store.rules.advance(advanceOf(gone))).outcome, 'gone');
  assert.deepEqual((await store.rules.takeSignals(10, 0)).ids, []);
  const { id } = await store.experiments.submit(submitInput());
  await claimed(store, id);
  const record = await store.experiments.get(id);
  assert.deepEqual([record?.rules, record?.marks, record?.stoppedBy], [[], 0, null]);
});

test('running averages of the other children at a step', async (t) => {
  const { store, redis } = await storeFor(t);
  const at = (index: number, average: number, step = 5) =>
    store.sweeps.recordAverage({ sweep: 'swp-a', index, step, average });
  assert.deepEqual(await at(0, 0.5), []);
  assert.deepEqual(await at(1, 0.25), [0.5]);
  assert.deepEqual(await at(1, 0.25), [0.5]);
  assert.deepEqual((await at(2, 1)).sort(), [0.25, 0.5]);
  // Fails if a full store stops early stopping.
  await redis.config('SET', 'maxmemory', '1mb');
  assert.deepEqual(await at(3, 1, 10), []);
  assert.ok((await redis.ttl('{echelon}:sweep:swp-a:average:10')) > 80 * 86_400);
});
