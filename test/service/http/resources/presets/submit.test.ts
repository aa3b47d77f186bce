import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeChild } from '../../../../../src/plan/sweep.ts';
import { makeKey } from '../../../../support/access.ts';
import { appFor } from '../../../../support/http-app.ts';
import { claimed, clusterRecord, storeFor } from '../../../../support/store.ts';
import { expandAll } from '../../../../support/sweep.ts';

const scope = { after };
const { store } = await storeFor(scope);
const { call } = await appFor(scope, { store });
const submit = (name: string, body: object) => call('POST', `/v1/presets/${name}/submit`, { body });

test('a submitted paper table is one sweep, whose evaluations wait for their own training', async () => {
  const response = await submit('paper-main-table', { label: 'mine' });
  assert.equal(response.statusCode, 202);
  const { id, self, count } = response.json();
  assert.deepEqual([self, count, response.headers.location], [`/v1/sweeps/${id}`, 154, self]);
  assert.equal((await expandAll(store, id)).length, 28);
  const detail = (await call('GET', `${self}?limit=100`)).json();
  assert.deepEqual([detail.method, detail.expanded, detail.children.length], ['preset', 28, 100]);
  const first = detail.children.findIndex(({ after }: { after: number | null }) => after !== null);
  const [training, evaluation] = [detail.children[0], detail.children[first]];
  assert.deepEqual(training.values, {
    '/run': 'PPO 1.5b alfworld',
    '/phase': 'train',
    '/environment/seed': 0,
  });
  assert.deepEqual([first, evaluation.after, evaluation.values['/phase']], [28, 0, 'seen']);
});

// Fails if only the answer is stored: after a crash the repetition creates a second sweep.
test('parallel submissions of a preset with one Idempotency-Key create one sweep', async () => {
  const headers = { 'idempotency-key': 'one-table' };
  const send = (body: object, name = 'paper-main-table') =>
    call('POST', `/v1/presets/${name}/submit`, { body, headers });
  const before = (await store.sweeps.list({ limit: 100 })).items.length;
  const answers = await Promise.all([1, 2, 3].map(() => send({ label: 'once' })));
  assert.equal(new Set(answers.map(({ body }) => body)).size, 1);
  assert.equal(answers[0]!.statusCode, 202, answers[0]!.body);
  assert.equal((await store.sweeps.list({ limit: 100 })).items.length, before + 1);
  assert.equal((await send({ label: 'another' })).json().code, 'idempotency-conflict');
  assert.equal((await send({ label: 'once' }, 'comparison')).json().code, 'idempotency-conflict');
});

test('the comparison of a preset sweep shows the means over seeds beside the published figures, in the same unit', async () => {
  const runs = ['HGPO K=4 1.5b webshop'];
  const { id, self } = (await submit('paper-main-table', { runs })).json();
  const [training] = await expandAll(store, id);
  const end = async (experiment: string, rate: number) => {
    const lease = await claimed(store, experiment);
    await store.attempts.confirm(lease);
    const values = { 'val/success_rate': rate, 'val/webshop_task_score (not success_rate)': rate };
    await store.events.append(lease, [{ sequence: 1, at: 1, event: { type: 'metrics', step: 1, values } }]);
    await store.attempts.end(lease, { to: 'succeeded', reason: 'a test' });
  };
  await end(training!, 0.1);
  const made = await store.sweeps.release(id, makeChild);
  for (const [at, { experiment }] of made.entries()) await end(experiment, 0.7 + at / 10);
  const { items, metrics } = (await call('GET', `${self}/comparison`)).json();
  assert.deepEqual(metrics, ['val/success_rate', 'val/webshop_task_score (not success_rate)']);
  const row = items.find(
    ({ values }: { values: object }) => '/phase' in values && values['/phase'] === 'evaluation',
  );
  assert.deepEqual(row.reference, {
    'val/webshop_task_score (not success_rate)': 0.9064,
    'val/success_rate': 0.7812,
  });
  const { mean, std, n } = row.metrics['val/success_rate'];
  assert.deepEqual([mean.toFixed(6), std.toFixed(6), n], ['0.800000', '0.100000', 3]);
  assert.equal(
    items.find(({ values }: { values: Record<string, string> }) => values['/phase'] === 'train').reference,
    null,
  );
});

test('an unknown preset, run, cluster or project is refused by name, and no sweep is created', async () => {
  const before = (await store.sweeps.list({ limit: 100 })).items.length;
  assert.match((await submit('paper-main-tabel', {})).json().detail, /Did you mean paper-main-table/);
  const run = await submit('paper-main-table', { runs: ['HGPO K=4 1.5b alfword'] });
  assert.match(run.json().problems[0].message, /did you mean HGPO K=4 1.5b alfworld/);
  const cluster = (await submit('comparison', { cluster: 'none' })).json();
  assert.deepEqual([cluster.code, cluster.problems[0].field], ['invalid-spec', '/cluster']);
  assert.equal((await submit('comparison', { project: 'none' })).json().code, 'invalid-spec');
  assert.equal((await store.sweeps.list({ limit: 100 })).items.length, before);
});

test('a preset that is too large for the named cluster is refused with the list, and a part that fits is accepted', async () => {
  await store.clusters.put(
    clusterRecord({
      name: 'small',
      generation: 'g',
      lastSeenAt: Date.now(),
      nodes: [{ id: 'n', cpusTotal: 64, gpusTotal: 2, cpusUsed: 0, gpusUsed: 0 }],
    }),
  );
  const before = (await store.sweeps.list({ limit: 100 })).items.length;
  const refused = await submit('paper-main-table', { cluster: 'small' });
  assert.equal(refused.statusCode, 400, refused.body);
  const { detail, problems } = refused.json();
  assert.match(detail, /too small for 14 of 28 trainings/);
  assert.equal(problems.length, 14);
  assert.match(problems[0].message, /^PPO 7b alfworld .*or only PPO 1\.5b alfworld/);
  assert.equal((await store.sweeps.list({ limit: 100 })).items.length, before);
  const part = await submit('paper-main-table', { cluster: 'small', runs: ['HGPO K=4 1.5b alfworld'] });
  assert.equal(part.statusCode, 202);
});

test('projects and clusters are read once for all children of a preset', async (t) => {
  let reads = 0;
  const counted = async <R>(read: () => Promise<R>): Promise<R> => {
    reads += 1;
    return await read();
  };
  const observed = {
    ...store,
    projects: { ...store.projects, list: () => counted(() => store.projects.list()) },
    clusters: {
      ...store.clusters,
      list: (names?: readonly string[]) => counted(() => store.clusters.list(names)),
    },
  };
  const app = await appFor(t, { store: observed });
  const { token } = await makeKey(store, { scopes: ['read', 'submit'] });
  const answer = await app.call('POST', '/v1/presets/paper-main-table/submit', { token, body: {} });
  assert.equal(answer.json().count, 154);
  assert.ok(reads <= 2, `${reads} reads`);
});
