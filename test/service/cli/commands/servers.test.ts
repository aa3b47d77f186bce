import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EXIT } from 'command-kit/exit';
import { runningText } from '../../../../src/cli/commands/servers.ts';
import { saveConnection } from '../../../../src/cli/connection.ts';
import { processIdentity } from '../../../../src/cli/local/processes.ts';
import { keptOutput, runProgram } from '../../../support/cli.ts';

const connection = { url: 'http://127.0.0.1:1', token: 't' };

async function stateDirFor(t: { after(release: () => Promise<void>): void }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-servers-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function run(...args: string[]) {
  const output = keptOutput();
  return { output, ...(await runProgram(output, args)) };
}

test('down succeeds if Echelon does not run', async (t) => {
  const { exitCode, output } = await run('down', '--state-dir', await stateDirFor(t));
  assert.deepEqual([exitCode, output.lines], [0, ['Echelon is not running here.']]);
});

test('the connection file of a killed stack does not count as a running stack', async (t) => {
  const stateDir = await stateDirFor(t);
  const { pid } = spawnSync('true');
  await saveConnection(stateDir, { ...connection, pid });
  assert.deepEqual((await run('down', '--state-dir', stateDir)).output.lines, [
    'Echelon is not running here.',
  ]);
});

test('demo fails before it starts if the report cannot be written', async (t) => {
  const report = join(await stateDirFor(t), 'nowhere', 'demo.json');
  const { exitCode, error, output } = await run('demo', '--report', report);
  assert.equal(exitCode, EXIT.usage);
  assert.match(error!.message, /Cannot write the report .*: ENOENT/);
  assert.deepEqual([...output.lines, ...output.remarks], []);
});

test('down and up ignore another process that has the id of a killed stack', async (t) => {
  const stateDir = await stateDirFor(t);
  const stranger = spawn('sleep', ['600'], { stdio: 'ignore' });
  t.after(() => void stranger.kill('SIGKILL'));
  await once(stranger, 'spawn');
  const pid = stranger.pid!;
  const theirs = processIdentity(pid)!;
  // Of another boot; of an earlier process of this one; and from a file that does not say.
  const [boot] = theirs.split(' ');
  for (const started of [theirs.replace(/^./, 'x'), `${boot} 1`, undefined]) {
    await saveConnection(stateDir, { ...connection, pid, started });
    assert.deepEqual((await run('down', '--state-dir', stateDir)).output.lines, [
      'Echelon is not running here.',
    ]);
    assert.equal(processIdentity(pid), theirs);
  }
  const taken = createServer().listen(0, '127.0.0.1');
  t.after(() => void taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };
  const main = fileURLToPath(new URL('../../../../src/cli/main.ts', import.meta.url));
  const up = spawnSync(process.execPath, [main, 'up', '--state-dir', stateDir], {
    env: { HOME: stateDir, PATH: process.env.PATH, ECHELON_PORT: String(port) },
    encoding: 'utf8',
  });
  assert.match(up.stderr, new RegExp(`port ${port} .* is taken`));
});

test('down ends the process that wrote the connection', async (t) => {
  const stateDir = await stateDirFor(t);
  const stack = spawn('sleep', ['600'], { stdio: 'ignore' });
  t.after(() => void stack.kill('SIGKILL'));
  await once(stack, 'spawn');
  const pid = stack.pid!;
  await saveConnection(stateDir, { ...connection, pid, started: processIdentity(pid) });
  assert.deepEqual((await run('down', '--state-dir', stateDir)).output.lines, ['Echelon has stopped.']);
});

test('up fails with the address if Echelon already runs', async (t) => {
  const stateDir = await stateDirFor(t);
  await saveConnection(stateDir, { ...connection, pid: process.pid, started: processIdentity(process.pid) });
  const { exitCode, error } = await run('up', '--state-dir', stateDir);
  assert.equal(exitCode, EXIT.notOk);
  assert.match(error!.message, /already runs at http:\/\/127\.0\.0\.1:1/);
});

test('up says in which file the token is, and does not print it', () => {
  const system = {
    url: 'http://127.0.0.1:7077',
    token: 'the-token-0123456789',
    tokenPlace: 'in /state/token',
    dashboard: 'http://127.0.0.1:7077/login?code=x',
    path: '',
    broken: new Promise<string>(() => {}),
  };
  const said = runningText(system, '/state/log');
  assert.match(said, /token {6}in \/state\/token\n/);
  assert.ok(!said.includes(system.token));
});
