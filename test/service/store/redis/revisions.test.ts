import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { newCommandId } from '../../../../src/core/ids.ts';
import { newProject } from '../../../../src/schemas/project.ts';
import { changedSince, type RevisedKind, unlessChanged } from '../../../../src/store/redis/revisions.ts';
import { claimed, clusterRecord, coded, running, storeFor, submitInput } from '../../../support/store.ts';

const { store } = await storeFor({ after });

async function addCluster(name: string): Promise<void> {
  await store.clusters.put(clusterRecord({ name, address: '127.0.0.1:1', token: 'token' }));
}

/** The revision rises by one with `change`, and stays when it is read. */
async function assertChanges(kind: RevisedKind, name: string, change: () => Promise<unknown>) {
  const before = await store.revisions.get(kind, name);
  assert.equal(await store.revisions.get(kind, name), before);
  await change();
  assert.equal(await store.revisions.get(kind, name), before + 1, String(change));
}

describe('the revision of a record', () => {
  test('rises with what people decide of an experiment, not after what happens to it', async () => {
    const { id } = await store.experiments.submit(submitInput());
    await assertChanges('experiment', id, () => store.queue.setPriority(id, 3));
    const before = await store.revisions.get('experiment', id);
    await store.queue.note(new Map([[id, { reason: 'a reason' }]]));
    await store.attempts.confirm(await claimed(store, id));
    assert.equal(await store.revisions.get('experiment', id), before);
    await assertChanges('experiment', id, () => store.experiments.cancel(id, 'enough'));
    const other = await running(store);
    await assertChanges('experiment', other.experiment, () =>
      store.experiments.cancel(other.experiment, 'enough'),
    );
  });

  test('rises with every change of a project', async () => {
    await assertChanges('project', 'a', () => store.projects.create(newProject({ name: 'a' }, 1)));
    await assertChanges('project', 'a', () => store.projects.change('a', { weight: 2 }));
    await assertChanges('project', 'a', () => store.projects.remove('a', 1));
    await assertChanges('project', 'default', () => store.projects.change('default', { weight: 2 }));
  });

  test('rises with what people decide of a cluster, not after what it says of itself', async () => {
    await assertChanges('cluster', 'c', () => addCluster('c'));
    await assertChanges('cluster', 'c', () => store.clusters.set('c', { labels: { gpu: 'h100' } }));
    await assertChanges('cluster', 'c', () => store.clusters.set('c', { backfill: true }));
    await assertChanges('cluster', 'c', () => store.clusters.setDraining('c', true));
    const pause = { by: 'an operator', at: 1, reason: null };
    await assertChanges('cluster', 'c', () => store.queue.setPaused({ kind: 'cluster', name: 'c' }, pause));
    const [known] = await store.clusters.list(['c']);
    await assertChanges('cluster', 'c', () => store.clusters.put({ ...known!, token: 'another' }));
    const before = await store.revisions.get('cluster', 'c');
    await store.clusters.put({ ...known!, token: 'another', lastSeenAt: 3, generation: 'f' });
    const seen = { address: '127.0.0.1:1', nodes: [], generation: 'g', lastSeenAt: 7 };
    await store.clusters.see('c', seen);
    assert.equal(await store.revisions.get('cluster', 'c'), before);
    await assertChanges('cluster', 'c', () => store.clusters.remove('c'));
  });
});

// Fails where any text is made a key: the key of an experiment's events begins with its id, and holds no record.
test('the revision of a text that is no id is 0', async () => {
  const { experiment } = await running(store);
  assert.equal(await store.revisions.get('experiment', `${experiment}:events`), 0);
});

describe('a write that names a revision', () => {
  test('changes nothing where the record has another by now', async () => {
    const { id } = await store.experiments.submit(submitInput());
    const revision = await store.revisions.get('experiment', id);
    assert.equal(await store.queue.setPriority(id, 3, revision), 'changed');
    await assert.rejects(store.queue.setPriority(id, 5, revision), coded('precondition-failed'));
    assert.equal((await store.experiments.get(id))?.priority, 3);
    await store.experiments.cancel(id, 'enough');
    await assert.rejects(store.experiments.delete(id, revision), coded('precondition-failed'));
    assert.equal(await store.experiments.delete(id, await store.revisions.get('experiment', id)), 'deleted');
    assert.equal(await store.experiments.delete(id, revision), 'not-found');
  });

  // Fails where the look at the revision is not one step with the write.
  test('a write that names a revision is the only one of many at once', async () => {
    await store.projects.create(newProject({ name: 'many' }, 1));
    const revision = await store.revisions.get('project', 'many');
    const weights = [2, 3, 4, 5, 6, 7, 8, 9];
    const writes = await Promise.allSettled(
      weights.map((weight) => store.projects.change('many', { weight }, revision)),
    );
    assert.equal(writes.filter(({ status }) => status === 'fulfilled').length, 1);
    await assert.rejects(store.projects.remove('many', 1, revision), coded('precondition-failed'));
  });

  test('records no command for a cluster that has changed', async () => {
    await addCluster('d');
    const ifRevision = await store.revisions.get('cluster', 'd');
    await store.clusters.set('d', { backfill: true }, ifRevision);
    await assert.rejects(
      store.clusters.set('d', { backfill: false }, ifRevision),
      coded('precondition-failed'),
    );
    const command = { id: newCommandId(), cluster: 'd', kind: 'remove', request: {}, secret: null } as const;
    await assert.rejects(store.commands.create({ ...command, ifRevision }), coded('precondition-failed'));
    assert.equal(await store.commands.get(command.id), undefined);
    await store.commands.create(command);
    assert.equal((await store.commands.get(command.id))?.state, 'queued');
  });
});

test('an answer that says so is thrown, any other is handed on', async () => {
  assert.equal(await unlessChanged(Promise.resolve(1)), 1);
  await assert.rejects(unlessChanged(Promise.resolve('changed-since')), coded('precondition-failed'));
  assert.equal(changedSince().code, 'precondition-failed');
});
