import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { EXIT } from 'command-kit/exit';
import { type Ask, commands } from '../../../../src/cli/commands/cancel-delete.ts';
import type { Experiment } from '../../../../src/schemas/experiment.ts';
import { apiFor, keptOutput, runCommand } from '../../../support/cli.ts';
import { REPLAY } from '../../../support/http-app.ts';
import { expandAll } from '../../../support/sweep.ts';

const api = await apiFor({ after });

const submitted = async (name = 'a name') =>
  (await api.client.post('/v1/experiments', { body: { ...REPLAY, name } })).id;
async function ended(): Promise<string> {
  const id = await submitted();
  await api.store.experiments.cancel(id, 'not wanted');
  return id;
}
async function sweep(): Promise<{ id: string; children: string[] }> {
  const { id } = await api.client.post('/v1/sweeps', {
    body: { name: 's', method: 'grid', spec: { engine: 'replay' }, axes: { 'replay.batches': [1, 2] } },
  });
  return { id, children: await expandAll(api.store, id) };
}
async function run(args: string[], ask: Ask = async () => undefined) {
  const output = keptOutput();
  const end = await runCommand(
    [commands.cancel(output), commands.delete(output, ask)],
    [...args, ...api.connection],
  );
  return { output, ...end };
}

test('cancel ends experiments and sweeps alike, and what it cannot end keeps none of the others', async () => {
  const [first, gone, swept] = [await submitted(), await ended(), await sweep()];
  const { output, exitCode, error } = await run(['cancel', first, gone, swept.id]);
  assert.equal(exitCode, EXIT.refused);
  assert.match(error!.message, /^1 of 3 were not cancelled\.$/);
  assert.deepEqual(output.lines, [`${first} cancelled`, `${swept.id} cancelled`]);
  assert.match(output.remarks[0]!, new RegExp(`^${gone}: .*already ended`));
  assert.equal((await api.store.experiments.get(swept.children[1]!))!.state, 'cancelled');
  const one = await submitted();
  assert.equal((await run(['cancel', one, '--json'])).output.json<Experiment>().state, 'cancelled');
  assert.match((await run(['cancel', one])).error!.message, /already ended/);
  const several = await run(['cancel', one, await submitted(), '--json']);
  assert.deepEqual(
    several.output.json<{ done: boolean }[]>().map(({ done }) => done),
    [false, true],
  );
});

test('cancel takes names and starts of ids, and refuses a name that two have', async () => {
  const id = await submitted('the only one of that name');
  assert.equal((await run(['cancel', 'the only one of that name'])).output.lines[0], `${id} cancelled`);
  const both = [await submitted('duplicate'), await submitted('duplicate')];
  const { exitCode, error } = await run(['cancel', 'duplicate']);
  assert.equal(exitCode, EXIT.usage);
  for (const one of both) assert.match(error!.message, new RegExp(one));
  assert.equal((await api.store.experiments.get(both[0]!))!.state, 'queued');
});

test('delete of a sweep deletes its experiments, once they have ended', async () => {
  const { id, children } = await sweep();
  const early = await run(['delete', '--yes', id]);
  assert.equal(early.exitCode, EXIT.refused);
  assert.match(early.error!.message, /queued; cancel it/);
  await run(['cancel', id]);
  assert.deepEqual((await run(['delete', '--yes', id])).output.lines, [`${id} deleted: 2 experiments`]);
  assert.equal(await api.store.experiments.get(children[0]!), undefined);
  assert.equal(await api.store.experiments.get(children[1]!), undefined);
});

test('delete asks, and deletes only on a yes', async () => {
  const id = await ended();
  const questions: string[] = [];
  const saying = (answer: string | undefined) => async (question: string) => {
    questions.push(question);
    return answer;
  };
  assert.equal((await run(['delete', id], saying('n'))).exitCode, EXIT.notOk);
  assert.equal((await run(['delete', id], saying(''))).exitCode, EXIT.notOk);
  const unasked = await run(['delete', id], saying(undefined));
  assert.equal(unasked.exitCode, EXIT.usage);
  assert.match(unasked.error!.message, /--yes/);
  assert.ok(await api.store.experiments.get(id));
  assert.match(questions[0]!, new RegExp(`Delete experiment ${id}`));
  assert.equal((await run(['delete', id], saying('yes'))).exitCode, EXIT.ok);
  assert.equal(await api.store.experiments.get(id), undefined);
});

test('delete refuses what has not ended and deletes the others', async () => {
  const [waiting, first, second] = [await submitted(), await ended(), await ended()];
  const { output, exitCode, error } = await run(['delete', '--yes', first, waiting, second]);
  assert.equal(exitCode, EXIT.refused);
  assert.match(error!.message, /1 of 3 were not deleted/);
  assert.match(output.remarks[0]!, /is queued; cancel it/);
  assert.deepEqual(output.lines, [`${first} deleted`, `${second} deleted`]);
  const again = await run(['delete', '--yes', '--json', waiting]);
  assert.equal(again.output.json<{ deleted: boolean }[]>()[0]!.deleted, false);
});
