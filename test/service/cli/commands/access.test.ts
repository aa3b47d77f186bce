import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createClient } from '../../../../src/cli/client.ts';
import { keyTable } from '../../../../src/cli/commands/access.ts';
import { storedKey } from '../../../support/access.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';

const { store, client, connection } = await apiFor({ after });

async function run(...argv: string[]) {
  const output = keptOutput();
  return { output, ...(await runProgram(output, ['keys', ...argv, ...connection])) };
}

test('a key is made, works, is rotated and revoked', async () => {
  assert.match((await run()).output.lines.join(), /keys add NAME/);
  const { output } = await run('add', 'ci', '--scope', 'read', 'submit', '--expires-in', '90d');
  const [token] = output.lines;
  assert.equal(output.lines.length, 1);
  const [key] = await store.access.keys();
  assert.deepEqual(key?.scopes, ['read', 'submit']);
  assert.equal(key.expiresAt! - key.createdAt, 90 * 86_400_000);
  const list = (given: string) => createClient({ url: client.url, token: given }).get('/v1/experiments');
  await list(token!);
  const rotated = await run('rotate', key.id, '--overlap', '1h');
  await list(token!);
  await list(rotated.output.lines[0]!);
  assert.match(
    (await run()).output.lines.join('\n'),
    new RegExp(`${key.id} +ci +all +read submit +valid for`),
  );
  await run('delete', key.id);
  await assert.rejects(list(rotated.output.lines[0]!), /does not accept the token/);
  assert.match((await run()).output.lines.join('\n'), /revoked/);
});

test('JSON has the key beside its token', async () => {
  const { output } = await run('add', 'ci', '--scope', 'read', '--json');
  assert.deepEqual(Object.keys(output.json<object>()), ['key', 'token']);
});

test('a table shows what a key is', () => {
  const { digest: _digest, previousDigest: _previous, ...key } = storedKey({ project: 'a', expiresAt: 5 });
  assert.match(keyTable([{ ...key, lastUsedAt: null }], 10_000), /a key +a +read +expired +never +10 s/);
});

test('a person learns which API it is, who they are there, and what they may do', async () => {
  const made = await run('add', 'ci', '--scope', 'read', '--json');
  const { token } = made.output.json<{ token: string }>();
  const output = keptOutput();
  const as = (...more: string[]) =>
    runProgram(output, ['whoami', '--url', client.url, '--token', token, ...more]);
  await as();
  assert.match(
    output.lines.join('\n'),
    new RegExp(`^API +${client.url}\nname +ci\n.*project +all\nscopes +read$`, 's'),
  );
  output.lines.length = 0;
  await as('--json');
  assert.deepEqual(output.json<{ scopes: string[] }>().scopes, ['read']);
});
