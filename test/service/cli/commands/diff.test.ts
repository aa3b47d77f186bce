import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { ExperimentSpec } from 'echelon-client/calls';
import { differencesOf } from '../../../../src/cli/commands/diff.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { REPLAY } from '../../../support/http-app.ts';

const { client, connection } = await apiFor({ after });
const submitted = async (body: ExperimentSpec) => (await client.post('/v1/experiments', { body })).id;
async function diff(...argv: string[]) {
  const output = keptOutput();
  await runProgram(output, ['diff', ...argv, ...connection]);
  return output;
}

test('two specs differ in the values that one has otherwise, or alone', () => {
  assert.deepEqual(differencesOf({ a: 1, b: { c: [1], 'x/y': 1 } }, { a: 1, b: { c: [2] }, d: null }), [
    { pointer: '/b/c', a: [1], b: [2] },
    { pointer: '/b/x~1y', a: 1, b: undefined },
    { pointer: '/d', a: undefined, b: null },
  ]);
});

test('diff shows the values in which two experiments differ, and both results', async () => {
  const [a, b] = [await submitted({ ...REPLAY, name: 'one' }), await submitted({ ...REPLAY, name: 'two' })];
  const text = (await diff('one', b)).lines.join('\n');
  assert.match(text, new RegExp(`^SPEC +${a} +${b}\\n/name +one +two$`, 'm'));
  assert.match(text, /^state +queued +queued$/m);
  const { differences } = (await diff(a, b, '--json')).json<{ differences: { pointer: string }[] }>();
  assert.deepEqual(
    differences.map(({ pointer }) => pointer),
    ['/name'],
  );
  assert.equal((await diff(a, a)).lines[0], 'The specs are equal.');
});
