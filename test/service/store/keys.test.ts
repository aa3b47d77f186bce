import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Redis } from 'ioredis';
import type { NumberedEvent, RuleEvent } from '../../../src/core/events.ts';
import { newCommandId, newExperimentId, newSubscriptionId } from '../../../src/core/ids.ts';
import { makeChild } from '../../../src/plan/sweep.ts';
import type { ComparisonPlan } from '../../../src/schemas/comparison.ts';
import { newProject } from '../../../src/schemas/project.ts';
import { RETENTION_STAGES } from '../../../src/schemas/retention.ts';
import type { Lease } from '../../../src/store/attempts/types.ts';
import type { BatchRecord } from '../../../src/store/batches/types.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeKey } from '../../support/access.ts';
import { allBatches } from '../../support/batches.ts';
import { documentedKeys, everyKey, everyKeyWith, familyOf } from '../../support/redis-keys.ts';
import { claimed, clusterRecord, lost, storeFor, submitInput } from '../../support/store.ts';
import { chainInput, expandAll } from '../../support/sweep.ts';

/** Looks at all keys; `lose` lets the lease of an experiment expire. */
type Look = (() => Promise<void>) & { lose(id: string): Promise<void> };

const PROJECT = 'p';
const DIGEST = 'd'.repeat(64);
const LATER = Date.now() + 10 ** 10;
const BYTES = Buffer.from('the bytes of a batch');
const BATCH = { type: 'batch', step: 1, index: 0, count: 1, rows: 3, bytes: BYTES.length } as const;
const EVENTS: NumberedEvent['event'][] = [
  { type: 'stage', name: 'train', step: 1, steps: 2 },
  { type: 'log', source: 'stdout', lines: ['a line'], cutBytes: 0 },
  { type: 'metrics', step: 1, values: { loss: 1.5 } },
  { type: 'checkpoint', step: 1, path: '../../checkpoints/p/run/global_step_1' },
  { type: 'stored', step: 1, manifest: DIGEST },
];
const CLUSTER = clusterRecord({ address: 'a:1' });

/** A subscription with messages that were delivered, are dead and are pending, and a wait; and a silent cluster. */
async function subscribe(store: Store, redis: Redis): Promise<void> {
  const id = newSubscriptionId();
  const target = { kind: 'email' as const, to: ['a@example.com'] };
  await store.subscriptions.add({ id, project: PROJECT, events: ['state'], target, createdBy: 'n' });
  const message = { id: 'm', type: 'test', at: 1, data: {} };
  const messages = [1, 2].map(() => ({ subscription: id, message, everyMs: 0 }));
  const waits = [{ member: `${PROJECT} ${id} x`, at: LATER }];
  await store.subscriptions.advance({ project: PROJECT, read: null, messages, waits });
  const delivery = await store.subscriptions.begin(id, 1, [{ of: DIGEST, everyMs: 1000, burst: 9 }]);
  const end = { outcome: 'dead', waitMs: 0, reason: 'no answer' } as const;
  assert.ok(await store.subscriptions.end(delivery!, end));
  const seen = (await redis.hget('{echelon}:clusters:seen', 'local'))!;
  await redis.hset('{echelon}:clusters:seen', 'local', seen.replace(/"lastSeenAt":\d+/, '"lastSeenAt":1'));
  assert.ok(await store.clusters.noteSilent('local'));
}

/** Everything that people set up beside experiments. Returns the id of the command. */
async function setUp(store: Store): Promise<string> {
  await store.projects.create(newProject({ name: PROJECT }, 1));
  const { id: key } = await makeKey(store, { project: PROJECT });
  await store.access.keyUsed(key, 2);
  const said = { action: 'a', target: null, status: 200, outcome: 'done', code: null, note: null } as const;
  await store.access.signOut(key, 1000);
  await store.audit.record(
    { caller: key, name: 'n', project: null, requestId: 'r', address: '::1', ...said },
    { administrative: true },
  );
  await store.audit.record({
    caller: key,
    name: 'n',
    project: PROJECT,
    requestId: 'r',
    address: '::1',
    ...said,
  });
  const claim = await store.answers.claim({ name: DIGEST, digest: DIGEST, leaseMs: 60_000 });
  assert.ok(claim.outcome === 'claimed');
  const answer = { status: 202, headers: {}, body: '{}' };
  await store.answers.keep({ name: DIGEST, token: claim.token, caller: key, answer, keepMs: 60_000 });
  await store.clusters.put(CLUSTER);
  const nodes = [{ id: 'n', cpusTotal: 1, gpusTotal: 0, cpusUsed: 0, gpusUsed: 0 }];
  await store.clusters.see('local', { address: 'a:1', generation: 'g', nodes });
  await store.clusters.noteFault('local', { attempt: 'x/1', nodes: ['n'], withinMs: 60_000 });
  await store.clusters.set('local', { labels: { zone: 'a' }, backfill: true });
  const pause = { by: 'ann', at: 5, reason: null };
  await store.queue.setPaused({ kind: 'project', name: PROJECT }, pause);
  await store.queue.setPaused({ kind: 'project', name: PROJECT }, null);
  await store.queue.setPaused({ kind: 'project', name: 'other' }, pause);
  assert.ok(await store.retention.hold('dispatcher', 600_000));
  assert.ok(await store.clusters.holdSlurm('dispatcher', 60_000));
  await store.bind('the-installation');
  const own = { machine: 'm', uptime: 1, wall: 1, within: 0 };
  assert.ok(await store.clock.see(await store.clock.read(), 0, own));
  return await store.commands.create({
    id: newCommandId(),
    cluster: 'local',
    kind: 'preflight',
    request: {},
    secret: null,
    project: PROJECT,
  });
}

async function carryOut(store: Store, id: string): Promise<void> {
  const claim = await store.commands.claim({ id, dispatcher: 'd', leaseMs: 1_000 });
  assert.ok(claim.outcome === 'claimed');
  await store.commands.report(claim.claimed.lease, 'a line');
  await store.commands.end(claim.claimed.lease, { state: 'succeeded', problems: [] });
}

async function report(store: Store, record: BatchRecord): Promise<void> {
  const found = { rows: 3, exact: 3, rounding: 0, wrong: 0, unverifiable: 0, errors: [], ok: true };
  const { attempt, batch, step } = record;
  await store.batches.report(record, { type: 'verification', attempt, batch, step, ...found }, { ok: true });
}

/** Two dispatchers are lost with the attempt, the second one as it takes it over. */
async function takeOverTwice(store: Store, id: string, look: Look): Promise<Lease> {
  const takeOver = async (dispatcher: string) => {
    await look.lose(id);
    const [taken] = await store.attempts.takeOver({ dispatcher, leaseMs: 60_000, limit: 1, suspects: true });
    await look();
    return taken!.lease;
  };
  await takeOver('d2');
  const lease = await takeOver('d3');
  await store.attempts.settle(lease);
  return lease;
}

/** An external run that its client ends. */
async function followRun(store: Store, id: string, look: Look): Promise<string> {
  const documents = { submitted: {}, resolved: {}, defaults: [] };
  const run = { id, project: PROJECT, name: 'r', token: 'token', silenceMs: 60_000, ...documents };
  await store.runs.open(run);
  await look();
  await store.attempts.end(
    { experiment: id, attempt: 1, token: 'token' },
    { to: 'succeeded', reason: 'done' },
  );
  return id;
}

/** An experiment that reports everything, and at whose second batch a rule fires. */
async function train(store: Store, key: string, look: Look): Promise<string> {
  const resolved = { engine: 'replay', deadline: new Date(LATER).toISOString(), rules: [{ name: 'r' }] };
  const idempotency = { name: key, digest: DIGEST };
  const { id } = await store.experiments.submit(submitInput({ project: PROJECT, resolved, idempotency }));
  await look();
  const start = {
    experiment: id,
    cluster: 'local',
    nodes: [{ id: 'node-1', gpus: 0, cpus: 1 }],
    project: 'default',
  };
  const { version: allocationVersion } = await store.clusters.allocations('local');
  await store.attempts.allocate([{ ...start, allocationVersion }]);
  await look();
  await store.attempts.confirm(await claimed(store, id));
  const { id: urgent } = await store.experiments.submit(submitInput({ project: PROJECT }));
  const { preemptions, allocations } = await store.queue.snapshot(1);
  const read = { preemptions, allocationVersion: allocations.get('local')!.version };
  const victims = [{ experiment: id, attempt: 1 }];
  const limits = { withinMs: 60_000, maxTimes: 1 };
  await store.attempts.preempt({ experiment: urgent, cluster: 'local', victims, ...read, ...limits });
  await store.experiments.cancel(urgent, 'test');
  await look();
  const lease = await takeOverTwice(store, id, look);
  const events = EVENTS.map((event, at) => ({ sequence: at + 1, at: 1, event }));
  await store.events.append(lease, events);
  for (const batch of [1, 2]) {
    const event = { ...BATCH, batch, digest: DIGEST };
    await store.events.append(lease, [{ sequence: events.length + batch, at: 1, event, data: BYTES }]);
  }
  const hold = { holder: 'verifier-1', leaseMs: 60_000 };
  for (const record of await store.batches.takePending(10, hold))
    await store.batches.beginPending(record, hold);
  await look();
  await report(store, (await allBatches(store, id))[0]!);
  const fired = {
    type: 'rule',
    rule: 'r',
    do: 'mark',
    attempt: 1,
    step: 1,
    at: 5,
    batch: 2,
    reason: 'why',
    evidence: { condition: 'x', values: [] },
  } as RuleEvent;
  const page = await store.rules.readSignals(id, 100);
  const moved = { ...page, experiment: id, memory: {}, due: LATER, stop: null };
  assert.equal((await store.rules.advance({ ...moved, fired: [fired] })).outcome, 'ok');
  // So many values that their compaction is due.
  const metrics = Array.from({ length: 900 }, (_, at): NumberedEvent => {
    return { sequence: 7 + at, at: 1, event: { type: 'metrics', step: 2 + at, values: { loss: 1 } } };
  });
  await store.events.append(lease, metrics);
  await look();
  await store.attempts.end(lease, { to: 'failed', reason: 'exit code 1' });
  return id;
}

const COMPARISON: ComparisonPlan = {
  ...{ name: 'c', spec: {}, baseline: 'a', panel: 'rooms', step: 1, replicates: 1, margin: 5, deviation: 5 },
  methods: ['a', 'b', 'c'].map((name) => ({ name, set: {} })),
  seeds: [1],
};

/** A compared sweep whose evaluation waits for a training that has to run twice. Returns it and its experiments. */
async function sweep(store: Store, look: () => Promise<void>): Promise<{ id: string; children: string[] }> {
  const { id } = await store.sweeps.create(
    chainInput([undefined, 0, 0], { project: PROJECT, comparison: COMPARISON }),
  );
  await look();
  const run = async (experiment: string, to: 'succeeded' | 'failed') => {
    const lease = await claimed(store, experiment);
    await store.attempts.confirm(lease);
    await store.attempts.end(lease, { to, reason: 'exit code' });
  };
  const [first] = await expandAll(store, id);
  await store.sweeps.recordAverage({ sweep: id, index: 0, step: 5, average: 1 });
  await run(first!, 'failed');
  await store.sweeps.release(id, makeChild);
  const record = (await store.sweeps.get(id))!;
  const [again] = await store.sweeps.rerunChildren(
    record,
    await store.sweeps.children(record, 0, 3),
    makeChild,
  );
  await run(again!.experiment, 'succeeded');
  const evaluations = await store.sweeps.release(id, makeChild);
  for (const { experiment } of evaluations) await run(experiment, 'succeeded');
  const children = [first!, ...[again!, ...evaluations].map(({ experiment }) => experiment)];
  assert.equal((await store.sweeps.get(id))?.state, 'done');
  await look();
  await store.comparisons.recordRuns(id);
  return { id, children };
}

/** Archives all but one. */
async function archiveAll(store: Store, pending: string): Promise<void> {
  const { ids } = await store.rules.takeSignals(100, 60_000);
  for (const id of ids) if (id !== pending) await store.rules.dropSignals(id);
  for (const id of await store.archive.take({ limit: 100, leaseMs: 1, afterMs: -60_000 }))
    if (id !== pending) assert.equal(await store.archive.archiveStream(id), 'archived');
}

/** Deletes experiments of which retention has taken nothing yet, their batches, and their streams. */
async function deleteOnTheWay(store: Store, ids: readonly string[]): Promise<void> {
  for (const [gone, id] of ids.entries()) {
    for (const stage of RETENTION_STAGES.slice(0, gone))
      assert.equal(await store.retention.expire(stage, id), 'expired');
    assert.equal(await store.experiments.delete(id), 'deleted');
  }
}

async function expireAll(store: Store): Promise<void> {
  for (const stage of RETENTION_STAGES)
    for (const id of await store.retention.due(stage, PROJECT, { endedBefore: LATER, limit: 100 }))
      assert.equal(await store.retention.expire(stage, id), 'expired');
}

async function cleanUp(store: Store): Promise<void> {
  await store.retention.expireSweeps(PROJECT, { endedBefore: LATER, limit: 10, cursor: null });
  const forgotten = await store.retention.takeForgetting({ limit: 100, leaseMs: 1, afterMs: -60_000 });
  await store.retention.forgotten(forgotten.map(({ id }) => id));
  while ((await store.retention.collectGarbage(10)) > 0);
  for (const { id } of await store.access.keys())
    await store.access.changeKey(id, (key) => ({ ...key, revokedAt: 1 }));
  await makeKey(store, { createdAt: LATER });
  await store.queue.setPaused({ kind: 'project', name: 'other' }, null);
  for (const { member: wait, subscription } of await store.subscriptions.dueWaits(LATER)) {
    const messages = [{ subscription, everyMs: 0, wait }];
    await store.subscriptions.advance({ project: PROJECT, read: null, messages, waits: [] });
  }
  assert.equal(await store.projects.remove(PROJECT, LATER), 'removed');
  assert.equal(await store.clusters.remove('local'), 'removed');
}

/** Everything from the first key to the last deletion. Returns the ids of all that was deleted. */
async function liveThroughAll(
  { store, redis }: { store: Store; redis: Redis },
  look: Look,
  isStreamGone: (id: string) => Promise<void>,
): Promise<string[]> {
  const command = await setUp(store);
  await subscribe(store, redis);
  await look();
  await carryOut(store, command);
  const pending = await train(store, '1'.repeat(64), look);
  const { id: swept, children } = await sweep(store, look);
  await look();
  const kept = await train(store, '2'.repeat(64), look);
  const followed = await followRun(store, newExperimentId(), look);
  await report(store, (await allBatches(store, kept))[1]!);
  const inputs = RETENTION_STAGES.map(() => submitInput({ project: PROJECT }));
  const cancelled = inputs.map(({ id }) => id);
  for (const input of inputs) await store.experiments.submit(input);
  for (const id of cancelled) await store.experiments.cancel(id, '');
  await archiveAll(store, pending);
  await look();
  await deleteOnTheWay(store, cancelled);
  await expireAll(store);
  await look();
  await isStreamGone(kept);
  // One of which batches are pending, and one of which a batch is kept: a person deletes both.
  for (const id of [pending, kept]) assert.equal(await store.experiments.delete(id), 'deleted');
  await look();
  await cleanUp(store);
  await look();
  return [pending, kept, followed, ...cancelled, swept, ...children];
}

// Fails where a key is not in docs/reference/redis-keys.md, is of another type, is none any more, or outlives what it belongs to.
test('every key is listed, and nothing is left of what was deleted', async (t) => {
  const { store, redis } = await storeFor(t);
  const families = documentedKeys();
  const seen = new Set<string>();
  const lookAround = async () => {
    await store.experiments.list({ limit: 1, reader: 'a' }, { by: 'name', isDescending: false });
    for (const key of await everyKey(redis)) {
      const family = familyOf(families, key);
      assert.ok(family, `${key} is not in docs/reference/redis-keys.md`);
      const type = await redis.type(`{echelon}:${key}`);
      // It may expire after it was listed.
      if (type !== 'none') assert.equal(type, family.type, key);
      seen.add(family.name);
    }
  };
  const look = Object.assign(lookAround, { lose: (id: string) => lost(redis, id) });
  const isStreamGone = async (id: string) => {
    const left = (await everyKey(redis)).filter((key) => key.startsWith(`x:${id}:`));
    const ofStream = left.filter((key) => familyOf(families, key)?.goes === 'with the stream');
    assert.deepEqual(ofStream.sort(), [`x:${id}:batches`, `x:${id}:reports`], 'what a rule keeps');
  };
  const deleted = await liveThroughAll({ store, redis }, look, isStreamGone);
  assert.ok(await store.retention.pause(60_000));
  await look();

  for (const id of deleted) {
    const left = (await everyKeyWith(redis, id)).map((key) => key.replace(/^\{echelon\}:/, ''));
    assert.deepEqual(
      left.filter((key) => familyOf(families, key)?.goes !== 'expires'),
      [],
      id,
    );
  }
  for (const key of await everyKey(redis)) {
    const { goes } = familyOf(families, key)!;
    if (goes === 'expires') assert.notEqual(await redis.pttl(`{echelon}:${key}`), -1, `${key} has no end`);
    else assert.ok(goes === 'stays' || key === 'api-keys', `${key} is left`);
  }
  const names = families.map(({ name }) => name);
  assert.deepEqual(
    names.filter((name) => !seen.has(name)),
    [],
    'listed, but never there',
  );
});
