import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeKey } from '../../../../support/access.ts';
import { appFor } from '../../../../support/http-app.ts';
import { storeFor } from '../../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const { call } = await appFor(scope, { store });

test('a command is read by its id with the scope admin, and an unknown id gets 404', async () => {
  const body = { name: 'new', address: 'ray://h:10001', sharedRoot: '/shared' };
  const added = (await call('POST', '/v1/clusters', { body })).json();
  const read = await call('GET', `/v1/commands/${added.id}`);
  assert.deepEqual([read.statusCode, read.json()], [200, added]);
  assert.equal((await call('GET', '/v1/commands/cmd-00000000000000000000')).statusCode, 404);
  const { token } = await makeKey(store, { scopes: ['read', 'submit'] });
  assert.equal((await call('GET', `/v1/commands/${added.id}`, { token })).statusCode, 403);
});
