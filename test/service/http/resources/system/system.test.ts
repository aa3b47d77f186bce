import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createDeliveriesQueue } from '../../../../../src/queue/deliveries-queue.ts';
import { createExperimentsQueue } from '../../../../../src/queue/experiments-queue.ts';
import type { System } from '../../../../../src/schemas/system.ts';
import { RETENTION_LEASE_MS } from '../../../../../src/store/retention/retention.ts';
import { until } from '../../../../support/dispatch.ts';
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
  const parts = { redis, prefix: '{system}', onError: (error: Error) => assert.fail(error) };
  const queue = createExperimentsQueue({ ...parts, statesOf: async () => new Map() });
  const deliveries = createDeliveriesQueue(parts);
  for (const one of [queue, deliveries]) t.after(() => one.close());
  const queues = [...queue.queues, deliveries.queue];
  const { call } = await appFor(t, { store, queues });
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
  const present = async () => (await call('GET', '/v1/queues')).json().dispatchers.present;
  assert.equal(await present(), false);
  // A dispatcher serves both queues.
  const limits = { concurrency: 1, lockMs: 30_000 };
  const serving = [queue.serve(async () => 'complete', limits), deliveries.serve(async () => {}, limits)];
  for (const one of serving) t.after(() => one.close(0));
  const counts = () => Promise.all(queues.map((one) => one.getWorkersCount()));
  await until(async () => (await counts()).every((count) => count === 1), 'both queues are served');
  assert.equal((await check('Dispatchers')).found, '1 connected');
  assert.equal(await present(), true);
});

test('a dispatcher that was killed while it applied retention is named, with the time at which another one takes over', async (t) => {
  const { store, redis } = await storeFor(t);
  const { call } = await appFor(t, { store });
  const check = async () => {
    const { checks } = (await call('GET', '/v1/system')).json() as System;
    return checks.find(({ name }) => name === 'Retention')!;
  };
  assert.deepEqual((await check()).ok, true);
  assert.ok(await store.retention.hold('dispatcher-1', RETENTION_LEASE_MS));
  assert.deepEqual([(await check()).ok, (await check()).found], [true, 'applied by dispatcher-1']);
  await redis.pexpire('{echelon}:retention', 6 * 60_000);
  const { ok, found, remedy } = await check();
  assert.deepEqual([ok, found], [false, 'applied by dispatcher-1, which was last heard of 5 minutes ago']);
  assert.match(remedy, /another dispatcher takes over in 6 minutes/);
});
