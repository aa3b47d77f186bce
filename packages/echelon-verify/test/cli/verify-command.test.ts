import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { runCommand } from '../../../../test/support/cli.ts';
import { EXIT } from '../../../command-kit/src/exit.ts';
import { fileCommands } from '../../src/cli/file-commands.ts';
import { captured } from '../support/captured.ts';
import { DUMPS, folder } from '../support/dump-files.ts';

// The command says how it ended by the exit status of the process.
afterEach(() => {
  process.exitCode = 0;
});

async function verify(...args: string[]) {
  const streams = captured();
  await runCommand(fileCommands(streams.io), ['verify', ...args]);
  return { exitCode: process.exitCode, out: streams.out(), err: streams.err() };
}

const RUN = `${DUMPS}/trl/group`;

test('a folder of TRL is verified by its configuration', async () => {
  const { exitCode, out } = await verify(`${RUN}/completions`);
  assert.equal(exitCode, EXIT.ok);
  assert.match(
    out,
    /3 files in [\s\S]*found in .*training_args\.bin[\s\S]*step 2 +16 +16 +0 +0 +0 +ok\n[\s\S]*3 of 3 batches ok/,
  );
});

test('without the configuration it is consistent, with exit status 3', async () => {
  await using dir = await folder();
  await cp(`${RUN}/completions`, join(dir.path, 'a/completions'), { recursive: true });
  const { exitCode, out } = await verify(dir.path);
  assert.equal(exitCode, EXIT.unproven);
  assert.match(
    out,
    /consistent[\s\S]*0 of 3 batches ok[\s\S]*Consistent with grpo\(.*\), inferred; 1 variant fits/,
  );
  const stated = await verify(dir.path, '--estimator', 'grpo', '--group-size', '4', '--weights', '1');
  assert.equal(stated.exitCode, EXIT.ok);
});

test('another stated parameter makes rows wrong, with exit status 1', async () => {
  const { exitCode, out } = await verify(`${RUN}/completions`, '--param', 'epsilon=0.1', '--json');
  assert.equal(exitCode, EXIT.notOk);
  const { batches } = JSON.parse(out) as { batches: Record<string, unknown>[] };
  assert.deepEqual([batches.length, batches[0]!.format, batches[0]!.ok], [3, 'trl', false]);
  assert.deepEqual((batches[0]!.configuration as { origin: string }).origin, 'stated');
});

test('a table needs its columns', async () => {
  await using dir = await folder();
  const path = await dir.write('run.csv', 'p,r,a\nx,1,0.5\nx,0,-0.5\n');
  const map = ['--from', 'table', '--map', 'group=p,reward=r,advantage=a'];
  const { exitCode, out } = await verify(
    path,
    ...map,
    '--estimator',
    'grpo',
    '--param',
    'normalizeByStd=false',
  );
  assert.equal(exitCode, EXIT.ok);
  assert.match(out, /run\.csv +2 +2 +0 +0 +0 +ok/);
  await assert.rejects(verify(path, '--map', 'x=y'), /must be MEANING=COLUMN/);
  await assert.rejects(verify(path, '--weights', '1,x'), /must be numbers/);
});

test('an unreadable dump and a parameter of another estimator end with 2', async () => {
  await using dir = await folder();
  const cut = await dir.write('cut.parquet', 'PAR1 and no end');
  const { exitCode, err } = await verify(cut);
  assert.equal(exitCode, EXIT.usage);
  assert.match(err, /cut\.parquet: expected a complete parquet file/);
  await cp(`${RUN}/completions`, dir.path, { recursive: true });
  const others = await verify(dir.path, '--group-size', '4', '--estimator', 'grpo');
  assert.equal(others.exitCode, EXIT.usage);
  assert.match(others.out, /3 of 3 batches ok/);
  const late = await verify(`${RUN}/completions`, cut, '--from', 'trl');
  assert.match(late.out, /3 of 3 batches ok/);
  const early = await verify(
    cut,
    `${RUN}/completions`,
    '--from',
    'trl',
    '--group-size',
    '4',
    '--estimator',
    'grpo',
  );
  assert.match(early.out, /3 of 3 batches ok/);
  assert.equal((await verify(`${RUN}/completions`, '--param', 'historyLength=1')).exitCode, EXIT.usage);
});

test('files of a folder in no known format are named, and a folder without dumps ends with 2', async () => {
  await using dir = await folder();
  await dir.write('a.json', '{}');
  const { exitCode, err } = await verify(dir.path);
  assert.equal(exitCode, EXIT.usage);
  assert.match(err, /1 file in no known format skipped: .*a\.json .*--from NAME/);
});
