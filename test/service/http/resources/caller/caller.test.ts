import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeKey } from '../../../../support/access.ts';
import { appFor } from '../../../../support/http-app.ts';
import { storeFor } from '../../../../support/store.ts';

const { store } = await storeFor({ after });
const { call } = await appFor({ after }, { store, settings: { grafanaUrl: 'https://grafana.example' } });

test('GET /v1/caller shows the id, name, project and scopes of the key', async () => {
  const { id, token } = await makeKey(store, { name: 'ci', project: 'default', scopes: ['read', 'submit'] });
  assert.deepEqual((await call('GET', '/v1/caller', { token })).json(), {
    ...{ id, name: 'ci', project: 'default', scopes: ['read', 'submit'] },
    grafana: 'https://grafana.example',
  });
  const all = (await call('GET', '/v1/caller')).json();
  assert.deepEqual([all.project, all.scopes.length], [null, 4]);
});
