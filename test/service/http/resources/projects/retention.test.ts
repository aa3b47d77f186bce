import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newProject } from '../../../../../src/schemas/project.ts';
import { appFor } from '../../../../support/http-app.ts';
import { storeFor, submitInput } from '../../../../support/store.ts';

const DAY = 24 * 3600 * 1000;
const scope = { after };
const { store } = await storeFor(scope);
const { call } = await appFor(scope, { store, now: () => Date.now() + 40 * DAY });

test('the retention preview names the data that will expire under the policy of the project', async () => {
  await store.projects.create(
    newProject({ name: 'vision', retention: { streamsDays: 20, eventLogsDays: 30 } }, 1),
  );
  const { id } = await store.experiments.submit(submitInput({ project: 'vision' }));
  const { id: other } = await store.experiments.submit(submitInput());
  for (const one of [id, other]) {
    await store.experiments.cancel(one, 'not needed');
    await store.archive.archiveStream(one);
  }
  const preview = (await call('GET', '/v1/projects/vision/retention/preview')).json();
  assert.deepEqual(
    preview.stages.map((stage: Record<string, unknown>) => [
      stage.stage,
      stage.days,
      stage.experiments,
      stage.first,
    ]),
    [
      ['batches', 20, 1, [id]],
      ['streams', 20, 1, [id]],
      ['records', 730, 0, []],
    ],
  );
  assert.ok(preview.stages[1].bytes > 0);
  const { eventLogs } = preview;
  assert.deepEqual([eventLogs.days, eventLogs.experiments, eventLogs.complete], [30, 1, true]);
  const ofDefault = (await call('GET', '/v1/projects/default/retention/preview')).json();
  assert.deepEqual(
    ofDefault.stages.map((stage: { days: number; experiments: number }) => [stage.days, stage.experiments]),
    [
      [30, 1],
      [90, 0],
      [730, 0],
    ],
  );
  assert.equal((await store.events.read(id, undefined, 10)).length, 2, 'a preview deletes nothing');
});

test('the retention preview of an unknown project gets 404', async () => {
  const answer = await call('GET', '/v1/projects/absent/retention/preview');
  assert.deepEqual([answer.statusCode, answer.json().code], [404, 'project-not-found']);
});
