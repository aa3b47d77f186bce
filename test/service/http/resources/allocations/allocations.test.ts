import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newProject } from '../../../../../src/schemas/project.ts';
import { claim } from '../../../../support/claim.ts';
import { appFor } from '../../../../support/http-app.ts';
import { claimed, clusterRecord, storeFor, submitInput } from '../../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const { call } = await appFor(scope, { store, now: () => 10_000 });

await store.clusters.put(
  clusterRecord({
    token: 'CANARY-TOKEN',
    backfill: true,
    generation: 'g1',
    lastSeenAt: 5,
    nodes: [{ id: 'node-1', cpusTotal: 8, gpusTotal: 2, cpusUsed: 1, gpusUsed: 0 }],
  }),
);

test('an allocation has its node and its expected end; a queued experiment has none', async () => {
  assert.deepEqual((await call('GET', '/v1/allocations')).json(), { total: 0, items: [] });
  await store.experiments.submit(submitInput({ name: 'queued' }));
  const { id } = await store.experiments.submit(submitInput({ name: 'running', gpus: 1 }));
  const lease = await claimed(store, id);
  await store.attempts.confirm(lease);
  const { total, items } = (await call('GET', '/v1/allocations')).json();
  const [{ startedAt, end, ...rest }] = items;
  assert.equal(total, 1);
  assert.deepEqual(rest, {
    experiment: id,
    name: 'running',
    project: rest.project,
    attempt: 1,
    state: 'running',
    cluster: 'local',
    node: 'node-1',
    gpus: rest.gpus,
    cpus: 1,
    leavesAt: null,
  });
  assert.equal(typeof startedAt, 'number');
  // Nothing was measured and there is no timeout.
  assert.equal(end, null);
});

test('a timeout bounds the expected end', async () => {
  const input = submitInput({ name: 'limited', resolved: { timeoutSeconds: 3600 } });
  const { id } = await store.experiments.submit(input);
  await store.attempts.confirm(await claimed(store, id));
  const { items } = (await call('GET', '/v1/allocations')).json();
  const { startedAt, end } = items.find(({ name }: { name: string }) => name === 'limited');
  assert.deepEqual(end, { endAt: startedAt + 3_600_000, earliest: 10_000, latest: startedAt + 3_600_000 });
});

test('a preempted experiment has the time at which it is stopped, and ends by then', async () => {
  const { id } = await store.experiments.submit(submitInput({ name: 'batch', priorityClass: 'batch' }));
  await store.attempts.confirm(await claimed(store, id));
  const { id: experiment } = await store.experiments.submit(submitInput({ priorityClass: 'urgent' }));
  const { version: allocationVersion } = await store.clusters.allocations('local');
  const { preemptions } = await store.queue.snapshot(1);
  const victims = [{ experiment: id, attempt: 1 }];
  const limits = { withinMs: 60_000, maxTimes: 1, allocationVersion, preemptions };
  assert.equal(await store.attempts.preempt({ experiment, cluster: 'local', victims, ...limits }), 1);
  const { items } = (await call('GET', '/v1/allocations')).json();
  const { leavesAt, end } = items.find(({ name }: { name: string }) => name === 'batch');
  assert.equal(typeof leavesAt, 'number');
  assert.deepEqual([end.endAt, end.latest], [leavesAt, leavesAt]);
});

test('a key of a project sees the allocations of its project only', async () => {
  await store.projects.create(newProject({ name: 'other' }, 0));
  const { id } = await store.experiments.submit(submitInput({ project: 'other', name: 'theirs' }));
  const { version: allocationVersion } = await store.clusters.allocations('local');
  const need = {
    experiment: id,
    cluster: 'local',
    nodes: [{ id: 'node-1', gpus: 0, cpus: 1 }],
    allocationVersion,
  };
  await claim(store, { ...need, project: 'other', dispatcher: 'd', leaseMs: 60_000 });
  const created = await call('POST', '/v1/keys', {
    body: { name: 'bound', project: 'other', scopes: ['read'] },
  });
  const { items, total } = (await call('GET', '/v1/allocations', { token: created.json().token })).json();
  assert.deepEqual([total, items.map(({ name }: { name: string }) => name)], [1, ['theirs']]);
});

test('the list of allocations reads no whole record of an experiment', async (t) => {
  const held = (await call('GET', '/v1/allocations')).json().total;
  assert.ok(held > 0);
  const refuse = () => Promise.reject(new Error('a whole record was read'));
  const observed = { ...store, experiments: { ...store.experiments, get: refuse } };
  const app = await appFor(t, { store: observed });
  const answer = await app.call('GET', '/v1/allocations');
  assert.deepEqual([answer.statusCode, answer.json().total], [200, held]);
});
