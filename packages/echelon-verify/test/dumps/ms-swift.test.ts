import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MS_SWIFT } from '../../src/dumps/ms-swift.ts';
import { adapterFor } from '../../src/dumps/registry.ts';
import { verifyDump } from '../../src/verify/verify-dump.ts';
import { DUMPS, folder, jsonLines, stepsOf } from '../support/dump-files.ts';

const fileOf = (run: string): string => `${DUMPS}/ms-swift/${run}/completions.jsonl`;
const verified = (file: string) => Array.fromAsync(verifyDump(MS_SWIFT, [file]));

test('what ms-swift 4.6 computes is right by its args.json, for each estimator and scale', async () => {
  for (const run of readdirSync(`${DUMPS}/ms-swift`)) {
    const reports = await verified(fileOf(run));
    assert.equal(reports.length, 6);
    for (const { ok, wrong, configuration, name } of reports)
      assert.deepEqual([ok, wrong, configuration.origin], [true, 0, 'found'], `${run} ${name}`);
  }
});

test('a line is a step, and NaN of a reward function counts as 0', async () => {
  const adapter = await adapterFor(fileOf('grpo'));
  assert.equal(adapter, MS_SWIFT);
  const [step] = await stepsOf(MS_SWIFT, [fileOf('grpo')], { weights: [1, 0.3] });
  assert.deepEqual([step!.name, step!.group.names.length, step!.reward.length], ['step 1', 8, 64]);
  assert.ok(step!.reward.every((reward) => !Number.isNaN(reward)));
  assert.ok(step!.rewards![1]!.value.some(Number.isNaN));
});

test('faults that are planted in the file are found', async () => {
  await using dir = await folder();
  await dir.write('args.json', readFileSync(`${DUMPS}/ms-swift/grpo/args.json`));
  const [line] = readFileSync(fileOf('grpo'), 'utf8').split('\n');
  const table = JSON.parse(line!.replaceAll('NaN', 'null')) as Record<string, (number | string | null)[]>;
  const advantages = table.advantages as number[];
  const swap = (list: (number | string | null)[], a: number, b: number) =>
    list.map((value, i) => (i === a ? list[b]! : i === b ? list[a]! : value));
  const different = advantages.findIndex((a) => Math.abs(a - advantages[0]!) > 0.5);
  const faults: Record<string, Record<string, unknown>> = {
    swapped: { ...table, advantages: swap(advantages, 0, different) },
    mixed: { ...table, prompt: swap(table.prompt!, 0, 9) },
    clipped: { ...table, advantages: advantages.map((a) => Math.max(-0.5, Math.min(0.5, a))) },
    partial: Object.fromEntries(Object.entries(table).map(([key, list]) => [key, list.slice(0, 61)])),
  };
  for (const [name, fault] of Object.entries(faults)) {
    const [report] = await verified(await dir.write('completions.jsonl', jsonLines([fault])));
    assert.equal(report!.ok || report!.consistent, false, name);
  }
});

test('columns of different lengths and a missing list are refused with the line', async () => {
  await using dir = await folder();
  const read = async (row: unknown) => stepsOf(MS_SWIFT, [await dir.write('a.jsonl', jsonLines([row]))]);
  const row = { step: ['1', '1'], prompt: ['p', 'p'], completion: ['', ''], r: [1], advantages: [0, 0] };
  await assert.rejects(read(row), /line 1: expected 2 values of r, found 1/);
  await assert.rejects(
    read({ ...row, r: [1, 1], prompt: 'p' }),
    /expected a list prompt, found another value/,
  );
});

test('an evaluation adds a line that is not verified, and its rows leave the next line', async () => {
  for (const setting of ['grpo-group', 'reinforce-plus-plus-none']) {
    const file = `${DUMPS}/ms-swift-settings/${setting}/completions.jsonl`;
    const reports = await Array.fromAsync(verifyDump(MS_SWIFT, [file]));
    assert.deepEqual(
      reports.map(({ name, ok, consistent, wrong }) => [name, ok, consistent, wrong]),
      [
        ['step 1', true, false, 0],
        ['step 2', true, false, 0],
        ['step 2', false, true, 0],
        ['step 3', true, false, 0],
      ],
      setting,
    );
  }
});

test('a numeric column that a logger adds before the advantages is no reward', async () => {
  await using dir = await folder();
  const [line] = readFileSync(fileOf('grpo'), 'utf8').split('\n');
  const { advantages, solution, ...others } = JSON.parse(line!.replaceAll('NaN', 'null')) as Record<
    string,
    unknown[]
  >;
  const entropy = advantages!.map((_, row) => row / 100);
  const path = await dir.write(
    'completions.jsonl',
    JSON.stringify({ ...others, entropy, advantages, solution }),
  );
  const args = { num_generations: 8, advantage_estimator: 'grpo', scale_rewards: 'group' };
  await dir.write('args.json', JSON.stringify({ ...args, reward_funcs: ['accuracy', 'format'] }));
  const [read] = await stepsOf(MS_SWIFT, [path], { functions: 2 });
  assert.deepEqual(
    read!.rewards!.map(({ name }) => name),
    ['accuracy', 'format'],
  );
  const [weighed] = await Array.fromAsync(verifyDump(MS_SWIFT, [path], { weights: [1, 0.3] }));
  assert.deepEqual([weighed!.wrong, weighed!.ok], [0, true]);
  // Nothing states how many columns are rewards, and their factors are not 1: no choice fits, and no row is called wrong.
  await dir.write('args.json', JSON.stringify(args));
  const [unknown] = await Array.fromAsync(verifyDump(MS_SWIFT, [path]));
  assert.deepEqual([unknown!.wrong, unknown!.consistent], [0, false]);
  assert.equal(unknown!.findings.at(-1)!.code, 'rewards-unknown');
});
