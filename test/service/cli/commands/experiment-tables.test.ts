import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { EXIT } from 'command-kit/exit';
import { wrapped } from 'command-kit/width';
import { differencesOf } from '../../../../src/plan/differences.ts';
import type { Artifact } from '../../../../src/schemas/records.ts';
import { keptOutput, runProgram } from '../../../support/cli.ts';
import { assertPrinted } from '../../../support/printed.ts';
import { recordedApi } from '../../../support/recorded-answers.ts';

/* What commands print of recorded answers; test/service/contract/recorded-answers.test.ts compares these with the API. */

const { ids, connection } = await recordedApi({ after });

async function run(...argv: string[]) {
  const output = keptOutput();
  const ended = await runProgram(output, [...argv, ...connection]);
  return { ...ended, output, text: output.lines.join('\n') };
}

/** What each command prints, by its arguments. */
async function printed(...commands: string[][]): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const argv of commands) {
    const { text, output, error } = await run(...argv);
    all[argv.join(' ')] = [text, ...output.remarks, error?.message].filter(Boolean).join('\n');
  }
  return all;
}

test('get shows where each attempt ran and how it ended, the checkpoints and the rules, all inert', async (t) => {
  const some = [ids.failed, ids.one, ids.stopped, ids.saved, ids.ruled, ids.fired];
  assertPrinted(t, 'get', await printed(...some.map((id) => ['get', id])));
  const { output } = await run('get', ids.saved, '--json');
  const { attempts, artifacts } = output.json<{ attempts: unknown[]; artifacts: Artifact[] }>();
  assert.deepEqual([attempts.length, artifacts[0]!.path], [1, '/shared/\u001b[31m5']);
});

test('metrics lists names with their last values, inert, and the named ones over the steps', async (t) => {
  const of = (...argv: string[]) => ['metrics', ids.measured, ...argv];
  const commands = [of(), of('actor/*', '--resolution', '4'), of('nothing-like-it'), of('actor/kll')];
  assertPrinted(t, 'metrics', await printed(...commands));
  for (const how of [[], ['--json'], ['--points']]) {
    const { exitCode, output } = await run(...of('nothing-like-it', ...how));
    assert.deepEqual([exitCode, output.lines], [EXIT.notOk, []]);
  }
  assert.equal((await run(...of('--json'))).output.json<{ items: unknown[] }>().items.length, 3);
  const part = await run(...of('actor/kl', '--from', '3', '--to', '4', '--json'));
  const { series } = part.output.json<{ series: { points: { first: number }[] }[] }>();
  assert.deepEqual(
    series[0]?.points.map(({ first }) => first),
    [1, 4 / 3],
  );
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

test('two specs differ in the values that one has otherwise, or alone', () => {
  assert.deepEqual(differencesOf({ a: 1, b: { c: [1], 'x/y': 1 } }, { a: 1, b: { c: [2] }, d: null }), [
    { pointer: '/b/c', a: [1], b: [2] },
    { pointer: '/b/x~1y', a: 1, b: undefined },
    { pointer: '/d', a: undefined, b: null },
  ]);
});

test('diff shows the values in which two experiments differ, and both results', async (t) => {
  const { one, two } = ids;
  assertPrinted(t, 'diff', await printed(['diff', 'one', two], ['diff', one, one]));
  const { output } = await run('diff', one, two, '--json');
  assert.deepEqual(
    output.json<{ differences: { pointer: string }[] }>().differences.map(({ pointer }) => pointer),
    ['/name'],
  );
});

const { failed, fired, saved, measured, ruled, one, two, sweep } = ids;

/** Commands of people who look at a terminal of 80 columns. */
const LOOKS: string[][] = [
  ['ls'],
  ['ls', '--columns', 'id,name,state,attempt,metric:actor/kl'],
  ...[failed, fired, one, saved, ruled].map((id) => ['get', id]),
  ['metrics', measured],
  ['metrics', measured, 'actor/kl', '--resolution', '4'],
  ['batches', saved],
  ['diff', one, two],
  ['sweeps'],
  ['sweeps', 'get', sweep],
  ['sweeps', 'compare', sweep],
  ['presets'],
  ['presets', 'ls', 'paper-main-table'],
  ['plan', '--recipe', 'qwen2.5_1.5b_alfworld_train'],
  ['queues'],
  ['clusters'],
  ['nodes'],
  ['projects'],
  ['keys'],
  ['audit'],
  ['whoami'],
  ['projects', 'get', 'default'],
];

test('in a terminal of 80 columns no table and no sentence is broken within a word', async (t) => {
  const record = await run('get', one, '--json');
  const { submittedAt } = record.output.json<{ submittedAt: number }>();
  t.mock.timers.enable({ apis: ['Date'], now: submittedAt + 90 * 60_000 });
  const shown: Record<string, string> = {};
  for (const argv of LOOKS) {
    const needsNoServer = ['presets', 'plan'].includes(argv[0]!);
    const output = Object.assign(keptOutput(), { columns: 80 });
    await runProgram(output, [...argv, ...(needsNoServer ? [] : connection)]);
    shown[argv.join(' ')] = [...output.remarks.map((one) => wrapped(one, 80)), ...output.lines].join('\n');
  }
  const lines = Object.values(shown).flatMap((text) => stripVTControlCharacters(text).split('\n'));
  for (const line of lines.filter((one) => one.replace(/ \\$/, '').trim().includes(' ')))
    assert.ok(line.length <= 80, `${line.length} columns: ${line}`);
  assertPrinted(t, 'eighty-columns', shown);
});
