import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { EXIT } from 'echelon-verify/cli/exit';
import { wrapped } from 'echelon-verify/cli/shortened';
import { differencesOf } from '../../../../src/plan/differences.ts';
import type { Artifact } from '../../../../src/schemas/records.ts';
import type { SweepSeries } from '../../../../src/schemas/sweep.ts';
import { keptOutput, runProgram } from '../../../support/cli.ts';
import { recordedApi } from '../../../support/recorded-answers.ts';

/* What commands print of recorded answers; test/service/contract/recorded-answers.test.ts compares these with the API. */

const { ids, connection } = await recordedApi({ after });

async function run(...argv: string[]) {
  const output = keptOutput();
  const ended = await runProgram(output, [...argv, ...connection]);
  return { ...ended, output, text: output.lines.join('\n') };
}

test('attempts tells where each ran and how it ended, inert', async () => {
  const { text } = await run('attempts', ids.failed);
  assert.match(text, /\n1 +\S+ +2\S+ \S+ +2\S+ \S+ +1 +failed: no room\\u001b\[2J$/);
  const asJson = await run('attempts', ids.failed, '--json');
  assert.equal(asJson.output.json<{ items: unknown[] }>().items.length, 1);
  assert.match((await run('attempts', ids.one)).text, /No attempts yet/);
});

test('attempts says once that one was stopped', async () => {
  const { text } = await run('attempts', ids.stopped);
  assert.match(text, / stopped: by a rule \(exit code 143\)$/);
  assert.doesNotMatch(text, /stopped: stopped/);
});

test('artifacts lists checkpoints, paths inert', async () => {
  const { text } = await run('artifacts', ids.saved);
  assert.match(text, /checkpoint +5 +1 +1970-01-01 00:00:00 +\/shared\/\\u001b\[31m5/);
  const asJson = await run('artifacts', ids.saved, '--json');
  assert.equal(asJson.output.json<{ items: Artifact[] }>().items[0]!.path, '/shared/\u001b[31m5');
  assert.match((await run('artifacts', ids.failed)).text, /No artifacts/);
});

test('metrics lists names with their last values, inert', async () => {
  const { text } = await run('metrics', ids.measured);
  assert.match(text, /^METRIC +LAST\nactor\/kl +33\nactor\/x\\u001b\[2J +1\nloss +2$/);
  const { output } = await run('metrics', ids.measured, '--json');
  assert.equal(output.json<{ items: unknown[] }>().items.length, 3);
});

test('metrics shows the named metrics over the steps', async () => {
  const { text } = await run('metrics', ids.measured, 'actor/*', '--resolution', '4');
  assert.match(text, /^actor\/kl\nSTEPS +VALUES +MEAN/);
  assert.match(text, /^0-24 +25 +4 +0 +8 +8 +1970-01-01 00:00:00$/m);
  assert.match(text, /^0-24 +25 +1 +1 +1 +1 +1 +1970-01-01 00:00:00$/m);
  const part = await run('metrics', ids.measured, 'actor/kl', '--from', '3', '--to', '4', '--json');
  const { series } = part.output.json<{ series: { points: { first: number }[] }[] }>();
  assert.deepEqual(
    series[0]?.points.map(({ first }) => first),
    [1, 4 / 3],
  );
  assert.equal((await run('metrics', ids.measured, 'nothing-like-it')).exitCode, EXIT.notOk);
  assert.match((await run('metrics', ids.measured, 'actor/kll')).error!.message, /Did you mean actor\/kl\?/);
});

test('metrics prints every value at full precision', async () => {
  const { output } = await run('metrics', ids.measured, 'actor/kl', '--points');
  assert.equal(output.lines[0], 'metric\tattempt\tstep\tvalue\tat');
  assert.equal(output.lines[2], `actor/kl\t1\t1\t${1 / 3}\t0`);
  assert.equal(output.lines.length, 101);
  await assert.rejects(
    run('metrics', ids.measured, '--points', '--json'),
    /cannot be used with option '--json'/,
  );
});

test('rules lists the presets without a server', async () => {
  const listed = async (...argv: string[]) => {
    const output = keptOutput();
    await runProgram(output, ['rules', ...argv]);
    return output;
  };
  assert.match((await listed()).lines.join('\n'), /kl-high +actor\/ppo_kl above 0\.1, 3 times in a row +\S/);
  assert.equal((await listed('--json')).json<unknown[]>().length, 15);
});

test('rules shows the rules of an experiment and when they fired', async () => {
  assert.match((await run('rules', ids.ruled)).text, /kl-high +stop +\S.* -\n/);
  assert.match((await run('get', ids.ruled)).text, /rules +2, none fired/);
  const reason = 'rule kl-high: actor/ppo_kl was 1 at step 7';
  const { text } = await run('rules', ids.fired);
  assert.match(text, /kl-high .*attempt 1, step 7/);
  assert.ok(text.includes(`  ${reason}`) && text.includes('stopped by kl-high'));
  assert.ok((await run('get', ids.fired)).text.includes(`fired once: ${reason}`));
});

test('rules prints a message for an experiment without rules', async () => {
  assert.deepEqual((await run('rules', ids.saved)).output.lines, ['The experiment has no rules.']);
});

test('two specs differ in the values that one has otherwise, or alone', () => {
  assert.deepEqual(differencesOf({ a: 1, b: { c: [1], 'x/y': 1 } }, { a: 1, b: { c: [2] }, d: null }), [
    { pointer: '/b/c', a: [1], b: [2] },
    { pointer: '/b/x~1y', a: 1, b: undefined },
    { pointer: '/d', a: undefined, b: null },
  ]);
});

test('diff shows the values in which two experiments differ, and both results', async () => {
  const { one, two } = ids;
  const { text } = await run('diff', 'one', two);
  assert.match(text, new RegExp(`^SPEC +${one} +${two}\\n/name +one +two$`, 'm'));
  assert.match(text, /^state +queued +queued$/m);
  const { output } = await run('diff', one, two, '--json');
  assert.deepEqual(
    output.json<{ differences: { pointer: string }[] }>().differences.map(({ pointer }) => pointer),
    ['/name'],
  );
  assert.equal((await run('diff', one, one)).output.lines[0], 'The specs are equal.');
});

test('the series of a sweep is a table of means per combination and steps, or JSON', async () => {
  const { text } = await run('sweeps', 'series', ids.newSweep);
  assert.match(text, /^No child has recorded val\/success_rate\./);
  const found = await run('sweeps', 'series', ids.sweep, 'm');
  assert.match(found.text, /\/replay\/batches +STEPS +N +MEAN.*\n0 +3 +1 +0\.2500 +-/);
  const [first] = (await run('sweeps', 'series', ids.sweep, 'm', '--json')).output.json<SweepSeries>().items;
  assert.deepEqual([first!.points.length, first!.points[0]!.mean], [1, 0.25]);
});

const GOLDEN = 'test/golden/answers/eighty-columns.txt';
const { failed, fired, saved, measured, ruled, one, two, sweep, newSweep } = ids;

/** Commands of people who look at a terminal of 80 columns. */
const LOOKS: string[][] = [
  ['ls'],
  ['ls', '--columns', 'id,name,state,attempt,metric:actor/kl'],
  ...[failed, fired, one].map((id) => ['get', id]),
  ['attempts', failed],
  ['artifacts', saved],
  ['metrics', measured],
  ['metrics', measured, 'actor/kl', '--resolution', '4'],
  ['rules'],
  ...[ruled, fired].map((id) => ['rules', id]),
  ['batches', saved],
  ['diff', one, two],
  ['sweeps'],
  ['sweeps', 'get', sweep],
  ['sweeps', 'compare', sweep],
  ['sweeps', 'series', newSweep],
  ['presets'],
  ['presets', 'get', 'paper-main-table'],
  ['recipes'],
  ['plan', '--recipe', 'qwen2.5_1.5b_alfworld_train'],
  ['queues'],
  ['clusters'],
  ['nodes'],
  ['projects'],
  ['keys'],
  ['audit'],
  ['whoami'],
  ['retention'],
];

test('in a terminal of 80 columns no table and no sentence is broken within a word', async (t) => {
  const record = await run('get', one, '--json');
  const { submittedAt } = record.output.json<{ submittedAt: number }>();
  t.mock.timers.enable({ apis: ['Date'], now: submittedAt + 90 * 60_000 });
  const shown: string[] = [];
  for (const argv of LOOKS) {
    const needsNoServer = ['presets', 'recipes', 'plan'].includes(argv[0]!) || argv.join() === 'rules';
    const output = Object.assign(keptOutput(), { columns: 80 });
    await runProgram(output, [...argv, ...(needsNoServer ? [] : connection)]);
    const text = [...output.remarks.map((one) => wrapped(one, 80)), ...output.lines].join('\n');
    shown.push(
      `$ echelon ${argv.join(' ')}\n${stripVTControlCharacters(text).replace(/127.0.0.1:\d+/, 'HOST')}\n`,
    );
  }
  const text = shown.join('\n');
  if (process.env.ECHELON_RECORD === '1') writeFileSync(GOLDEN, text);
  for (const line of text.split('\n').filter((one) => one.replace(/ \\$/, '').trim().includes(' ')))
    assert.ok(line.startsWith('$') || line.length <= 80, `${line.length} columns: ${line}`);
  assert.equal(
    text,
    readFileSync(GOLDEN, 'utf8'),
    'record anew with ECHELON_RECORD=1, and read the difference',
  );
});
