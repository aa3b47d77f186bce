import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { seenWords } from '../../../../src/http/access/seen-words.ts';
import { makeProjects } from '../../../support/access.ts';
import { storeFor, submitInput } from '../../../support/store.ts';

const { store } = await storeFor({ after });
await makeProjects(store, 'mine', 'other');

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
