import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Guard, startGuard } from '../../../../src/cli/local/guard.ts';

async function directoryFor(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-guard-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!holds()) {
    assert.ok(Date.now() < deadline, what);
    await delay(10);
  }
}

/** A zombie does not count as running: its parent may not have collected it yet. */
function alive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

async function guardFor(t: TestContext, directory: string): Promise<Guard> {
  const guard = await startGuard(directory);
  t.after(() => guard.end());
  return guard;
}

/** A program that has the guard look after a server which ignores SIGTERM, and after a directory. */
function holder(t: TestContext, directory: string): ChildProcess {
  const source = (name: string) =>
    JSON.stringify(new URL(`../../../../src/cli/local/${name}`, import.meta.url));
  const code = `
    const { startGuard } = await import(${source('guard.ts')});
    const { startServer } = await import(${source('processes.ts')});
    const guard = await startGuard(${JSON.stringify(directory)});
    guard.add({ kind: 'remove', path: ${JSON.stringify(join(directory, 'made'))} });
    guard.add({ kind: 'run', command: 'touch', args: [${JSON.stringify(join(directory, 'ran'))}], environment: process.env, timeoutMs: 30_000 });
    const server = await startServer({ command: 'sleep', args: ['1000'], logFile: ${JSON.stringify(join(directory, 'log'))}, environment: process.env, guard });
    console.log(server.pid);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

describe('the guard', () => {
  test('undoes everything where its process is killed with -9, and keeps the lock until then', async (t) => {
    const directory = await directoryFor(t);
    await mkdir(join(directory, 'made'));
    const child = holder(t, directory);
    const [line] = (await once(createInterface(child.stdout!), 'line')) as [string];
    const pid = Number(line);
    assert.ok(alive(pid));
    child.kill('SIGKILL');
    // The lock is taken over as soon as, and not before, all is undone.
    await guardFor(t, directory);
    assert.ok(!alive(pid), 'the server lives on');
    assert.ok(!existsSync(join(directory, 'made')));
    assert.ok(existsSync(join(directory, 'ran')));
  });

  test('leaves alone what was undone before, and undoes the rest at the end', async (t) => {
    const directory = await directoryFor(t);
    const [kept, removed] = [join(directory, 'kept'), join(directory, 'removed')];
    await mkdir(kept);
    await mkdir(removed);
    const guard = await guardFor(t, directory);
    const forget = guard.add({ kind: 'remove', path: kept });
    guard.add({ kind: 'remove', path: removed });
    forget();
    await guard.end();
    assert.deepEqual([existsSync(kept), existsSync(removed)], [true, false]);
    assert.ok(guard.signal.aborted);
    assert.throws(() => guard.add({ kind: 'remove', path: kept }), /being stopped/);
  });

  test('undoes the last entry first, and continues after an entry that cannot be undone', async (t) => {
    const directory = await directoryFor(t);
    const file = join(directory, 'order');
    const guard = await guardFor(t, directory);
    const shell = (script: string) =>
      guard.add({
        kind: 'run',
        command: 'sh',
        args: ['-c', script],
        environment: process.env,
        timeoutMs: 30_000,
      });
    shell(`echo first >> ${file}`);
    guard.add({ kind: 'run', command: 'no-such-program', args: [], environment: {}, timeoutMs: 1000 });
    shell(`echo second >> ${file}`);
    await guard.end();
    assert.equal(await readFile(file, 'utf8'), 'second\nfirst\n');
  });

  test('the guard is not ended by what a terminal or a careless kill sends', async (t) => {
    const directory = await directoryFor(t);
    await mkdir(join(directory, 'made'));
    const child = holder(t, directory);
    const [line] = (await once(createInterface(child.stdout!), 'line')) as [string];
    const guards = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'))
      .trim()
      .split(' ')
      .map(Number)
      .filter((pid) => pid !== Number(line));
    assert.equal(guards.length, 1);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(guards[0]!, signal);
    child.kill('SIGKILL');
    await until('the server lives on', () => !alive(Number(line)));
    await until('the directory is still there', () => !existsSync(join(directory, 'made')));
  });
});
