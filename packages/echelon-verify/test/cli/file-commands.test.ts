import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { runCommand } from '../../../../test/support/cli.ts';
import { EXIT } from '../../../command-kit/src/exit.ts';
import { fileCommands } from '../../src/cli/file-commands.ts';

// The commands say how they ended by the exit status of the process.
afterEach(() => {
  process.exitCode = 0;
});

async function run(...args: string[]) {
  const [stdout, stderr]: string[][] = [[], []];
  const into = (parts: string[]) => ({ write: (text: string) => parts.push(text) });
  await runCommand(fileCommands({ stdout: into(stdout!), stderr: into(stderr!) }), args);
  return { exitCode: process.exitCode, stdout: stdout!.join(''), stderr: stderr!.join('') };
}

test('verify takes several files and prints one document', async () => {
  const { exitCode, stdout } = await run(
    'verify',
    'test/golden/hgpo.json',
    'test/golden/gigpo-grpo.json',
    '--json',
  );
  assert.equal(exitCode, EXIT.ok);
  assert.equal((JSON.parse(stdout) as { batches: unknown[] }).batches.length, 45 + 28);
});

test('a file that cannot be read ends with 2', async () => {
  const { exitCode, stderr } = await run('verify', 'test/golden/none.json');
  assert.equal(exitCode, EXIT.usage);
  assert.match(stderr, /none\.json.*no such file/);
});

test('explain, estimate and compare take their options', async () => {
  const at = ['test/golden/hgpo.json', '--batch', 'walk-K2-mean_norm-base0', '--json'];
  const explained = JSON.parse((await run('explain', ...at, '--row', '3')).stdout) as { row: number };
  assert.equal(explained.row, 3);
  const estimated = JSON.parse(
    (await run('estimate', ...at, '--estimator', 'gigpo', '--param', 'mode=mean_std_norm')).stdout,
  ) as { batches: { fingerprint: string }[] };
  assert.match(estimated.batches[0]!.fingerprint, /^gigpo\(mean_std_norm/);
  const params = ['--param', 'epsilon=1e-4', '--param', 'baseGroup=true', '--param', 'zero=keep'];
  const other = (await run('estimate', ...at, ...params)).stdout;
  assert.match(other, /base=on,eps=1e-4,singleton=drop,zero=keep/);
  const compared = await run('compare', ...at, '--estimators', 'hgpo,grpo');
  assert.equal(compared.exitCode, EXIT.ok);
  assert.match(compared.stdout, /grpo/);
});

test('an unknown estimator and a bad row are wrong usage', async () => {
  await assert.rejects(
    run('compare', 'x.json', '--estimators', 'hgpo,ppo'),
    /estimators are hgpo, gigpo, graphgpo, g2po, grpo, rloo/,
  );
  await assert.rejects(run('explain', 'x.json', '--row', '-1'), /must be a whole number/);
  await assert.rejects(run('estimate', 'x.json', '--param', 'sigma=1'), /the name of a parameter/);
  await assert.rejects(
    run('estimate', 'x.json', '--param', 'epsilon=-1'),
    /epsilon must be a number of 0 or more/,
  );
  const { stderr } = await run('estimate', 'test/golden/hgpo.json', '--param', 'singleton=raw');
  assert.match(stderr, /--param singleton of hgpo must be one of drop, zero, not raw/);
});
