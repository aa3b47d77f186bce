import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newProject } from '../../../../../src/schemas/project.ts';
import { appFor } from '../../../../support/http-app.ts';
import { claimed, clusterRecord, storeFor, submitInput } from '../../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const { call } = await appFor(scope, { store, now: () => 1_000 });
await store.projects.create(newProject({ name: 'team-a' }, 0));
await store.clusters.put(clusterRecord({ generation: 'g', lastSeenAt: 5 }));

test('a paused queue shows the caller and the reason, refuses claims, and accepts them after it is resumed', async () => {
  const { id } = await store.experiments.submit(submitInput());
  const paused = await call('POST', '/v1/queues/_all/pause', { body: { reason: 'upgrade' } });
  assert.equal(paused.statusCode, 200);
  const { by } = paused.json().paused;
  assert.deepEqual(paused.json(), {
    queue: '_all',
    closed: null,
    paused: { by, at: 1_000, reason: 'upgrade' },
  });
  assert.deepEqual((await call('GET', '/v1/queues')).json().paused, {
    all: { by, at: 1_000, reason: 'upgrade' },
    projects: {},
  });
  await assert.rejects(claimed(store, id), /changed/);
  assert.equal((await call('POST', '/v1/queues/_all/resume')).json().paused, null);
  await claimed(store, id);
});

test('the queue of a project is paused by its name, and an unknown name is refused with the nearest one', async () => {
  assert.equal((await call('POST', '/v1/queues/team-a/pause')).json().paused.reason, null);
  assert.deepEqual(Object.keys((await call('GET', '/v1/queues')).json().paused.projects), ['team-a']);
  await call('POST', '/v1/queues/team-a/resume');
  assert.deepEqual((await call('GET', '/v1/queues')).json().paused.projects, {});
  const unknown = await call('POST', '/v1/queues/team-b/pause');
  assert.deepEqual([unknown.statusCode, unknown.json().code], [404, 'project-not-found']);
  assert.match(unknown.json().detail, /Did you mean team-a/);
});

test('a closed queue shows the caller and the reason, refuses experiments, and accepts them after it is resumed', async () => {
  const closed = (await call('POST', '/v1/queues/team-a/close', { body: { reason: 'moving' } })).json();
  assert.deepEqual([closed.queue, closed.paused, closed.closed.reason], ['team-a', null, 'moving']);
  assert.equal((await call('GET', '/v1/queues')).json().closed.projects['team-a'].reason, 'moving');
  const body = { engine: 'replay', name: 'x', project: 'team-a', replay: { batches: 3 } };
  const refused = await call('POST', '/v1/experiments', { body });
  assert.deepEqual([refused.statusCode, refused.json().code], [409, 'queue-closed']);
  assert.match(refused.json().detail, /closed the queue: moving/);
  assert.equal((await call('POST', '/v1/queues/_all/close')).json().closed.reason, null);
  for (const name of ['_all', 'team-a']) {
    assert.equal((await call('POST', `/v1/queues/${name}/resume`)).json().closed, null);
  }
  assert.equal((await call('POST', '/v1/experiments', { body })).statusCode, 202);
});
