import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginCommand, clusterOf, commandOf } from '../../../src/http/begin-command.ts';
import type { RouteDeps } from '../../../src/http/deps.ts';
import { storeFor } from '../../support/store.ts';

test('a command is recorded also where its job cannot be made', async (t) => {
  const { store } = await storeFor(t);
  const warned: string[] = [];
  const deps = {
    store,
    commands: { send: () => Promise.reject(new Error('away')) },
    log: { warn: (_context: object, message: string) => void warned.push(message) },
  } as unknown as RouteDeps;
  const command = await beginCommand(deps, 'fleet', 'drain');
  assert.deepEqual([command.kind, command.state, command.findings], ['drain', 'queued', []]);
  assert.deepEqual(await commandOf(store, command.id), command);
  assert.match(warned.join(), /no job yet/);
});

test('an unknown cluster is answered with the nearest name', async (t) => {
  const { store } = await storeFor(t);
  await store.putCluster({
    ...{ name: 'fleet', address: 'h:1', token: 't', ca: null, backfill: false },
    ...{ generation: null, lastSeenAt: null, nodes: [] },
  });
  assert.equal((await clusterOf(store, 'fleet')).name, 'fleet');
  await assert.rejects(clusterOf(store, 'fleat'), /Did you mean fleet/);
  await assert.rejects(commandOf(store, 'nonsense'), /There is no command nonsense/);
});
