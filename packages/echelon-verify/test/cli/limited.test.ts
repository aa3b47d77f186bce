import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { until } from '../../../../test/support/dispatch.ts';
import { emptySets } from '../support/attack-files.ts';
import { folder } from '../support/dump-files.ts';

const MEBIBYTE = 2 ** 20;
const PROGRAMS = ['src/cli/main.ts', 'packages/echelon-verify/src/cli/main.ts'];
const isLinux = process.platform === 'linux';

/** Runs a program; with `limitBytes` under a limit of its caller. */
async function ran(args: string[], limitBytes?: number) {
  const limit = limitBytes === undefined ? 'unlimited' : String(limitBytes / 1024);
  const child = spawn('/bin/sh', ['-c', 'ulimit -d "$0"; exec "$@"', limit, process.execPath, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { out, err, code: code as number };
}

/** A limit that an idle process has room in, and the files of the attacks have not. */
function tightLimit(): number {
  const script = 'process.stdout.write(require("node:fs").readFileSync("/proc/self/status", "latin1"))';
  const status = execFileSync(process.execPath, ['-e', script], { encoding: 'latin1' });
  return Number(/^VmData:\s+(\d+)/m.exec(status)![1]) * 1024 + 100 * MEBIBYTE;
}

describe('commands on files, in a process with a memory limit', () => {
  test('a file that takes more memory ends with its name and the status of an unreadable file', {
    skip: !isLinux,
  }, async () => {
    await using at = await folder();
    const { name, bytes } = emptySets(990_000);
    const path = await at.write(name, bytes);
    const limit = tightLimit();
    for (const program of PROGRAMS) {
      const { out, err, code } = await ran([program, 'verify', '--from', 'slime', path], limit);
      assert.deepEqual([out, code], ['', 2], err);
      assert.match(err, /^Cannot read .*0_0\.pt: it takes more memory than a command may use.*\n$/);
    }
    const { err, code } = await ran([PROGRAMS[0]!, 'verify', '--json', '--from', 'slime', path], limit);
    assert.equal(code, 2);
    assert.match((JSON.parse(err) as { error: { message: string } }).error.message, /0_0\.pt: it takes more/);
  });

  test('a small file is verified, with the messages and the exit status of the command', async () => {
    for (const program of PROGRAMS) {
      const good = await ran([program, 'verify', 'test/golden/hgpo.json']);
      assert.match(good.out, /45 of 45 batches ok/);
      assert.deepEqual([good.err, good.code], ['', 0]);
      const bad = await ran([program, 'verify', 'absent.json']);
      assert.deepEqual([bad.out, bad.code], ['', 2]);
      assert.match(bad.err, /^Cannot read absent\.json: there is no such file\.\n$/);
    }
  });

  test('the command reads standard input, has a limit, and ends by the signal that it gets', async () => {
    const child = spawn(process.execPath, [PROGRAMS[0]!, 'identify'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const closed = once(child, 'close');
    if (isLinux) {
      const limits = await until(async () => {
        const pid = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'latin1');
        return /Max data size +(\d+)/.exec(
          await readFile(`/proc/${pid.trim()}/limits`, 'latin1').catch(() => ''),
        );
      }, 'the limit is set');
      assert.ok(Number(limits[1]) < Math.max(2 ** 30, totalmem() / 4) + 2 ** 30);
    }
    child.kill('SIGTERM');
    // It closes once the limited process, which writes to the same output, has ended too.
    assert.deepEqual(await closed, [null, 'SIGTERM']);
  });
});
