import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';

const { store, connection } = await apiFor({ after }, { mailDomains: ['example.com'] });

async function run(...argv: string[]) {
  const output = keptOutput();
  return { output, ...(await runProgram(output, ['notify', ...argv, ...connection])) };
}

test('subscriptions are added, listed, tested and removed', async () => {
  assert.match((await run()).output.lines.join(), /No subscriptions/);
  const webhook = ['--webhook', 'https://example.com/hook', '--secret', 'hook'];
  const added = await run('add', '--on', 'state', 'rule', '--state', 'failed', '--tags', 'night', ...webhook);
  const [subscription] = await store.subscriptions.list('default');
  assert.deepEqual(
    [subscription?.events, subscription?.states, subscription?.tags],
    [['state', 'rule'], ['failed'], ['night']],
  );
  const { id } = subscription!;
  assert.deepEqual(added.output.lines, [`${id} added. Send a test with \`echelon notify test ${id}\`.`]);
  assert.match(
    (await run('ls')).output.lines.join(),
    /sub-\w+ +state, rule +https:\/\/example\.com\/hook +failed, night/,
  );
  assert.match((await run('test', id)).output.lines.join(), /A test is on its way/);
  assert.deepEqual((await run('deliveries', id)).output.lines, ['1 pending, 0 dead letters.']);
  assert.deepEqual((await run('resend', id)).output.lines, ['0 messages will be sent again.']);
  assert.deepEqual((await run('delete', id)).output.lines, [`${id} deleted`]);
  assert.equal((await run('delete', id)).exitCode, 4);
});

test('a subscription needs one target', async () => {
  assert.equal((await run('add', '--on', 'state')).exitCode, 2);
  assert.equal((await run('add', '--on', 'state', '--slack', 'a', '--teams', 'b')).exitCode, 2);
  assert.equal((await run('add', '--on', 'state', '--webhook', 'https://example.com')).exitCode, 2);
  await run(
    'add',
    '--on',
    'waiting',
    '--waits',
    '5',
    '--email',
    'a@example.com',
    'b@example.com',
    '--every',
    '30',
  );
  const [added] = await store.subscriptions.list('default');
  assert.deepEqual(
    [added?.waitMinutes, added?.target],
    [5, { kind: 'email', to: ['a@example.com', 'b@example.com'], everyMinutes: 30 }],
  );
});
