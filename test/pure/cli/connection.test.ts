import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CliError, EXIT } from 'command-kit/exit';
import { Command } from 'commander';
import {
  clientFor,
  DEFAULT_STATE_DIR,
  readConnection,
  removeConnection,
  saveConnection,
  saveLogin,
  stateDirOption,
  withConnection,
} from '../../../src/cli/connection.ts';

let root: string;
let stateDir: string;
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'echelon-connection-'));
  stateDir = join(root, 'state');
});
after(() => rm(root, { recursive: true }));

const here = { url: 'http://127.0.0.1:1', token: 'secret', pid: 1 };
const ends = (exitCode: number) => (error: unknown) =>
  error instanceof CliError && error.exitCode === exitCode;

test('without a running stack and without options there is nothing to talk to', async () => {
  assert.equal(await readConnection(stateDir), undefined);
  await assert.rejects(clientFor({ stateDir }), ends(EXIT.unreachable));
});

test('a running stack is found by its state directory, whose file only the user can read', async () => {
  await saveConnection(stateDir, here);
  assert.deepEqual(await readConnection(stateDir), here);
  assert.equal((await stat(join(stateDir, 'connection.json'))).mode & 0o777, 0o600);
  assert.equal((await clientFor({ stateDir })).url, here.url);
});

test("the running stack's token is never sent to another address", async () => {
  await assert.rejects(clientFor({ stateDir, url: 'http://elsewhere' }), ends(EXIT.refused));
  assert.equal((await clientFor({ stateDir, url: 'http://elsewhere/', token: 't' })).url, 'http://elsewhere');
});

test('an address without a scheme is wrong usage, whatever the token', async () => {
  for (const url of ['127.0.0.1:7077', 'localhost', 'ftp://x', 'http://'])
    await assert.rejects(clientFor({ stateDir, url }), ends(EXIT.usage));
});

test('the address as it is shown for the API, or with a slash, is the same address', async () => {
  for (const url of [`${here.url}/`, `${here.url}/v1`, `${here.url}/v1/`])
    assert.equal((await clientFor({ stateDir, url })).url, here.url);
});

test('a token with a line break in it is wrong usage, and not repeated', async () => {
  await assert.rejects(
    clientFor({ stateDir, token: 'half\nother' }),
    (error) => ends(EXIT.usage)(error) && !/half/.test((error as Error).message),
  );
});

test('half a file of a running stack is none', async () => {
  const broken = join(root, 'broken');
  await saveConnection(broken, here);
  await writeFile(join(broken, 'connection.json'), '{"url":');
  assert.equal(await readConnection(broken), undefined);
});

test('when it stops, the file goes', async () => {
  await removeConnection(stateDir);
  await removeConnection(stateDir);
  assert.equal(await readConnection(stateDir), undefined);
});

test('commands take the address, the token and the state directory', () => {
  const options = withConnection(new Command('x')).options.map(({ long, envVar }) => [long, envVar]);
  assert.deepEqual(options, [
    ['--url', 'ECHELON_URL'],
    ['--token', 'ECHELON_TOKEN'],
    ['--state-dir', 'ECHELON_STATE_DIR'],
  ]);
  assert.equal(stateDirOption().defaultValue, DEFAULT_STATE_DIR);
});

test('a flag wins over the sign-in, the sign-in over the stack that runs here, and each token goes to its API only', async () => {
  await saveConnection(stateDir, here);
  await saveLogin(stateDir, { url: 'https://lab', token: 'of-the-lab' });
  assert.equal((await stat(join(stateDir, 'login.json'))).mode & 0o777, 0o600);
  const urlOf = async (options: object) => (await clientFor({ stateDir, ...options })).url;
  assert.equal(await urlOf({ url: 'http://flag', token: 't' }), 'http://flag');
  assert.equal(await urlOf({}), 'https://lab');
  assert.equal(await urlOf({ url: here.url }), here.url);
  // Fails if the token of the sign-in or of the stack would go to the address of the flag.
  await assert.rejects(urlOf({ url: 'http://flag' }), ends(EXIT.refused));
  await writeFile(join(stateDir, 'login.json'), '{"url":');
  assert.equal(await urlOf({}), here.url);
});
