import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SettingsError } from '../../../src/config/settings.ts';
import { addRayClusters, makeKnown, namedClusters } from '../../../src/main/clusters.ts';
import type { Store } from '../../../src/store/store.ts';
import { until } from '../../support/dispatch.ts';
import { storeFor } from '../../support/store.ts';

const RAY = {
  name: 'a',
  rayAddress: 'ray://a:10001',
  rayToken: 'the-token',
  rayTls: null,
  sharedRoot: '/shared',
};

test('a known cluster gets its new address and token, and keeps what else is known of it', async (t) => {
  const { store } = await storeFor(t);
  await makeKnown(store, [{ name: 'a', address: 'a:1', token: 'first' }]);
  const [made] = await store.clusters.list();
  await store.clusters.put({ ...made!, backfill: true });
  await makeKnown(store, [{ name: 'a', address: 'a:2', token: 'second' }]);
  const [cluster] = await store.clusters.list();
  assert.deepEqual([cluster?.address, cluster?.token, cluster?.backfill], ['a:2', 'second', true]);
});

/** Ends the one command that waits, as a dispatcher would. Gives what it was asked. */
async function endCommand(store: Store, end: Parameters<Store['commands']['end']>[1]) {
  const { id } = await until(async () => (await store.commands.open())[0], 'a command waits');
  const found = await store.commands.claim({ id, dispatcher: 'd', leaseMs: 60_000 });
  assert.ok(found.outcome === 'claimed');
  await store.commands.end(found.claimed.lease, end);
  return found.claimed;
}

test('a Ray cluster is added by a command, and its start waits for the end of it', async (t) => {
  const { store } = await storeFor(t);
  const added = addRayClusters(store, [RAY]);
  const { kind, request, secret } = await endCommand(store, { state: 'succeeded', problems: [] });
  await added;
  assert.deepEqual([kind, JSON.parse(secret!)], ['add', { token: 'the-token', tls: null }]);
  assert.deepEqual((request as { address: string }).address, 'ray://a:10001');
});

test('a start does not wait for a command that is gone, or that no dispatcher begins with', async (t) => {
  const { store, redis } = await storeFor(t);
  await assert.rejects(addRayClusters(store, [RAY], 100), /no dispatcher has begun with it\. Start one/);
  const [first] = await store.commands.open();
  const added = addRayClusters(store, [{ ...RAY, name: 'b' }]);
  const { id } = await until(
    async () => (await store.commands.open()).find((one) => one.id !== first!.id),
    'a command waits',
  );
  await redis.del(`{echelon}:command:${id}`);
  await assert.rejects(added, /The cluster b could not be added: its command is gone/);
});

test('what made the command fail is thrown, with its remedy', async (t) => {
  const { store } = await storeFor(t);
  const added = addRayClusters(store, [RAY]);
  const problem = { message: 'It is away.', remedy: 'Start it.' };
  const problems = [
    { severity: 'warning', message: 'by the way', remedy: '' },
    { severity: 'error', ...problem },
  ] as const;
  await Promise.all([
    assert.rejects(added, /cluster a could not be added: It is away\. Start it\./),
    endCommand(store, { state: 'failed', problems }),
  ]);
});

test('the options of the command line go together in their order', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'echelon-clusters-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const files = ['one', 'two'].map((name) => join(dir, name));
  for (const [at, file] of files.entries()) await writeFile(file, `token-${at}\n`);
  assert.deepEqual(await namedClusters({}), []);
  assert.deepEqual(await namedClusters({ cluster: ['a=h:1', 'b=h:2'], clusterTokenFile: files }), [
    { name: 'a', address: 'h:1', token: 'token-0' },
    { name: 'b', address: 'h:2', token: 'token-1' },
  ]);
  await assert.rejects(namedClusters({ cluster: ['a=h:1'] }), SettingsError);
  const missing = join(dir, 'missing');
  await assert.rejects(
    namedClusters({ cluster: ['a=h:1'], clusterTokenFile: [missing] }),
    /--cluster-token-file .*missing cannot be read: ENOENT/,
  );
  await writeFile(missing, '\n');
  await assert.rejects(
    namedClusters({ cluster: ['a=h:1'], clusterTokenFile: [missing] }),
    /--cluster-token-file .*missing is empty/,
  );
  await assert.rejects(namedClusters({ cluster: ['h:1'], clusterTokenFile: [files[0]!] }), /name=host:port/);
});
