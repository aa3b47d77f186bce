import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';

const run = promisify(execFile);
const ACTION = resolve('deploy/action');
const PROGRAM = `'${process.execPath}' '${resolve('packages/echelon-verify/src/cli/main.ts')}'`;
const HOSTILE =
  'a\n::add-mask::b\r::set-output name=x::y <script>alert(1)</script> [link](https://example.org)';

interface Ended {
  status: number;
  stdout: string;
  outputs: Record<string, string>;
  summary: string;
}

describe('the step of the action, with the files of a runner', () => {
  let workspace: string;
  before(async () => {
    workspace = await mkdtemp(join(tmpdir(), 'action-'));
    await cp('test/golden/dumps/trl/group', join(workspace, 'outputs'), { recursive: true });
    await cp('test/golden/dumps/trl/group/completions', join(workspace, 'no-settings'), { recursive: true });
    await cp('packages/echelon-dashboard/src/sample.json.gz', join(workspace, 'wrong.json.gz'));
  });
  after(() => rm(workspace, { recursive: true }));

  async function step(inputs: Record<string, string>): Promise<Ended> {
    const temporary = await mkdtemp(join(workspace, 'runner-'));
    const [output, summary] = ['output', 'summary'].map((name) => join(temporary, name));
    await Promise.all([writeFile(output!, ''), writeFile(summary!, '')]);
    const env = {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_WORKSPACE: workspace,
      RUNNER_TEMP: temporary,
      ECHELON_PROGRAM: PROGRAM,
      ...inputs,
    };
    const ended = await run(process.execPath, [join(ACTION, 'verify.mjs')], { cwd: workspace, env }).then(
      ({ stdout }) => ({ status: 0, stdout }),
      ({ code, stdout }: { code: number; stdout: string }) => ({ status: code, stdout }),
    );
    const lines = (await readFile(output!, 'utf8')).trim().split('\n');
    const outputs = Object.fromEntries(lines.map((line) => line.split('=') as [string, string]));
    return { ...ended, outputs, summary: await readFile(summary!, 'utf8') };
  }

  /** The lines that a runner obeys: those outside of a stop. */
  function commandsIn(stdout: string): string[] {
    let token: string | undefined;
    return stdout.split(/\r\n|\r|\n/).filter((line) => {
      if (token !== undefined) {
        if (line === `::${token}::`) token = undefined;
        return false;
      }
      token = /^::stop-commands::(.+)$/.exec(line)?.[1];
      return token === undefined && line.trimStart().startsWith('::');
    });
  }

  test('a right folder passes without an annotation, with counts as outputs and a green badge', async () => {
    const { status, stdout, outputs, summary } = await step({
      ECHELON_PATH: 'outputs\n',
      ECHELON_BADGE: join(workspace, 'badge.json'),
    });
    assert.equal(status, 0);
    assert.deepEqual(commandsIn(stdout), []);
    assert.deepEqual([outputs.outcome, outputs.rows, outputs['rows-wrong']], ['ok', '48', '0']);
    assert.match(summary, /^## Every advantage is right\n[\s\S]*\| 3 \| 48 \| 48 \| 0 \| 0 \| 0 \|/);
    assert.deepEqual(JSON.parse(await readFile(join(workspace, 'badge.json'), 'utf8')), {
      schemaVersion: 1,
      label: 'advantages',
      message: '48 rows right',
      color: 'brightgreen',
    });
    assert.ok(existsSync(join(outputs.folder!, 'report.html')));
  });

  test('a wrong row fails the step and is annotated at its file with its likely cause', async () => {
    const { status, stdout, outputs, summary } = await step({
      ECHELON_PATH: `outputs\n${join(workspace, 'wrong.json.gz')}`,
      ECHELON_BADGE: join(workspace, 'badge.json'),
    });
    assert.equal(status, 1);
    assert.deepEqual(commandsIn(stdout), [
      '::error file=wrong.json.gz,title=Wrong advantage::Row 1 of step 1 reports -0.08528020232915878, true is ' +
        '-0.21320048781875742. Likely cause: levels whose advantage is 0 keep their weight (it gives all 317 wrong rows).',
    ]);
    assert.deepEqual([outputs.outcome, outputs['rows-wrong']], ['wrong', '317']);
    assert.match(summary, /^## Advantages are wrong\n/);
    assert.match(summary, /<pre>\nRow 1 of step 1 is WRONG/);
    assert.match(
      await readFile(join(outputs.folder!, 'explanation.txt'), 'utf8'),
      /^Row 1 of step 1 is WRONG/,
    );
    assert.match(await readFile(join(outputs.folder!, 'report.html'), 'utf8'), /^<!doctype html>/);
    assert.match(await readFile(join(workspace, 'badge.json'), 'utf8'), /"317 rows wrong","color":"red"/);
  });

  test('an inferred estimator passes with a warning, and a path without a dump fails', async () => {
    const inferred = await step({ ECHELON_PATH: 'no-settings' });
    assert.deepEqual([inferred.status, inferred.outputs.outcome], [0, 'unproven']);
    assert.match(commandsIn(inferred.stdout).join(), /^::warning title=Not verified::Nothing is wrong, but/);
    const stated = await step({
      ECHELON_PATH: 'no-settings',
      ECHELON_ARGUMENTS: '--estimator grpo --param epsilon=1e-4 --param deviation=sample --group-size 4',
    });
    assert.deepEqual([stated.status, stated.outputs.outcome], [0, 'ok']);
    const absent = await step({ ECHELON_PATH: 'absent' });
    assert.deepEqual([absent.status, absent.outputs.outcome], [2, 'unreadable']);
    assert.match(commandsIn(absent.stdout).join(), /^::error title=Not verified::/);
  });

  test('a path that begins as an option does is a path, and a verification that does not end is ended', async () => {
    const option = await step({ ECHELON_PATH: 'outputs\n--html=planted.html' });
    assert.deepEqual([option.status, option.outputs.outcome], [2, 'unreadable']);
    assert.match(option.stdout, /--html=planted\.html: there is no such file/);
    assert.ok(!existsSync(join(workspace, 'planted.html')));
    const endless = await step({
      ECHELON_PATH: 'outputs',
      ECHELON_PROGRAM: 'exec sleep 60 #',
      ECHELON_MINUTES: '0.005',
    });
    assert.deepEqual([endless.status, endless.outputs.outcome], [2, 'unreadable']);
    assert.match(commandsIn(endless.stdout)[0]!, /The verification took more than 0\.005 minutes/);
  });

  test('without the verifier, the step says so, and calls no row wrong and no file unreadable', async () => {
    for (const [program, status] of [
      ['no-such-verifier', 127],
      // As npx, if the registry does not have the package.
      ['sh -c "exit 1"', 1],
    ] as const) {
      const { outputs, stdout, ...ended } = await step({ ECHELON_PATH: 'outputs', ECHELON_PROGRAM: program });
      assert.deepEqual([ended.status, outputs.outcome], [2, 'unreadable']);
      const [said, ...others] = commandsIn(stdout);
      assert.deepEqual(others, []);
      assert.match(said!, new RegExp(`The verifier did not run: \`.*\` ended with ${status} and without`));
    }
  });

  test('a report of pytest passes with the batches that a test expects to be wrong, and warns of gaps', async () => {
    const counts = { rows: 4, exact: 3, rounding: 0, wrong: 1, unverifiable: 0, wrongRows: [2] };
    const wrong = { name: 'batch', ...counts, ok: false, consistent: false, findings: [], expected: true };
    const right = {
      ...wrong,
      exact: 4,
      wrong: 0,
      wrongRows: [],
      ok: true,
      consistent: true,
      expected: false,
    };
    const report = async (content: object): Promise<Ended> => {
      await writeFile(join(workspace, 'pytest.json'), JSON.stringify(content));
      return step({ ECHELON_REPORT: 'pytest.json' });
    };
    const passed = await report({ batches: [wrong, right], gaps: [] });
    assert.deepEqual([passed.status, passed.outputs.outcome, passed.outputs.rows], [0, 'ok', '4']);
    const gap = { test: 'test_a', step: 1, rows: 4, reason: 'not verifiable' };
    const unproven = await report({ batches: [right], gaps: [gap] });
    assert.deepEqual([unproven.status, unproven.outputs.outcome], [0, 'unproven']);
    assert.doesNotMatch(unproven.summary, /Every advantage is right/);
  });

  test('a report of pytest is annotated at its test file, and its texts give the runner no command', async () => {
    const counts = {
      rows: 4,
      exact: 3,
      rounding: 0,
      wrong: 1,
      unverifiable: 0,
      wrongRows: [2],
      roundingRows: [],
    };
    const batch = {
      ...{
        name: HOSTILE,
        ...counts,
        ok: false,
        findings: [{ code: 'wrong-rows', severity: 'error', rows: [2], message: HOSTILE }],
      },
      ...{ test: `tests/test_loss.py::test_${HOSTILE}`, explanation: HOSTILE, likelyCause: HOSTILE },
    };
    const gaps = [{ test: 'tests/test_loss.py::test_a', step: 1, rows: 0, reason: HOSTILE }];
    await writeFile(join(workspace, 'pytest.json'), JSON.stringify({ batches: [batch], gaps }));
    const { status, stdout, summary, outputs } = await step({ ECHELON_REPORT: 'pytest.json' });
    assert.equal(status, 1);
    const commands = commandsIn(stdout);
    assert.equal(commands.length, 2);
    assert.match(
      commands[0]!,
      /^::error file=tests\/test_loss\.py,title=Wrong advantage::Row 2 of a%0A::add-mask/,
    );
    assert.match(commands[1]!, /^::warning title=Not verified::1 batches were not verified: a%0A/);
    // Between the tags of a block Markdown reads no links.
    assert.doesNotMatch(summary.replace(/<pre>[\s\S]*<\/pre>/, ''), /<script|\[link\]/);
    assert.doesNotMatch(summary, /<script/);
    assert.equal(await readFile(join(outputs.folder!, 'explanation.txt'), 'utf8'), HOSTILE);
  });
});

test('the action passes each of its inputs to the step, which reads no other variable of its own', async () => {
  const { inputs, runs } = parse(await readFile(join(ACTION, 'action.yml'), 'utf8'));
  const [step] = runs.steps;
  const passed = Object.values(step.env as Record<string, string>).map(
    (value) => /inputs\.(\w+)/.exec(value)?.[1],
  );
  assert.deepEqual([...passed, 'artifact'].sort(), Object.keys(inputs).sort());
  const text = await readFile(join(ACTION, 'verify.mjs'), 'utf8');
  const read = new Set(text.match(/\bECHELON_[A-Z]+\b/g));
  assert.deepEqual([...read].sort(), Object.keys(step.env).sort());
  // The shell of the step expands the path.
  const [, place] = /--spec "\$GITHUB_ACTION_PATH\/(\S+)" echelon-verify$/.exec(inputs.program.default)!;
  assert.match(await readFile(join(ACTION, place!, 'pyproject.toml'), 'utf8'), /^name = "echelon-verify"$/m);
});
