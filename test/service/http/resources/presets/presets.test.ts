import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { appFor } from '../../../../support/http-app.ts';
import { storeFor } from '../../../../support/store.ts';

const { call } = await appFor({ after });

test('presets are listed, and one preset shows its specs and the published figures', async () => {
  const { items } = (await call('GET', '/v1/presets')).json();
  const main = items.find(({ name }: { name: string }) => name === 'paper-main-table');
  const preset = (await call('GET', `/v1/presets/${main.name}`)).json();
  assert.equal(preset.runs.length, main.trainings);
  const run = preset.runs.find(({ name }: { name: string }) => name === 'GiGPO K=4 1.5b alfworld');
  assert.ok(run.figures.inDomainSuccess > 50);
  const planned = await call('POST', '/v1/plans', { body: run.train });
  assert.equal(planned.statusCode, 200, planned.body);
  const answer = await call('GET', `/v1/presets/${main.name}x`);
  assert.equal(answer.statusCode, 404);
  assert.match(answer.json().detail, /Did you mean/);
});

test('a preset of prompted models shows the specs of their engine', async (t) => {
  const { store } = await storeFor(t);
  const { call: ask } = await appFor(t, { store });
  const { runs } = (await call('GET', '/v1/presets/paper-prompted')).json();
  assert.deepEqual(runs[0].figures, { outOfDomainSuccess: 48 });
  const planned = await ask('POST', '/v1/plans', { body: runs[0].train });
  assert.equal(planned.statusCode, 200, planned.body);
});
