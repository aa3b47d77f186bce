import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newProject } from '../../../../../src/schemas/project.ts';
import { appFor } from '../../../../support/http-app.ts';
import { claimed, clusterRecord, storeFor, submitInput } from '../../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const { call } = await appFor(scope, { store });

await store.clusters.put(
  clusterRecord({
    token: 'CANARY-TOKEN',
    ca: 'CANARY-CA',
    backfill: true,
    generation: 'g1',
    lastSeenAt: 5,
    nodes: [{ id: 'node-1', cpusTotal: 8, gpusTotal: 2, cpusUsed: 1, gpusUsed: 0 }],
  }),
);

test('GET /v1/queues shows experiments in queue order with wait reasons, and the allocations of the clusters', async () => {
  const { id: low } = await store.experiments.submit(submitInput({ priority: -1, name: 'low' }));
  const { id: high } = await store.experiments.submit(submitInput({ priority: 1, name: 'high', gpus: 4 }));
  const { id: held } = await store.experiments.submit(submitInput({ priority: 9, cpus: 3 }));
  await claimed(store, held);
  await store.queue.note(new Map([[high, { reason: 'needs 4 GPUs on one node', rank: 1 }]]));
  const queue = (await call('GET', '/v1/queues')).json();
  assert.deepEqual(
    queue.items.map((one: { experiment: string; position: number; waitReason: string | null }) => [
      one.position,
      one.experiment,
      one.waitReason,
    ]),
    [
      [1, high, 'needs 4 GPUs on one node'],
      [2, low, null],
    ],
  );
  assert.equal(queue.counts.queued, 2);
  assert.equal(queue.counts.launching, 1);
  assert.equal(queue.accepting, true);
  assert.equal(queue.verificationBacklog, 0);
  assert.deepEqual(queue.clusters[0].nodes[0], {
    id: 'node-1',
    cpusTotal: 8,
    gpusTotal: 2,
    cpusUsed: 1,
    gpusUsed: 0,
    cpusAllocated: 1,
    gpusAllocated: 0,
    cpusFree: 7,
    gpusFree: 2,
    state: 'ready',
    stateReason: '',
    labels: {},
    health: null,
  });
  assert.deepEqual(queue.clusters[0].experiments, [held]);
  assert.equal((await call('GET', '/v1/queues?limit=1')).json().items.length, 1);
});

test('GET /v1/clusters and GET /v1/queues show no secret of a cluster', async () => {
  const response = await call('GET', '/v1/clusters');
  assert.deepEqual(response.json().items[0].tls, true);
  assert.ok(!response.body.includes('CANARY'));
  assert.ok(!(await call('GET', '/v1/queues')).body.includes('CANARY'));
});

test('GET /v1/queues interleaves projects in the order of the last scheduling round', async () => {
  const { id: first } = await store.experiments.submit(submitInput({ project: 'team-a' }));
  const { id: second } = await store.experiments.submit(submitInput({ project: 'team-a' }));
  const { id: other } = await store.experiments.submit(submitInput({ project: 'team-b' }));
  const estimate = { startAt: 30, earliest: 20, latest: 40 };
  await store.queue.note(
    new Map([
      [first, { reason: 'r', rank: 1, estimate }],
      [other, { reason: 'r', rank: 2, estimate: null, unknown: 'not known' }],
      [second, { reason: 'r', rank: 3 }],
    ]),
  );
  const all = (await call('GET', '/v1/queues')).json().items;
  const waiting = all.filter(({ project }: { project: string }) => project.startsWith('team-'));
  assert.deepEqual(
    waiting.map((one: { experiment: string }) => one.experiment),
    [first, other, second],
  );
  assert.deepEqual([waiting[0].estimate, waiting[0].noEstimate], [estimate, null]);
  assert.deepEqual([waiting[1].estimate, waiting[1].noEstimate], [null, 'not known']);
});

test('the pages of the queue show every experiment once although an experiment starts between two pages', async (t) => {
  const { store: own } = await storeFor(t);
  const { call: ask } = await appFor(t, { store: own });
  const ids: string[] = [];
  for (let at = 0; at < 5; at++)
    ids.push((await own.experiments.submit(submitInput({ project: at % 2 ? 'team-a' : 'team-b' }))).id);
  const page = async (cursor?: string) => {
    const query = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { items, next, length } = (await ask('GET', `/v1/queues?limit=2${query}`)).json();
    const shown = items.map(({ position, experiment }: never) => [position, experiment]);
    return { shown, next, length };
  };
  const first = await page();
  assert.deepEqual(first.shown, [
    [1, ids[0]],
    [2, ids[1]],
  ]);
  await claimed(own, ids[0]!);
  const second = await page(first.next);
  assert.deepEqual(second, {
    ...second,
    length: 4,
    shown: [
      [2, ids[2]],
      [3, ids[3]],
    ],
  });
  const last = await page(second.next);
  assert.deepEqual([last.shown, last.next], [[[4, ids[4]]], null]);
});

test('a forged queue cursor, or a cursor of another caller, is refused', async (t) => {
  for (let at = 0; at < 2; at++) await store.experiments.submit(submitInput());
  const { next } = (await call('GET', '/v1/queues?limit=1')).json();
  assert.equal((await call('GET', `/v1/queues?cursor=${next}`)).statusCode, 200);
  await store.projects.create(newProject({ name: 'bound' }, 0));
  const body = { name: 'k', scopes: ['read'], project: 'bound' };
  const { token: key } = (await call('POST', '/v1/keys', { body })).json();
  const bound = await appFor(t, { store });
  for (const [cursor, token] of [
    ['x', undefined],
    [next.replace(/^./, 'A'), undefined],
    [next, key],
  ]) {
    const answer = await bound.call('GET', `/v1/queues?cursor=${cursor}`, { ...(token && { token }) });
    assert.deepEqual([answer.statusCode, answer.json().code], [400, 'invalid-cursor'], cursor);
  }
});
