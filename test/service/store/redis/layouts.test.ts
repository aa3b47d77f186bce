import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeys } from '../../../../src/store/redis/keys.ts';
import { inKnownLayout } from '../../../../src/store/redis/layouts.ts';
import { clusterRecord, coded, storeFor, submitInput } from '../../../support/store.ts';
import { sweepInput, sweepRequest } from '../../../support/sweep.ts';

const keys = createKeys('echelon');

test('a layout that only a later version knows is refused in words, wherever it is met', async (t) => {
  assert.deepEqual(inKnownLayout('project', { name: 'a' }), { name: 'a' });
  for (const version of ['x', 0, 2])
    assert.throws(() => inKnownLayout('key', { version }), coded('record-too-new'));
  const { store, redis } = await storeFor(t);
  const { id } = await store.experiments.submit(submitInput());
  const { id: sweep } = await store.sweeps.create(sweepInput(sweepRequest(2)));
  // Fails without `inKnownLayout` where the record is read.
  await redis.hset(keys.experiment(id), 'version', '99');
  await assert.rejects(store.experiments.get(id), /layout 99.*Upgrade this process/);
  await redis.hset(`{echelon}:sweep:${sweep}`, 'version', '99');
  await assert.rejects(store.sweeps.get(sweep), coded('record-too-new'));
  await redis.hset('{echelon}:projects', 'later', JSON.stringify({ version: 99, name: 'later' }));
  await assert.rejects(store.projects.get('later'), coded('record-too-new'));
});

test('a dispatcher leaves an attempt to others whose record it cannot read', async (t) => {
  const { store, redis } = await storeFor(t);
  await store.clusters.put(clusterRecord());
  const given = { dispatcher: 'd', leaseMs: 60_000 };
  const later = async (id: string) => await redis.hset(keys.experiment(id), 'version', '99');
  const readable = async (id: string) => await redis.hset(keys.experiment(id), 'version', '1');
  const { id: experiment } = await store.experiments.submit(submitInput());
  const start = { experiment, project: 'default', cluster: 'local', nodes: [{ id: 'n', gpus: 0, cpus: 1 }] };
  assert.deepEqual(await store.attempts.allocate([{ ...start, allocationVersion: 0 }]), ['allocated']);
  const acquire = (token: string) => store.attempts.acquire({ experiment, token, ...given });
  await later(experiment);
  assert.equal((await acquire('a')).outcome, 'busy');
  await readable(experiment);
  const acquired = await acquire('b');
  assert.ok(acquired.outcome === 'acquired');
  await store.attempts.confirm(acquired.lease);
  await store.attempts.release([acquired.lease]);
  await later(experiment);
  assert.deepEqual(await store.attempts.takeOver({ ...given, limit: 9 }), []);
  await readable(experiment);
  assert.equal((await store.attempts.takeOver({ ...given, limit: 9 })).length, 1);
});
