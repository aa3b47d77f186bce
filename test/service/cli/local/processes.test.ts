import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CliError, EXIT } from 'command-kit/exit';
import {
  freePort,
  processIdentity,
  startServer,
  waitUntilReady,
} from '../../../../src/cli/local/processes.ts';
import { until } from '../../../support/dispatch.ts';

let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'echelon-processes-'));
});
after(() => rm(directory, { recursive: true }));

const start = (code: string, log: string) =>
  startServer({
    command: process.execPath,
    args: ['-e', code],
    logFile: join(directory, log),
    environment: process.env,
  });

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits for the first line of a log, which the program writes when it is ready. */
const firstLine = (server: Awaited<ReturnType<typeof start>>, log: string) =>
  waitUntilReady({
    server,
    logFile: join(directory, log),
    timeoutMs: 60_000,
    what: 'the program',
    probe: async () => (await readFile(join(directory, log), 'utf8')).trim() || undefined,
  });

test('a server that ends at SIGTERM is given its grace', async () => {
  const server = await start(
    `process.on('SIGTERM', () => { console.log('bye'); process.exit(3); }); console.log('ready'); setInterval(() => {}, 1000)`,
    'a.log',
  );
  assert.equal(await firstLine(server, 'a.log'), 'ready');
  await server.stop(10_000);
  assert.equal(await server.ended, 'exit code 3');
  assert.match(await readFile(join(directory, 'a.log'), 'utf8'), /bye/);
});

test('one that does not is killed with its children', async () => {
  const code = `const c = require('node:child_process').spawn(process.execPath, ['-e', "process.on('SIGTERM',()=>{});setInterval(()=>{},1000)"]);
    process.on('SIGTERM', () => {}); c.on('spawn', () => console.log(c.pid)); setInterval(() => {}, 1000)`;
  const server = await start(code, 'b.log');
  const child = Number(await firstLine(server, 'b.log'));
  assert.ok(alive(child));
  await server.stop(50);
  assert.equal(await server.ended, 'signal SIGKILL');
  await until(() => !alive(child), 'the child has ended');
});

test('a program that is not there is an error, not a server', async () => {
  await assert.rejects(
    startServer({ command: 'no-such-program', args: [], logFile: join(directory, 'c.log'), environment: {} }),
    /ENOENT/,
  );
});

test('a server that ends before it is ready is said with the end of its log', async () => {
  const server = await start(`console.error('no such option'); process.exit(2)`, 'd.log');
  const waiting = waitUntilReady({
    server,
    logFile: join(directory, 'd.log'),
    timeoutMs: 60_000,
    what: 'It',
    probe: async () => undefined,
  });
  await assert.rejects(waiting, (error: unknown) => {
    // Said without a stack: what is at fault is not our code.
    assert.ok(error instanceof CliError && error.exitCode === EXIT.notOk);
    assert.match(error.message, /It did not start \(exit code 2\).* its log, \/.*:\n[\s\S]*no such option/);
    return true;
  });
});

test('a free port can be listened on', async () => {
  const port = await freePort();
  const server = createServer().listen(port, '127.0.0.1');
  await new Promise<void>((resolve, reject) => server.once('listening', resolve).once('error', reject));
  server.close();
});

test('a process keeps its identity, another one has another, and one that has ended has none', async (t) => {
  const mine = processIdentity(process.pid);
  assert.match(mine!, /^[0-9a-f-]{36} \d+$/);
  assert.equal(processIdentity(process.pid), mine);
  const other = spawn('sleep', ['60'], { stdio: 'ignore' });
  t.after(() => other.kill('SIGKILL'));
  await once(other, 'spawn');
  const theirs = processIdentity(other.pid!);
  assert.notEqual(theirs, undefined);
  assert.notEqual(theirs, mine);
  other.kill('SIGKILL');
  await once(other, 'exit');
  assert.equal(processIdentity(other.pid!), undefined);
});
