import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newCommandId } from '../../../../src/core/ids.ts';
import type { CommandKind } from '../../../../src/schemas/clusters.ts';
import type { CommandLease } from '../../../../src/store/clusters/commands.ts';
import type { Store } from '../../../../src/store/store.ts';
import { storeFor } from '../../../support/store.ts';

async function create(store: Store, cluster: string, secret: string | null = null): Promise<string> {
  const id = newCommandId();
  await store.commands.create({ id, cluster, kind: 'add', request: { address: 'ray://h:1' }, secret });
  return id;
}

async function claim(store: Store, id: string, leaseMs = 60_000): Promise<CommandLease> {
  const answer = await store.commands.claim({ id, dispatcher: 'd', leaseMs });
  assert.equal(answer.outcome, 'claimed');
  return (answer as Extract<typeof answer, { outcome: 'claimed' }>).claimed.lease;
}

const outcome = async (store: Store, id: string) =>
  (await store.commands.claim({ id, dispatcher: 'other', leaseMs: 60_000 })).outcome;

test('the project and the findings of a preflight are kept with it', async (t) => {
  const { store } = await storeFor(t);
  const id = newCommandId();
  await store.commands.create({
    id,
    cluster: 'a',
    kind: 'preflight',
    request: {},
    secret: null,
    project: 'mine',
  });
  assert.equal(await store.commands.project(id), 'mine');
  assert.equal(await store.commands.project(await create(store, 'a')), undefined);
  const findings = [{ severity: 'error', check: 'GPUs', message: 'none', remedy: 'buy one' }] as const;
  await store.commands.end(await claim(store, id), { state: 'succeeded', problems: [], findings });
  assert.deepEqual((await store.commands.get(id))?.findings, findings);
});

test('a removal that is asked for again is the same command, until the cluster is added again', async (t) => {
  const { store } = await storeFor(t);
  const ask = (kind: CommandKind, cluster = 'a') =>
    store.commands.create({ id: newCommandId(), cluster, kind, request: {}, secret: null });
  const first = await ask('remove');
  const at = (await Promise.all([ask('remove'), ask('remove', 'b'), ask('remove')])) as string[];
  assert.deepEqual([at[0], at[1] === first, at[2]], [first, false, first]);
  for (const kind of ['preflight', 'drain'] as const) {
    assert.notEqual(await ask(kind), await ask(kind), 'other commands became one');
    assert.equal(await ask('remove'), first);
  }
  await ask('add');
  const second = await ask('remove');
  assert.notEqual(second, first);
  assert.equal(await ask('remove'), second);
});

test('a removal that is over is asked for anew', async (t) => {
  const { store } = await storeFor(t);
  const ask = () =>
    store.commands.create({ id: newCommandId(), cluster: 'a', kind: 'remove', request: {}, secret: null });
  const first = await ask();
  const lease = await claim(store, first);
  assert.equal(await ask(), first, 'one that is carried out');
  await store.commands.end(lease, { state: 'failed', problems: [] });
  assert.notEqual(await ask(), first);
});

test('a command is recorded, claimed and ended; only the claim returns its secret', async (t) => {
  const { store, redis } = await storeFor(t);
  const id = await create(store, 'a', 'CANARY');
  await store.commands.create({ id, cluster: 'b', kind: 'drain', request: {}, secret: null });
  const queued = await store.commands.get(id);
  assert.deepEqual(
    [queued?.cluster, queued?.kind, queued?.state, queued?.endedAt],
    ['a', 'add', 'queued', null],
  );
  assert.ok(!JSON.stringify(queued).includes('CANARY'));
  assert.deepEqual(await store.commands.open(), [{ id, cluster: 'a' }]);

  const answer = await store.commands.claim({ id, dispatcher: 'd', leaseMs: 60_000 });
  assert.ok(answer.outcome === 'claimed');
  const { lease, ...claimed } = answer.claimed;
  assert.deepEqual(claimed, { kind: 'add', request: { address: 'ray://h:1' }, secret: 'CANARY', tries: 1 });
  for (const line of ['one', 'one', 'two', 'one']) assert.ok(await store.commands.report(lease, line));
  const problems = [{ severity: 'warning', message: 'open', remedy: 'close it' }] as const;
  assert.ok(await store.commands.end(lease, { state: 'succeeded', problems }));
  const ended = await store.commands.get(id);
  assert.deepEqual(ended?.report, ['one', 'two', 'one']);
  assert.deepEqual([ended?.state, ended?.problems], ['succeeded', problems]);
  assert.ok(ended!.endedAt! >= ended!.createdAt);
  assert.deepEqual(await store.commands.open(), []);
  assert.equal(await outcome(store, id), 'over');
  assert.ok(!(await store.commands.end(lease, { state: 'failed', problems: [] })), 'it ended twice');
  assert.equal(await redis.hget(`{echelon}:command:${id}`, 'secret'), null);
  assert.ok((await redis.ttl(`{echelon}:command:${id}`)) > 0);
});

test('at most one of a cluster runs at a time, in their order; other clusters do not wait', async (t) => {
  const { store } = await storeFor(t);
  const [first, second, other] = [
    await create(store, 'a'),
    await create(store, 'a'),
    await create(store, 'b'),
  ];
  assert.equal(await outcome(store, second), 'busy');
  const lease = await claim(store, first);
  assert.equal(await outcome(store, first), 'busy');
  assert.equal(await outcome(store, second), 'busy');
  await claim(store, other);
  await store.commands.end(lease, { state: 'failed', problems: [] });
  await claim(store, second);
});

test('one whose holder fell silent or let it go is taken by another, and the old holder changes nothing', async (t) => {
  const { store } = await storeFor(t);
  const id = await create(store, 'a');
  const old = await claim(store, id, 0);
  const next = await claim(store, id);
  assert.ok(!(await store.commands.renew(old, 1000)));
  assert.ok(!(await store.commands.report(old, 'late')));
  assert.ok(!(await store.commands.end(old, { state: 'failed', problems: [] })));
  assert.ok(await store.commands.renew(next, 60_000));
  assert.equal(await outcome(store, id), 'busy');
  assert.ok(await store.commands.renew(next, 0));
  const third = await store.commands.claim({ id, dispatcher: 'd', leaseMs: 60_000 });
  assert.equal(third.outcome === 'claimed' && third.claimed.tries, 3);
});

test('an unknown command is none', async (t) => {
  const { store } = await storeFor(t);
  assert.equal(await store.commands.get(newCommandId()), undefined);
  assert.equal(await outcome(store, newCommandId()), 'over');
});
