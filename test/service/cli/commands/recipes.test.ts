import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RECIPE_NAMES } from '../../../../src/engines/verl-agent/spec.ts';
import { keptOutput, runProgram } from '../../../support/cli.ts';

test('every recipe is listed', async () => {
  const [shown, asJson] = [keptOutput(), keptOutput()];
  await runProgram(shown, ['recipes']);
  for (const name of RECIPE_NAMES) assert.ok(shown.lines[0]!.includes(name));
  await runProgram(asJson, ['recipes', '--json']);
  const { items } = asJson.json<{ items: { name: string }[] }>();
  assert.deepEqual(items.map(({ name }) => name).sort(), [...RECIPE_NAMES].sort());
});
