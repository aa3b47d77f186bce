import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newExperimentId } from '../../../../src/core/ids.ts';
import { newProject } from '../../../../src/schemas/project.ts';
import { storedKey } from '../../../support/access.ts';
import { coded, storeFor, submitInput } from '../../../support/store.ts';
import { sweepInput, sweepRequest } from '../../../support/sweep.ts';

const { store } = await storeFor({ after });
const make = (name: string) => store.createProject(newProject({ name }, 1));

test('the default project is always there, can be changed, and not be made or removed', async () => {
  const names = async () => (await store.projects()).map(({ name }) => name);
  assert.deepEqual(await names(), ['default']);
  assert.equal((await store.project('default'))?.weight, 1);
  assert.equal(await make('default'), false);
  assert.equal(await store.removeProject('default', 1), 'absent');
  assert.equal((await store.changeProject('default', { weight: 3 }))?.weight, 3);
  assert.equal((await store.project('default'))?.weight, 3);
  assert.deepEqual(await names(), ['default']);
  // Fails where it counts as removed: then nobody who names no project could submit anything.
  assert.equal(await store.removeProject('default', 1), 'removed');
  assert.equal((await store.project('default'))?.weight, 1);
  const { id } = await store.submit(submitInput());
  await store.cancel(id, '');
  assert.equal(await store.deleteExperiment(id), 'deleted');
});

test('a project is made once, changed and removed', async () => {
  assert.equal(await store.project('other'), undefined);
  assert.equal(await store.changeProject('other', { weight: 2 }), undefined);
  assert.deepEqual(await Promise.all([make('other'), make('other')]), [true, false]);
  assert.equal((await store.changeProject('other', { gpuQuota: 8 }))?.gpuQuota, 8);
  assert.deepEqual(await store.project('other'), { ...newProject({ name: 'other' }, 1), gpuQuota: 8 });
  assert.equal(await store.removeProject('other', 1), 'removed');
  assert.equal(await store.removeProject('other', 1), 'absent');
});

test('changes at one time are not lost', async () => {
  await make('busy');
  // Fails without the comparison in swap-access.lua: each would write what it read.
  await Promise.all([
    store.changeProject('busy', { weight: 7 }),
    store.changeProject('busy', { gpuQuota: 7 }),
    store.changeProject('busy', { retention: { batchesDays: 1 } }),
  ]);
  assert.deepEqual(await store.project('busy'), {
    ...newProject({ name: 'busy' }, 1),
    ...{ weight: 7, gpuQuota: 7, retention: { batchesDays: 1 } },
  });
});

test('a project to which something belongs is not removed', async () => {
  for (const name of ['with-experiment', 'with-sweep', 'with-key']) await make(name);
  await store.submit(submitInput({ project: 'with-experiment' }));
  await store.createSweep(sweepInput(sweepRequest(1), { project: 'with-sweep' }));
  await store.createKey(storedKey({ project: 'with-key', expiresAt: 100 }));
  assert.equal(await store.removeProject('with-experiment', 1), 'experiments');
  assert.equal(await store.removeProject('with-sweep', 1), 'sweeps');
  assert.equal(await store.removeProject('with-key', 99), 'keys');
  assert.equal(await store.removeProject('with-key', 100), 'removed');
});

// Fails without the look at what was removed in create-sweep.lua.
test('a project that was removed takes nothing, not even what was judged before, until it is made again', async () => {
  const input = sweepInput(sweepRequest(1), { project: 'short' });
  await make('short');
  assert.equal(await store.removeProject('short', 1), 'removed');
  await assert.rejects(store.createSweep(input), coded('invalid-spec'));
  await assert.rejects(store.submit(submitInput({ project: 'short' })), coded('invalid-spec'));
  assert.equal(await store.isIn('short', input.id), false);
  await make('short');
  assert.equal((await store.createSweep(input)).created, true);
  assert.equal(await store.removeProject('short', 1), 'sweeps');
});

test('isIn knows the project of an experiment and of a sweep', async () => {
  const { id } = await store.submit(submitInput({ project: 'a-team' }));
  const sweep = await store.createSweep(sweepInput(sweepRequest(1), { project: 'b-team' }));
  const isIn = [
    ...[await store.isIn('a-team', id), await store.isIn('b-team', id), await store.isIn('b-team', sweep.id)],
    ...[await store.isIn('a-team', sweep.id), await store.isIn('a-team', newExperimentId())],
  ];
  assert.deepEqual(isIn, [true, false, true, false, false]);
});

test('projects of what was accepted when any name would do are made once', async () => {
  const { store: old, redis } = await storeFor({ after });
  await old.submit(submitInput({ project: 'early' }));
  await old.createSweep(sweepInput(sweepRequest(1), { project: 'swept' }));
  await old.changeProject('default', { weight: 2 });
  const names = async () => (await old.projects()).map(({ name }) => name);
  // Fails where an api does not start at a full store.
  await redis.config('SET', 'maxmemory', '1mb');
  await old.adoptProjects(4);
  await redis.config('SET', 'maxmemory', '0');
  await Promise.all([old.adoptProjects(5), old.adoptProjects(5)]);
  assert.deepEqual(await names(), ['default', 'early', 'swept']);
  assert.equal((await old.project('default'))?.weight, 2);
  await old.submit(submitInput({ project: 'late' }));
  await old.adoptProjects(6);
  assert.deepEqual(await names(), ['default', 'early', 'swept']);
});
