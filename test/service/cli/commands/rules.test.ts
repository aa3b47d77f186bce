import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { resolveRules } from '../../../../src/plan/rules.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { running } from '../../../support/store.ts';

const { store, connection } = await apiFor({ after });

async function run(...argv: string[]) {
  const output = keptOutput();
  return { output, ...(await runProgram(output, argv)) };
}

test('rules lists the presets without a server', async () => {
  const { output } = await run('rules');
  assert.match(output.lines.join('\n'), /kl-high +actor\/ppo_kl above 0\.1, 3 times in a row +\S/);
  assert.equal((await run('rules', '--json')).output.json<unknown[]>().length, 11);
});

test('rules shows the rules of an experiment and when they fired', async () => {
  const rules = resolveRules([{ preset: 'kl-high', do: 'stop' }, { preset: 'coverage' }]);
  const { experiment } = await running(store, { input: { resolved: { engine: 'replay', rules } } });
  const before = await run('rules', experiment, ...connection);
  assert.match(before.output.lines.join('\n'), /kl-high +stop +\S.* -\n/);
  assert.match((await run('get', experiment, ...connection)).output.lines.join('\n'), /rules +2, none fired/);
  const { cursor, last } = await store.rules.readSignals(experiment, 10);
  const reason = 'rule kl-high: actor/ppo_kl was 1 at step 7';
  const evidence = { condition: 'actor/ppo_kl above 0.1', values: [] };
  await store.rules.advance({
    experiment,
    cursor,
    last,
    memory: {},
    due: null,
    stop: { rule: 'kl-high', reason },
    fired: [
      {
        type: 'rule',
        rule: 'kl-high',
        do: 'stop',
        attempt: 1,
        step: 7,
        at: 1,
        batch: null,
        reason,
        evidence,
      },
    ],
  });
  const text = (await run('rules', experiment, ...connection)).output.lines.join('\n');
  assert.match(text, /kl-high .*attempt 1, step 7/);
  assert.ok(text.includes(`  ${reason}`) && text.includes('stopped by kl-high'));
  const shown = (await run('get', experiment, ...connection)).output.lines.join('\n');
  assert.ok(shown.includes(`fired once: ${reason}`));
});

test('rules prints a message for an experiment without rules', async () => {
  const { experiment } = await running(store);
  assert.deepEqual((await run('rules', experiment, ...connection)).output.lines, [
    'The experiment has no rules.',
  ]);
});
