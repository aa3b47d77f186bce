import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CliError, EXIT } from 'command-kit/exit';
import { Command } from 'commander';
import { writeConfig } from '../../../src/cli/config-file.ts';
import {
  clientFor,
  DEFAULT_STATE_DIR,
  readConnection,
  removeConnection,
  saveConnection,
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
    ['--context', 'ECHELON_CONTEXT'],
    ['--config', 'ECHELON_CONFIG'],
    ['--state-dir', 'ECHELON_STATE_DIR'],
  ]);
  assert.equal(stateDirOption().defaultValue, DEFAULT_STATE_DIR);
});

test('a context that is typed wins over the address and the token of the environment, a typed address over it', async (t) => {
  const variables = { ECHELON_URL: 'http://other.example', ECHELON_TOKEN: 'for-the-other' };
  Object.assign(process.env, variables);
  t.after(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
  });
  const optionsOf = async (...argv: string[]) => {
    const command = withConnection(new Command('x')).action(() => undefined);
    await command.parseAsync(argv, { from: 'user' });
    const { url, token, context } = command.opts();
    return [url, token, context];
  };
  assert.deepEqual(await optionsOf(), ['http://other.example', 'for-the-other', undefined]);
  // Fails where the token of one API would be sent to another.
  assert.deepEqual(await optionsOf('--context', 'lab'), [undefined, undefined, 'lab']);
  assert.deepEqual(await optionsOf('--context', 'lab', '--token', 't'), [undefined, 't', 'lab']);
  assert.equal((await optionsOf('--context', 'lab', '--url', 'http://typed'))[0], 'http://typed');
});

test('a flag wins over the configuration file, the file over the stack that runs here', async () => {
  await saveConnection(stateDir, here);
  const config = join(root, 'config.yaml');
  await writeConfig(config, {
    current: 'lab',
    contexts: { lab: { url: 'http://lab', token: 'of-the-lab' } },
  });
  const urlOf = async (options: object) => (await clientFor({ stateDir, config, ...options })).url;
  assert.equal(await urlOf({ url: 'http://flag', token: 't' }), 'http://flag');
  assert.equal(await urlOf({}), 'http://lab');
  assert.equal(await urlOf({ context: 'local' }), here.url);
  // Fails where the stack's token would go to the context's address.
  await writeConfig(config, { current: 'lab', contexts: { lab: { url: 'http://lab' } } });
  await assert.rejects(urlOf({}), ends(EXIT.refused));
});
