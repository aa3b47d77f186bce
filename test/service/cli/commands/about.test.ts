import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { VERSION } from '../../../../src/cli/package-version.ts';
import { createProgram } from '../../../../src/cli/program.ts';
import { RECIPE_NAMES } from '../../../../src/engines/verl-agent/spec.ts';
import { keptOutput, runProgram } from '../../../support/cli.ts';

async function help(...names: string[]): Promise<string> {
  const program = await createProgram(keptOutput());
  const parts: string[] = [];
  const seen = { writeOut: (part: string) => void parts.push(part), getOutHelpWidth: () => 100 };
  program.configureOutput(seen);
  for (const sub of program.commands) for (const one of [sub, ...sub.commands]) one.configureOutput(seen);
  await program.parseAsync(['help', ...names], { from: 'user' });
  return parts.join('');
}

test('help says what --help says, of a command within a command too', async () => {
  assert.match(await help(), /^Usage: echelon COMMAND \[options\]/);
  assert.match(await help('sweep'), /^Usage: echelon sweeps/);
  assert.match(await help('sweep', 'submit'), /^Usage: echelon sweeps submit .*--dry-run/s);
});

test('a command that is not there is named, with the one that was meant', async () => {
  await assert.rejects(help('sweep', 'sumbit'), /There is no command "sumbit"\. Did you mean submit\?/);
  await assert.rejects(help('zzzzzz'), /List the commands with `echelon --help`/);
});

test('every recipe is listed', async () => {
  const [shown, asJson] = [keptOutput(), keptOutput()];
  await runProgram(shown, ['recipes']);
  for (const name of RECIPE_NAMES) assert.ok(shown.lines[0]!.includes(name));
  await runProgram(asJson, ['recipes', '--json']);
  const { items } = asJson.json<{ items: { name: string }[] }>();
  assert.deepEqual(items.map(({ name }) => name).sort(), [...RECIPE_NAMES].sort());
});

test('version prints that of the package and of Node', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  assert.equal(VERSION, version);
  const node = process.versions.node;
  const [text, asJson] = [keptOutput(), keptOutput()];
  await runProgram(text, ['version']);
  assert.deepEqual(text.lines, [`echelon ${version} (Node ${node})`]);
  await runProgram(asJson, ['version', '--json']);
  assert.deepEqual(asJson.json(), { version, node });
});
