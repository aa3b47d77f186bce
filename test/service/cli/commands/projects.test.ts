import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { projectTable } from '../../../../src/cli/commands/projects.ts';
import { newProject } from '../../../../src/schemas/project.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';

const { store, connection } = await apiFor({ after });

async function run(...argv: string[]) {
  const output = keptOutput();
  return { output, ...(await runProgram(output, ['projects', ...argv, ...connection])) };
}

test('projects are made, shown, changed and removed', async () => {
  await run('add', 'vision', '--weight', '2', '--gpu-quota', '16', '--retain', 'batches=30');
  assert.deepEqual(
    { ...(await store.projects.get('vision')), createdAt: 0 },
    newProject({ name: 'vision', weight: 2, gpuQuota: 16, retention: { batchesDays: 30 } }, 0),
  );
  assert.match((await run()).output.lines.join(), /vision +2 +16 +0 +0 B +8.6 GB +30 d +default/);
  await run('update', 'vision', '--gpu-quota', 'none', '--retain', 'streams=ever');
  const changed = await store.projects.get('vision');
  assert.deepEqual([changed?.weight, changed?.gpuQuota], [2, null]);
  assert.deepEqual(changed?.retention, { batchesDays: 30, streamsDays: null });
  await run('update', 'vision', '--store-quota', '1.5GB');
  assert.equal((await store.projects.get('vision'))?.storeQuotaBytes, 1_500_000_000);
  assert.match((await run()).output.lines.join(), /vision +2 +none +0 +0 B +1\.5 GB/);
  assert.equal((await run('update', 'vision')).exitCode, 2);
  await assert.rejects(run('update', 'vision', '--retain', 'batch=3'), /It must be batches, streams/);
  assert.deepEqual((await run('delete', 'vision')).output.lines, ['vision deleted']);
  assert.equal((await run('delete', 'vision')).exitCode, 4);
});

test('two retentions that are set at the same time are both kept', async () => {
  await run('add', 'vision-2');
  await Promise.all([
    run('update', 'vision-2', '--retain', 'batches=30'),
    run('update', 'vision-2', '--retain', 'streams=60'),
    run('update', 'vision-2', '--retain', 'records=90'),
  ]);
  const changed = await store.projects.get('vision-2');
  assert.deepEqual(changed?.retention, { batchesDays: 30, streamsDays: 60, recordsDays: 90 });
});

test('JSON is the answer of the API', async () => {
  const { output } = await run('--json');
  assert.equal(output.json<{ items: { name: string }[] }>().items[0]?.name, 'default');
});

test('a table shows what is not set', () => {
  const project = { ...newProject({ name: 'a' }, 0), storeBytes: 0, storeLimitBytes: null };
  assert.match(projectTable([project]), /a +1 +none +0 +0 B +none +default +default +default/);
});
