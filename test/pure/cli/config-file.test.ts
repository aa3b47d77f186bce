import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { CliError } from 'command-kit/exit';
import { contextOf, readConfig, writeConfig } from '../../../src/cli/config-file.ts';
import { checkConfig } from '../../../src/cli/config-schema.ts';

const root = await mkdtemp(join(tmpdir(), 'echelon-config-'));
after(() => rm(root, { recursive: true }));
const file = join(root, 'deep', 'config.yaml');
const tokenFile = join(root, 'lab.token');
await writeFile(tokenFile, 'of-the-lab\n', { mode: 0o600 });

const refusing = (words: RegExp) => (error: unknown) =>
  error instanceof CliError && error.exitCode === 2 && words.test(error.message);

test('without a file there is no context; `local` is always the local stack', async () => {
  assert.deepEqual(await readConfig(file), {});
  assert.equal(await contextOf(file, undefined), undefined);
  assert.equal(await contextOf(file, 'local'), undefined);
});

test('the named context is used, else the current one, with the token of its file', async () => {
  const contexts = {
    lab: { url: 'https://lab.example', tokenFile },
    own: { url: 'http://own.example', token: 'kept-here' },
  };
  await writeConfig(file, { current: 'lab', contexts });
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.deepEqual(await contextOf(file, undefined), {
    name: 'lab',
    url: 'https://lab.example',
    token: 'of-the-lab',
  });
  assert.equal((await contextOf(file, 'own'))?.token, 'kept-here');
  await assert.rejects(contextOf(file, 'la'), refusing(/no context "la".*Did you mean lab\?/));
});

test('a token file that other users can read is refused with the remedy', async () => {
  await chmod(tokenFile, 0o644);
  await assert.rejects(contextOf(file, 'lab'), refusing(/Other users can read.*chmod 600/));
  await chmod(file, 0o640);
  await assert.rejects(contextOf(file, 'own'), refusing(/Other users can read/));
});

test('an invalid configuration is refused with the field and the nearest key', async () => {
  await writeFile(file, 'contexts:\n  lab:\n    ulr: https://lab.example\n');
  await assert.rejects(readConfig(file), refusing(/\/contexts\/lab\/ulr: .*url/));
  await writeFile(file, 'current: [');
  await assert.rejects(readConfig(file), refusing(/config\.yaml/));
});

test('a configuration with contexts is valid', () => {
  assert.deepEqual(checkConfig({ current: 'lab', contexts: { lab: { url: 'https://lab.example' } } }), []);
});

test('an unknown key and an address without a scheme are problems', () => {
  const problems = checkConfig({ contexts: { lab: { url: 'lab.example', tokn: 'x' } } });
  assert.deepEqual(problems.map(({ field }) => field).sort(), ['/contexts/lab/tokn', '/contexts/lab/url']);
});
