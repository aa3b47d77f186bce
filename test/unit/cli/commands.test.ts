import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS, loaded } from '../../../src/cli/commands.ts';
import { createProgram } from '../../../src/cli/program.ts';
import { keptOutput } from '../../support/cli.ts';

const entries = COMMANDS.flatMap(([, group]) => group);

test('every entry loads the command of its name and aliases', async () => {
  for (const entry of entries) {
    const command = await loaded(entry, { output: keptOutput(), streams: process });
    assert.deepEqual([command.name(), command.alias()], [entry.name, entry.alias], entry.name);
    assert.equal(command.summary(), entry.summary);
  }
});

test('a summary fits a line of 80 columns beside the longest name', () => {
  for (const { name, summary } of entries) assert.ok(summary.length <= 52, `${name}: ${summary}`);
});

test('the program loads only the command that the arguments name', async () => {
  const loadedOnes = async (...argv: string[]) =>
    (await createProgram(keptOutput(), { argv })).commands
      .filter((command) => command.description() !== '')
      .map((command) => command.name());
  assert.deepEqual(await loadedOnes('--help'), []);
  assert.deepEqual(await loadedOnes('ls', '--json'), ['ls']);
  assert.deepEqual(await loadedOnes('cluster', 'add'), ['clusters']);
  assert.deepEqual(await loadedOnes('help', 'sweeps'), ['help', 'sweeps']);
  assert.equal((await loadedOnes('completion', 'bash')).length, entries.length);
});
