import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { newCommandId } from '../../../../src/core/ids.ts';
import { newProject } from '../../../../src/schemas/project.ts';
import type { VersionedKind } from '../../../../src/store/experiments/records-contract.ts';
import { changedSince, unlessChanged } from '../../../../src/store/experiments/versions.ts';
import { claimed, coded, running, storeFor, submitInput } from '../../../support/store.ts';

const { store } = await storeFor({ after });

async function addCluster(name: string): Promise<void> {
  await store.putCluster({
    ...{ name, address: '127.0.0.1:1', token: 'token', ca: null, backfill: false },
    ...{ generation: null, lastSeenAt: null, nodes: [] },
  });
}

/** That of `kind` after `change` is another than before, and the same each time it is read. */
async function assertChanges(kind: VersionedKind, name: string, change: () => Promise<unknown>) {
  const before = await store.recordVersion(kind, name);
  assert.equal(await store.recordVersion(kind, name), before);
  await change();
  assert.notEqual(await store.recordVersion(kind, name), before, String(change));
}

describe('the version of a record', () => {
  test('is another one after what people decide of an experiment, not after what happens to it', async () => {
    const { id } = await store.submit(submitInput());
    await assertChanges('experiment', id, () => store.setPriority(id, 3));
    const before = await store.recordVersion('experiment', id);
    await store.noteWaiting(new Map([[id, { reason: 'a reason' }]]));
    await store.confirm(await claimed(store, id));
    assert.equal(await store.recordVersion('experiment', id), before);
    await assertChanges('experiment', id, () => store.cancel(id, 'enough'));
    const other = await running(store);
    await assertChanges('experiment', other.experiment, () => store.cancel(other.experiment, 'enough'));
  });

  test('is another one after every change of a project', async () => {
    await assertChanges('project', 'a', () => store.createProject(newProject({ name: 'a' }, 1)));
    await assertChanges('project', 'a', () => store.changeProject('a', { weight: 2 }));
    await assertChanges('project', 'a', () => store.removeProject('a', 1));
    await assertChanges('project', 'default', () => store.changeProject('default', { weight: 2 }));
  });

  test('is another one after what people decide of a cluster, not after what it says of itself', async () => {
    await assertChanges('cluster', 'c', () => addCluster('c'));
    await assertChanges('cluster', 'c', () => store.setCluster('c', { labels: { gpu: 'h100' } }));
    await assertChanges('cluster', 'c', () => store.setCluster('c', { backfill: true }));
    await assertChanges('cluster', 'c', () => store.setDraining('c', true));
    const pause = { by: 'somebody', at: 1, reason: null };
    await assertChanges('cluster', 'c', () => store.setPaused({ kind: 'cluster', name: 'c' }, pause));
    const [known] = await store.clusters(['c']);
    await assertChanges('cluster', 'c', () => store.putCluster({ ...known!, token: 'another' }));
    const before = await store.recordVersion('cluster', 'c');
    await store.putCluster({ ...known!, token: 'another', lastSeenAt: 3, generation: 'f' });
    await store.seeCluster('c', {
      ...{ address: '127.0.0.1:1', nodes: [], generation: 'g', lastSeenAt: 7 },
    });
    assert.equal(await store.recordVersion('cluster', 'c'), before);
    await assertChanges('cluster', 'c', () => store.removeCluster('c'));
  });
});

// Fails where any text is made a key: the key of an experiment's events begins with its id, and holds no record.
test('the version of what is no id is none', async () => {
  const { experiment } = await running(store);
  assert.equal(await store.recordVersion('experiment', `${experiment}:events`), '');
});

describe('a write that is told a version', () => {
  test('changes nothing where the record has another by now', async () => {
    const { id } = await store.submit(submitInput());
    const version = await store.recordVersion('experiment', id);
    assert.equal(await store.setPriority(id, 3, version), 'changed');
    await assert.rejects(store.setPriority(id, 5, version), coded('precondition-failed'));
    assert.equal((await store.get(id))?.priority, 3);
    await store.cancel(id, 'enough');
    await assert.rejects(store.deleteExperiment(id, version), coded('precondition-failed'));
    assert.equal(await store.deleteExperiment(id, await store.recordVersion('experiment', id)), 'deleted');
    assert.equal(await store.deleteExperiment(id, version), 'not-found');
  });

  // Fails where the look at the version is not one step with the write.
  test('is the only one of many at once', async () => {
    await store.createProject(newProject({ name: 'many' }, 1));
    const version = await store.recordVersion('project', 'many');
    const weights = [2, 3, 4, 5, 6, 7, 8, 9];
    const writes = await Promise.allSettled(
      weights.map((weight) => store.changeProject('many', { weight }, version)),
    );
    assert.equal(writes.filter(({ status }) => status === 'fulfilled').length, 1);
    await assert.rejects(store.removeProject('many', 1, version), coded('precondition-failed'));
  });

  test('records no command for a cluster that has changed', async () => {
    await addCluster('d');
    const ifVersion = await store.recordVersion('cluster', 'd');
    await store.setCluster('d', { backfill: true }, ifVersion);
    await assert.rejects(store.setCluster('d', { backfill: false }, ifVersion), coded('precondition-failed'));
    const command = { id: newCommandId(), cluster: 'd', kind: 'remove', request: {}, secret: null } as const;
    await assert.rejects(store.createCommand({ ...command, ifVersion }), coded('precondition-failed'));
    assert.equal(await store.command(command.id), undefined);
    await store.createCommand(command);
    assert.equal((await store.command(command.id))?.state, 'queued');
  });
});

test('an answer that says so is thrown, any other is handed on', async () => {
  assert.equal(await unlessChanged(Promise.resolve(1)), 1);
  await assert.rejects(unlessChanged(Promise.resolve('changed-since')), coded('precondition-failed'));
  assert.equal(changedSince().code, 'precondition-failed');
});
