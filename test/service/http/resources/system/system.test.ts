import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createExperimentsQueue } from '../../../../../src/queue/experiments-queue.ts';
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

test('certificates that end soon are a problem, and so is an installation without a dispatcher', async (t) => {
  const { store, redis } = await storeFor(t);
  const folder = await mkdtemp(join(tmpdir(), 'echelon-certificates-'));
  t.after(() => rm(folder, { recursive: true }));
  const certificate = async (days: number): Promise<string> => {
    const made = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=a';
    const files = ['-keyout', join(folder, 'key'), '-out', join(folder, 'crt'), '-days', String(days)];
    await promisify(execFile)('openssl', ['req', ...made.split(' '), ...files]);
    return await readFile(join(folder, 'crt'), 'utf8');
  };
  await store.clusters.put(clusterRecord({ name: 'new', ca: await certificate(300) }));
  await store.clusters.put(clusterRecord({ name: 'old', ca: await certificate(3) }));
  const queue = createExperimentsQueue({
    redis,
    prefix: '{system}',
    onError: (error) => assert.fail(error),
    statesOf: async () => new Map(),
  });
  t.after(() => queue.close());
  const { call } = await appFor(t, { store, queues: queue.queues });
  const check = async (name: string) => {
    const { checks } = (await call('GET', '/v1/system')).json() as System;
    return checks.find((one) => one.name === name)!;
  };
  assert.deepEqual(
    [(await check('Certificates of new')).ok, (await check('Certificates of old')).ok],
    [true, false],
  );
  assert.match((await check('Certificates of old')).remedy, /clusters add/);
  assert.equal((await check('Dispatchers')).found, '0 connected');
  const serving = queue.serve(async () => 'complete', { concurrency: 1, lockMs: 30_000 });
  t.after(() => serving.close(0));
  while (!(await check('Dispatchers')).ok) await delay(20);
  assert.equal((await check('Dispatchers')).found, '1 connected');
});
