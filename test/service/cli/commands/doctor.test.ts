import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { EXIT } from 'command-kit/exit';
import { otherRays, tokenFile } from '../../../../src/cli/commands/doctor-box.ts';
import { stateFolder } from '../../../../src/cli/commands/doctor-slurm.ts';
import { keptOutput, runProgram } from '../../../support/cli.ts';

interface Answer {
  ok: boolean;
  checks: { name: string; ok: boolean; found: string; remedy: string }[];
}

test('where all is there, it says what it found', async () => {
  const output = keptOutput();
  const { exitCode } = await runProgram(output, ['doctor', '--json', '--python', '.venv/bin/python']);
  const { ok, checks } = output.json<Answer>();
  assert.deepEqual([exitCode, ok], [0, true], JSON.stringify(checks));
  assert.deepEqual(
    checks.map(({ name }) => name),
    ['Node', 'Redis', 'Python', 'Ray', 'ray-worker', 'disk'],
  );
});

test('where something is missing, it says what to do and ends with 1', async () => {
  const output = keptOutput();
  const { exitCode } = await runProgram(output, ['doctor', '--python', 'no-such-python']);
  assert.equal(exitCode, EXIT.notOk);
  const text = output.lines.join('\n');
  assert.match(text, /MISSING {2}Python {7}no-such-python does not run[^\n]*\n {9}Install Python 3\.10/);
  assert.match(text, /MISSING {2}Ray/);
});

test('on a machine without Slurm, it says where to run', async () => {
  const output = keptOutput();
  const path = process.env.PATH;
  // `sh` is there, but nothing of Slurm.
  process.env.PATH = '/nowhere';
  await runProgram(output, ['doctor', '--json', '--slurm', 'gpu']).finally(() => {
    process.env.PATH = path;
  });
  const found = new Map(output.json<Answer>().checks.map((check) => [check.name, check]));
  for (const name of ['Slurm', 'munge', 'slurmctld', 'sbatch'])
    assert.equal(found.get(name)?.ok, false, name);
  assert.match(found.get('Slurm')!.remedy, /login node/);
});

test('a state folder on a disk of the network is not for Redis', async () => {
  const { ok, found, remedy } = await stateFolder('/home/me', async () => 0x6969);
  assert.deepEqual([ok, found], [false, '/home/me is on NFS']);
  assert.match(remedy, /echelon up --state-dir/);
  assert.equal((await stateFolder('/tmp')).ok, true);
});

test('for a box it warns of what a training would lack, and only an error counts as missing', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'echelon-doctor-'));
  t.after(() => rm(folder, { recursive: true }));
  const python = join(folder, 'python');
  await writeFile(
    python,
    '#!/bin/sh\ncase "$2" in *"import vllm"*) echo "ImportError: libcudart.so.12" >&2; exit 1;; *) echo 2.60.0;; esac\n',
    { mode: 0o755 },
  );
  const output = keptOutput();
  const { exitCode } = await runProgram(output, ['doctor', '--json', '--box', '--python', python]);
  const found = new Map(output.json<Answer>().checks.map((check) => [check.name, check]));
  assert.equal(exitCode, EXIT.notOk);
  assert.deepEqual(
    [found.get('vllm')?.ok, found.get('vllm')?.found],
    [false, 'ImportError: libcudart.so.12'],
  );
  assert.equal(found.get('Ray, closed')?.ok, true);
  for (const name of ['torch', 'verl', 'flash_attn', 'other Rays', 'tasks', 'open files', 'memory', 'GPUs'])
    assert.ok(found.has(name), name);
});

test('a token file that others may read is warned of', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'echelon-home-'));
  t.after(() => rm(home, { recursive: true }));
  assert.equal((await tokenFile(home)).ok, true);
  const file = join(home, '.ray', 'auth_token');
  await mkdir(join(home, '.ray'));
  await writeFile(file, 'secret', { mode: 0o644 });
  const { ok, warning, remedy } = await tokenFile(home);
  assert.deepEqual([ok, warning], [false, true]);
  assert.match(remedy, /chmod 600/);
  await chmod(file, 0o600);
  assert.equal((await tokenFile(home)).ok, true);
});

test('other Rays are named with their users', () => {
  const mine = { pid: 5, name: 'raylet', uid: 0, threads: 3 };
  assert.match(otherRays([mine, { ...mine, pid: 6, name: 'python' }]).found, /^process 5 of root$/);
  assert.equal(otherRays([]).ok, true);
});
