import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { queueTable } from '../../../../src/cli/commands/queues.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { submitInput } from '../../../support/store.ts';

const { store, connection } = await apiFor({ after });

async function run(...argv: string[]) {
  const output = keptOutput();
  return { output, ...(await runProgram(output, [...argv, ...connection])) };
}

test('queues lists the queued experiments as a table or JSON', async () => {
  const empty = await run('queue');
  assert.deepEqual(empty.output.lines, ['No experiment is queued.']);
  assert.match(empty.output.remarks.join(), /^No dispatcher is connected: nothing starts/);
  const { id } = await store.experiments.submit(submitInput({ gpus: 4, cpus: 8, name: 'train' }));
  await store.queue.note(new Map([[id, { reason: 'needs 4 GPUs', rank: 1 }]]));
  const text = (await run('queue')).output.lines.join('\n');
  assert.match(text, new RegExp(`1 +${id} +train +default +0 +4 GPU, 8 CPU +\\? +needs 4 GPUs`));
  assert.equal((await run('queue', '--json')).output.json<{ length: number }>().length, 1);
});

test('queues shows the GPUs of each node of a gang', async () => {
  const resolved = { engine: 'replay', resources: { nodes: 2, gpus: 4, cpus: 20 } };
  const { id } = await store.experiments.submit(submitInput({ gpus: 8, cpus: 20, name: 'gang', resolved }));
  assert.match((await run('queue')).output.lines.join('\n'), / gang +default +0 +2 × 4 GPU, 20 CPU /);
  await store.experiments.cancel(id, 'test');
});

test('the queues of all projects and of one are paused with a reason, listed and resumed', async () => {
  assert.deepEqual((await run('queue', 'pause', '--reason', 'dust')).output.lines, [
    'The queue of all projects is paused.',
  ]);
  assert.deepEqual((await run('queue', 'pause', 'default')).output.lines, [
    'The queue of default is paused.',
  ]);
  const remarks = (await run('queue')).output.remarks.join('\n');
  assert.match(remarks, /The queue of all projects is paused by .*: dust\nThe queue of default is paused by/);
  await run('queue', 'resume');
  assert.deepEqual((await run('queue', 'resume', 'default')).output.lines, [
    'The queue of default is resumed.',
  ]);
  assert.equal((await store.queue.pauses()).all, null);
  assert.match((await run('queue', 'pause', 'defalt')).error!.message, /Did you mean default/);
});

test('the queues of all projects and of one are closed with a reason, listed and resumed', async () => {
  const closed = await run('queue', 'close', 'default', '--reason', 'moving');
  assert.deepEqual(closed.output.lines, ['The queue of default accepts no new experiments.']);
  assert.deepEqual((await run('queue', 'close')).output.lines, [
    'The queue of all projects accepts no new experiments.',
  ]);
  const remarks = (await run('queue')).output.remarks.join('\n');
  assert.match(
    remarks,
    /The queue of all projects is closed for new experiments by .*\nThe queue of default is closed .* by .*: moving/,
  );
  for (const target of [[], ['default']]) await run('queue', 'resume', ...target);
  assert.deepEqual((await store.queue.pauses()).closed, { all: null, projects: new Map() });
});

test('update changes a priority, also to a negative one', async () => {
  const experiment = (await store.queue.ids(1))[0]!;
  const update = async (priority: string) => {
    const output = keptOutput();
    await runProgram(output, ['update', experiment, '--priority', priority, ...connection]);
    return output.lines;
  };
  assert.deepEqual(await update('7'), [`${experiment} has priority 7, at position 1 of 1`]);
  await update('-5');
  assert.equal((await store.experiments.get(experiment))?.priority, -5);
  await assert.rejects(update('high'), /must be a whole number/);
});

test('queues shows --limit experiments from as many pages as that takes', async (t) => {
  const { store, connection } = await apiFor(t);
  await Promise.all(Array.from({ length: 1002 }, () => store.experiments.submit(submitInput())));
  const shown = async (...argv: string[]) => {
    const output = keptOutput();
    await runProgram(output, ['queue', ...argv, ...connection]);
    const remarks = output.remarks.filter((text) => !text.startsWith('No dispatcher'));
    return { rows: output.lines.join('\n').split('\n').length - 1, remarks };
  };
  assert.deepEqual(await shown('--limit', '1001'), {
    rows: 1001,
    remarks: ['1002 experiments are queued; --limit shows more.'],
  });
  assert.deepEqual(await shown('--limit', '1002'), { rows: 1002, remarks: [] });
});

test('the table of an empty queue has its titles', () => {
  assert.match(queueTable({ items: [] }, 0), /WAIT REASON/);
});
