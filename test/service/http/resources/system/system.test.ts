import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { System } from '../../../../../src/schemas/system.ts';
import { appFor } from '../../../../support/http-app.ts';
import { clusterRecord, storeFor } from '../../../../support/store.ts';

test('the checks of an installation name what is wrong with its remedy, and are not for keys of a project', async (t) => {
  const { store, redis } = await storeFor(t);
  const { call } = await appFor(t, { store });
  await store.clusters.put(clusterRecord({ name: 'silent', address: 'a:1' }));
  await redis.config('SET', 'maxmemory', '100mb');
  const checks = async () => {
    const answer = await call('GET', '/v1/system');
    assert.equal(answer.statusCode, 200, answer.body);
    return new Map((answer.json() as System).checks.map((one) => [one.name, one]));
  };
  const before = await checks();
  assert.deepEqual([before.get('Redis memory')?.ok, before.get('Cluster silent')?.ok], [true, false]);
  assert.match(before.get('Cluster silent')!.remedy, /reaches a:1/);
  await redis.config('SET', 'maxmemory', '1mb');
  await redis.config('SET', 'appendfsync', 'everysec');
  const after = await checks();
  assert.deepEqual([after.get('Redis memory')?.ok, after.get('Redis persistence')?.ok], [false, false]);
  assert.match(after.get('Redis persistence')!.found, /appendfsync always/);
  await call('POST', '/v1/projects', { body: { name: 'own' } });
  const body = { name: 'of own', project: 'own', scopes: ['read'] };
  const { token } = (await call('POST', '/v1/keys', { body })).json();
  assert.equal((await call('GET', '/v1/system', { token })).statusCode, 403);
});
