import assert from 'node:assert/strict';
import { test } from 'node:test';
import { command, quoted } from '../../src/models/commands.ts';

test('a command has the options that are set, quoted for a shell', () => {
  assert.equal(
    command('ls', { state: ['running', 'queued'], name: "it's", project: undefined, json: true }),
    `echelon ls --state running,queued --name 'it'\\''s' --json`,
  );
  assert.equal(command('get exp-1'), 'echelon get exp-1');
  assert.equal(quoted('a b; rm -rf /'), "'a b; rm -rf /'");
});
