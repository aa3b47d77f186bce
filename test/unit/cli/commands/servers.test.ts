import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { serverCommands } from '../../../../src/cli/commands/servers.ts';
import { saveConnection } from '../../../../src/cli/connection.ts';
import { EXIT } from '../../../../src/cli/exit.ts';
import { keptOutput, runCommand } from '../../../support/cli.ts';

async function stateDirFor(t: { after(release: () => Promise<void>): void }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-servers-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function run(...args: string[]) {
  const output = keptOutput();
  return { output, ...(await runCommand(serverCommands(output), args)) };
}

test('down where nothing runs is no error', async (t) => {
  const { exitCode, output } = await run('down', '--state-dir', await stateDirFor(t));
  assert.deepEqual([exitCode, output.lines], [0, ['Echelon is not running here.']]);
});

test('what a killed stack left behind is not taken for a running one', async (t) => {
  const stateDir = await stateDirFor(t);
  const { pid } = spawnSync('true');
  await saveConnection(stateDir, { url: 'http://127.0.0.1:1', token: 't', pid });
  assert.deepEqual((await run('down', '--state-dir', stateDir)).output.lines, [
    'Echelon is not running here.',
  ]);
});

test('a report that cannot be written ends the demo before it begins', async (t) => {
  const report = join(await stateDirFor(t), 'nowhere', 'demo.json');
  const { exitCode, error, output } = await run('demo', '--report', report);
  assert.equal(exitCode, EXIT.usage);
  assert.match(error!.message, /The report cannot be written: ENOENT/);
  assert.deepEqual([...output.lines, ...output.remarks], []);
});

test('up where it runs already says where, and starts nothing', async (t) => {
  const stateDir = await stateDirFor(t);
  await saveConnection(stateDir, { url: 'http://127.0.0.1:1', token: 't', pid: process.pid });
  const { exitCode, error } = await run('up', '--state-dir', stateDir);
  assert.equal(exitCode, EXIT.notOk);
  assert.match(error!.message, /running already at http:\/\/127\.0\.0\.1:1/);
});
