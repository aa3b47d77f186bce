import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXIT } from 'command-kit/exit';
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
