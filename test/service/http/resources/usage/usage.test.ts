import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { usageCsv, usageTable } from '../../../../../src/cli/commands/usage.ts';
import { newProject } from '../../../../../src/schemas/project.ts';
import type { Usage } from '../../../../../src/schemas/usage.ts';
import { claim } from '../../../../support/claim.ts';
import { appFor } from '../../../../support/http-app.ts';
import { clusterRecord, storeFor, submitInput } from '../../../../support/store.ts';

const scope = { after };
const { store, redis } = await storeFor(scope);
const { call } = await appFor(scope, {
  store,
  now: Date.now,
  settings: { gpuPrices: { H100: 2, 'local/L4': 1 } },
});
const node = { cpusTotal: 64, gpusTotal: 8, cpusUsed: 0, gpusUsed: 0 };
const labels = (type: string) => ({ 'ray.io/accelerator-type': type });
await store.clusters.put(clusterRecord({ address: 'a:1' }));
await store.clusters.see('local', {
  address: 'a:1',
  generation: 'g',
  nodes: [
    { id: 'h', ...node, labels: labels('H100') },
    { id: 'l', ...node, labels: labels('L4') },
    { id: 'x', ...node },
  ],
});
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
await store.projects.create(newProject({ name: 'vision' }, 1));

/** Starts an attempt that was allocated `ms` ago. */
async function started(
  nodes: { id: string; gpus: number; cpus: number }[],
  ms: number,
  owner = 'ann',
  project = 'default',
) {
  const { id } = await store.experiments.submit(submitInput({ project, owner }));
  const { version: allocationVersion } = await store.clusters.allocations('local');
  const claimed = await claim(store, {
    experiment: id,
    cluster: 'local',
    nodes,
    project,
    allocationVersion,
    dispatcher: 'd',
    leaseMs: 60_000,
  });
  assert.ok(claimed.outcome === 'claimed');
  await redis.hset(`{echelon}:x:${id}:attempts`, '1:claimedAt', String(Date.now() - ms));
  return claimed.lease;
}

async function usage(query = '', token?: string): Promise<Usage> {
  const answer = await call('GET', `/v1/usage${query}`, token === undefined ? {} : { token });
  assert.equal(answer.statusCode, 200, answer.body);
  return answer.json() as Usage;
}

const hours = (answer: Usage) =>
  Object.fromEntries(
    answer.items.map((item) => [`${item.owner} ${item.gpuType}`, Math.round(100 * item.gpuHours) / 100]),
  );

test('GPU hours count from allocation to end on every node, fractions too, and survive the experiment', async () => {
  const lease = await started(
    [
      { id: 'h', gpus: 4, cpus: 4 },
      { id: 'l', gpus: 0.5, cpus: 1 },
    ],
    30 * HOUR,
  );
  await started([{ id: 'x', gpus: 1, cpus: 1 }], HOUR, 'bob', 'vision');
  const before = await usage();
  assert.deepEqual(hours(before), { 'ann H100': 120, 'ann L4': 15, 'bob ': 1 });
  await store.attempts.confirm(lease);
  await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
  await store.experiments.delete(lease.experiment);
  const found = await usage();
  assert.deepEqual(hours(found), hours(before));
  const [first] = found.items;
  assert.deepEqual([first!.project, first!.cluster, first!.attempts], ['default', 'local', 1]);
  assert.deepEqual(
    found.items.map(({ cost }) => cost && Math.round(cost)),
    [240, 15, null],
  );
  assert.equal(found.cost, null);

  // 30 hours touch today and at least one day before it.
  const today = new Date().toISOString().slice(0, 10);
  const yesterday = new Date(Date.now() - DAY).toISOString().slice(0, 10);
  const parts = [`?from=${today}&to=${today}`, `?to=${yesterday}`].map(
    async (query) => (await usage(query)).gpuHours,
  );
  const [late, early] = await Promise.all(parts);
  assert.equal((late! + early!).toFixed(2), found.gpuHours.toFixed(2));

  const text = usageTable(found, 'owner');
  assert.match(text, /ann +135\.00 +\S+ +1 +255\.00\nbob +1\.00 +\S+ +0 +-\ntotal +136\.00/);
  assert.match(usageCsv(found), /^project,owner,cluster,gpuType,.*\ndefault,ann,local,H100,120/);
  assert.match(usageCsv({ ...found, items: [{ ...first!, owner: '=1,"' }] }), /default,"'=1,""",local/);
});

test('a key of a project sees the usage of its project only', async () => {
  const body = { name: 'bound', project: 'vision', scopes: ['read'] };
  const { token } = (await call('POST', '/v1/keys', { body })).json();
  const { items } = await usage('', token);
  assert.deepEqual(
    items.map(({ project }) => project),
    ['vision'],
  );
});

test('a period that is none is refused', async () => {
  for (const query of [
    '?from=2026-02-30',
    '?from=2026-02-02&to=2026-02-01',
    '?from=2024-01-01&to=2026-02-01',
  ]) {
    const answer = await call('GET', `/v1/usage${query}`);
    assert.deepEqual([answer.statusCode, answer.json().problems[0].field], [400, '/from'], query);
  }
});
