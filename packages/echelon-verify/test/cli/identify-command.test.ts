import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { runCommand } from '../../../../test/support/cli.ts';
import { EXIT } from '../../../command-kit/src/exit.ts';
import { fileCommands } from '../../src/cli/file-commands.ts';
import { captured } from '../support/captured.ts';

// The command says how it ended by the exit status of the process.
afterEach(() => {
  process.exitCode = 0;
});

test('echelon identify names the form of a table in blocks of a stated size', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'identify-'));
  try {
    const file = join(folder, 'table.csv');
    await writeFile(file, 'reward,advantage\n1,0.5\n0,-0.5\n0,-1\n2,1\n');
    const streams = captured();
    await runCommand(fileCommands(streams.io), ['identify', file, '--group-size', '2']);
    assert.equal(process.exitCode, EXIT.unproven);
    assert.match(streams.out(), /^consistent with .*, blocks of 2, inferred/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
