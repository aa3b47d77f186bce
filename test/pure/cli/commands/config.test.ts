import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { contextOf } from '../../../../src/cli/config-file.ts';
import { keptOutput, runProgram } from '../../../support/cli.ts';

const root = await mkdtemp(join(tmpdir(), 'echelon-config-'));
after(() => rm(root, { recursive: true }));
const file = join(root, 'config.yaml');

async function config(...args: string[]): Promise<string> {
  const output = keptOutput();
  const { error } = await runProgram(output, ['config', ...args, '--config', file]);
  if (error) throw error;
  return output.lines.join('\n');
}

test('a context is added, used, listed and deleted', async () => {
  await config('set', 'lab', '--url', 'https://lab.example', '--token-file', '/dev/null');
  assert.match(await config('ls'), /\* +local.*\n +lab +https:\/\/lab\.example +\/dev\/null/);
  await config('use', 'lab');
  const shown = JSON.parse(await config('ls', '--json'));
  assert.equal(shown.current, 'lab');
  assert.deepEqual(shown.contexts, [
    { name: 'lab', url: 'https://lab.example', current: true, token: '/dev/null' },
  ]);
  await config('delete', 'lab');
  assert.equal(await contextOf(file, undefined), undefined);
});

test('a token file is stored as an absolute path, and named if it is missing', async () => {
  await config('set', 'lab', '--url', 'https://lab.example', '--token-file', 'lab.token');
  const { contexts } = JSON.parse(await config('ls', '--json'));
  assert.equal(contexts[0].token, join(process.cwd(), 'lab.token'));
  await config('use', 'lab');
  await assert.rejects(
    contextOf(file, undefined),
    /token file of context lab, \/.*lab\.token, does not exist/,
  );
  await config('delete', 'lab');
});

test('an unknown name, a reserved name and an invalid address are refused', async () => {
  const refused = { exitCode: 2 };
  await assert.rejects(config('use', 'nowhere'), refused);
  await assert.rejects(config('delete', 'nowhere'), refused);
  await assert.rejects(config('set', 'local', '--url', 'http://x.example'), refused);
  await assert.rejects(config('set', 'lab', '--url', 'x.example'), refused);
});
