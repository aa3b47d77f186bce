import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Caller, SCOPES } from '../../../../src/core/scopes.ts';
import { listedProject, projectNotFound, seenClusters } from '../../../../src/http/access/caller-projects.ts';
import { seenWords } from '../../../../src/http/access/seen-words.ts';
import type { ClusterView } from '../../../../src/schemas/api.ts';
import { makeProjects } from '../../../support/access.ts';
import { storeFor, submitInput } from '../../../support/store.ts';

const { store } = await storeFor({ after });
await makeProjects(store, 'mine', 'other');
const ALL: Caller = { id: 'a', name: 'a', project: null, scopes: SCOPES };
const BOUND: Caller = { ...ALL, project: 'mine', scopes: ['read', 'submit'] };

test('a project-bound caller lists only its own project, and another project is empty', async () => {
  assert.equal(listedProject(ALL, undefined), undefined);
  assert.equal(listedProject(ALL, 'other'), 'other');
  for (const asked of [undefined, 'mine']) assert.equal(listedProject(BOUND, asked), 'mine');
  await store.experiments.submit(submitInput({ project: 'other' }));
  const list = async (caller: Caller, asked: string) =>
    (await store.experiments.list({ limit: 10, project: listedProject(caller, asked)! })).items.length;
  assert.equal(await list(ALL, 'other'), 1);
  assert.equal(await list(BOUND, 'other'), 0);
  assert.equal(await list(BOUND, 'nowhere'), 0);
});

test('a project-bound caller sees only its own experiments in a cluster, and no unknown attempt', async () => {
  const [own, foreign] = [submitInput({ project: 'mine' }), submitInput({ project: 'other' })];
  await store.experiments.submit(own);
  await store.experiments.submit(foreign);
  const unknownAttempts = [{ experiment: 'exp-lost', attempt: 1 }];
  const running = [foreign.id, own.id];
  const view = {
    name: 'c',
    experiments: running,
    secretProjects: {},
    checkpointStores: {},
    unknownAttempts,
  } as ClusterView;
  const [seen] = await seenClusters(store, BOUND, [view]);
  assert.deepEqual([seen?.experiments, seen?.unknownAttempts], [[own.id], []]);
  assert.deepEqual(await seenClusters(store, ALL, [view]), [view]);
});

test('projectNotFound quotes only the start of a name', () => {
  assert.ok(projectNotFound('x'.repeat(500)).message.length < 120);
});

/* Fails if the reason is returned unchanged. */
test('a project-bound caller reads the ids of its own experiments only, in every wait reason', async () => {
  const [own, foreign] = [submitInput({ project: 'mine' }), submitInput({ project: 'other' })];
  await store.experiments.submit(own);
  await store.experiments.submit(foreign);
  const words = `waits for ${foreign.id}, which is before it in the queue of c; ${foreign.id} waits for ${own.id}`;
  const bound = seenWords(store, { project: 'mine' });
  assert.equal(
    await bound(words),
    `waits for an experiment of another project, which is before it in the queue of c; an experiment of another project waits for ${own.id}`,
  );
  assert.equal(await bound(null), null);
  assert.equal(await bound('needs 4 GPUs on one node'), 'needs 4 GPUs on one node');
  assert.equal(await seenWords(store, { project: null })(words), words);
});
