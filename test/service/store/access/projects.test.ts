import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newExperimentId } from '../../../../src/core/ids.ts';
import { newProject } from '../../../../src/schemas/project.ts';
import { createProjects } from '../../../../src/store/access/projects.ts';
import type { StoreContext } from '../../../../src/store/context.ts';
import { createKeys } from '../../../../src/store/redis/keys.ts';
import { loadScripts } from '../../../../src/store/redis/scripts.ts';
import { storedKey } from '../../../support/access.ts';
import { coded, storeFor, submitInput } from '../../../support/store.ts';
import { sweepInput, sweepRequest } from '../../../support/sweep.ts';

const { store, server } = await storeFor({ after });
const make = (name: string) => store.projects.create(newProject({ name }, 1));

test('the default project is always there, can be changed, and not be made or removed', async () => {
  const names = async () => (await store.projects.list()).map(({ name }) => name);
  assert.deepEqual(await names(), ['default']);
  assert.equal((await store.projects.get('default'))?.weight, 1);
  assert.equal(await make('default'), false);
  assert.equal(await store.projects.remove('default', 1), 'absent');
  assert.equal((await store.projects.change('default', { weight: 3 }))?.weight, 3);
  assert.equal((await store.projects.get('default'))?.weight, 3);
  assert.deepEqual(await names(), ['default']);
  // Fails if it counts as removed: a submission without a project would be refused.
  assert.equal(await store.projects.remove('default', 1), 'removed');
  assert.equal((await store.projects.get('default'))?.weight, 1);
  const { id } = await store.experiments.submit(submitInput());
  await store.experiments.cancel(id, '');
  assert.equal(await store.experiments.delete(id), 'deleted');
});

test('a project is made once, changed and removed', async () => {
  assert.equal(await store.projects.get('other'), undefined);
  assert.equal(await store.projects.change('other', { weight: 2 }), undefined);
  assert.deepEqual(await Promise.all([make('other'), make('other')]), [true, false]);
  assert.equal((await store.projects.change('other', { gpuQuota: 8 }))?.gpuQuota, 8);
  assert.deepEqual(await store.projects.get('other'), { ...newProject({ name: 'other' }, 1), gpuQuota: 8 });
  assert.equal(await store.projects.remove('other', 1), 'removed');
  assert.equal(await store.projects.remove('other', 1), 'absent');
});

test('changes at one time are not lost', async () => {
  await make('busy');
  // Fails without the comparison in swap-access.lua: each would write what it read.
  await Promise.all([
    store.projects.change('busy', { weight: 7 }),
    store.projects.change('busy', { gpuQuota: 7 }),
    store.projects.change('busy', { retention: { batchesDays: 1 } }),
  ]);
  assert.deepEqual(await store.projects.get('busy'), {
    ...newProject({ name: 'busy' }, 1),
    weight: 7,
    gpuQuota: 7,
    retention: { batchesDays: 1 },
  });
});

test('a project to which something belongs is not removed', async () => {
  for (const name of ['with-experiment', 'with-sweep', 'with-key']) await make(name);
  await store.experiments.submit(submitInput({ project: 'with-experiment' }));
  await store.sweeps.create(sweepInput(sweepRequest(1), { project: 'with-sweep' }));
  await store.access.createKey(storedKey({ project: 'with-key', expiresAt: 100 }));
  assert.equal(await store.projects.remove('with-experiment', 1), 'experiments');
  assert.equal(await store.projects.remove('with-sweep', 1), 'sweeps');
  assert.equal(await store.projects.remove('with-key', 99), 'keys');
  assert.equal(await store.projects.remove('with-key', 100), 'removed');
});

// Fails without the comparison of versions in remove-project.lua.
test('a project is not removed if an API key was created after its keys were read', async () => {
  await make('raced');
  const { redis } = await storeFor({ after }, { server });
  const root = createKeys('echelon').root;
  let reads = 0;
  const racing = createProjects({ redis, keys: { root }, run: loadScripts(redis, root) } as StoreContext, {
    version: () => store.access.version(),
    async keys() {
      const found = await store.access.keys();
      if (reads++ === 0)
        await store.access.createKey(storedKey({ id: 'fedcba9876543210', project: 'raced' }));
      return found;
    },
  });
  assert.equal(await racing.remove('raced', 1), 'keys');
  assert.equal(reads, 2);
});

// Fails without the look at what was removed in create-sweep.lua.
test('a project that was removed takes nothing, not even what was judged before, until it is made again', async () => {
  const input = sweepInput(sweepRequest(1), { project: 'short' });
  await make('short');
  assert.equal(await store.projects.remove('short', 1), 'removed');
  await assert.rejects(store.sweeps.create(input), coded('invalid-spec'));
  await assert.rejects(store.experiments.submit(submitInput({ project: 'short' })), coded('invalid-spec'));
  assert.equal(await store.projects.contains('short', input.id), false);
  await make('short');
  assert.equal((await store.sweeps.create(input)).created, true);
  assert.equal(await store.projects.remove('short', 1), 'sweeps');
});

test('isIn knows the project of an experiment and of a sweep', async () => {
  const { id } = await store.experiments.submit(submitInput({ project: 'a-team' }));
  const sweep = await store.sweeps.create(sweepInput(sweepRequest(1), { project: 'b-team' }));
  const isIn = [
    await store.projects.contains('a-team', id),
    await store.projects.contains('b-team', id),
    await store.projects.contains('b-team', sweep.id),
    await store.projects.contains('a-team', sweep.id),
    await store.projects.contains('a-team', newExperimentId()),
  ];
  assert.deepEqual(isIn, [true, false, true, false, false]);
});
