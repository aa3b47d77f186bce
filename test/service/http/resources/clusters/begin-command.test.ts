import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  beginCommand,
  clusterOf,
  commandOf,
  refuseVariables,
} from '../../../../../src/http/resources/clusters/begin-command.ts';
import { makeKey } from '../../../../support/access.ts';
import { appFor } from '../../../../support/http-app.ts';
import { clusterRecord, storeFor } from '../../../../support/store.ts';

test('beginCommand records the command and wakes the dispatchers', async (t) => {
  const { store } = await storeFor(t);
  const woken = Promise.withResolvers<string>();
  const stop = await store.onWake((topic) => void (topic === 'command' && woken.resolve(topic)));
  t.after(stop);
  const command = await beginCommand({ store }, 'fleet', 'drain');
  assert.equal(await woken.promise, 'command');
  assert.deepEqual([command.kind, command.state, command.findings], ['drain', 'queued', []]);
  assert.deepEqual(await commandOf(store, command.id), command);
});

test('an unknown cluster or command is refused with the nearest name', async (t) => {
  const { store } = await storeFor(t);
  await store.clusters.put(clusterRecord({ name: 'fleet', address: 'h:1' }));
  assert.equal((await clusterOf(store, 'fleet')).name, 'fleet');
  await assert.rejects(clusterOf(store, 'fleat'), /Did you mean fleet/);
  await assert.rejects(commandOf(store, 'nonsense'), /There is no command nonsense/);
});

test("a cluster's variables may hold any plain value, but no secret and no variable of Ray", () => {
  refuseVariables({ HF_ENDPOINT: 'https://mirror.example.org', MY_SETTING: '1' });
  assert.throws(() => refuseVariables({ RAY_ADDRESS: 'x:1' }), {
    code: 'invalid-request',
    message: /RAY_ADDRESS/,
  });
  const token = `hf_${'a1B2'.repeat(8)}`;
  assert.throws(
    () => refuseVariables({ HF_TOKEN: token }),
    (error: Error) => !error.message.includes(token),
  );
});

test('a command is read by its id with the scope admin, and an unknown id gets 404', async (t) => {
  const { store } = await storeFor(t);
  const { call } = await appFor(t, { store });
  const body = { name: 'new', address: 'ray://h:10001', sharedRoot: '/shared' };
  const added = (await call('POST', '/v1/clusters', { body })).json();
  const read = await call('GET', `/v1/commands/${added.id}`);
  assert.deepEqual([read.statusCode, read.json()], [200, added]);
  assert.equal((await call('GET', '/v1/commands/cmd-00000000000000000000')).statusCode, 404);
  const { token } = await makeKey(store, { scopes: ['read', 'submit'] });
  assert.equal((await call('GET', `/v1/commands/${added.id}`, { token })).statusCode, 403);
});
