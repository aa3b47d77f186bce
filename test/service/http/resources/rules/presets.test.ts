import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { appFor, NO_STORE } from '../../../../support/http-app.ts';

const { call } = await appFor({ after }, { store: NO_STORE });

test('every rule preset is listed with its condition in words', async () => {
  const { items } = (await call('GET', '/v1/rules/presets')).json();
  assert.equal(items.length, 11);
  assert.equal(items[0].rule.name, 'wrong-rows');
  assert.equal(items[0].condition, 'wrongRows above 0');
});
