/** What GRPOTrainer of TRL wrote in settings that decide which rows, columns and configuration count (trl_contexts.py). */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { sourcesOf } from '../../src/cli/dump-files.ts';
import type { DumpAdapter, DumpStep } from '../../src/dumps/adapter.ts';
import { TRL } from '../../src/dumps/trl.ts';
import { type DumpReport, type StatedDump, verifyDump } from '../../src/verify/verify-dump.ts';
import { DUMPS, folder, planted } from '../support/dump-files.ts';

const ROOT = `${DUMPS}/trl-contexts`;

async function filesOf(run: string): Promise<readonly string[]> {
  const { sources } = await sourcesOf([run]);
  return sources.flatMap((source) => ('adapter' in source ? source.files : []));
}

async function verified(run: string, stated: StatedDump = {}, adapter: DumpAdapter = TRL) {
  return await Array.fromAsync(verifyDump(adapter, await filesOf(join(ROOT, run)), stated));
}

/** The outcome of each step: ok, consistent, not ok, and the findings. */
const outcomes = (reports: readonly DumpReport[]) =>
  reports.map(({ ok, consistent, unverifiable, findings }) =>
    [
      ok ? 'ok' : consistent ? 'consistent' : 'not ok',
      ...(unverifiable > 0 ? ['unverifiable'] : []),
      ...findings.map(({ code }) => code),
    ].join(' '),
  );

test('no row of any version and setting is wrong', async () => {
  for (const version of readdirSync(ROOT))
    for (const run of readdirSync(join(ROOT, version)))
      for (const { wrong, name } of await verified(`${version}/${run}`))
        assert.equal(wrong, 0, `${version} ${run} ${name}`);
});

describe('evaluation rows', () => {
  const EVALUATED = 'consistent unverifiable evaluation-rows';
  const DOUBTFUL = 'not ok unverifiable evaluation-rows';

  test('steps at which the settings evaluate are not verified, with the reason, and the others are', async () => {
    assert.deepEqual(outcomes(await verified('1.16.0/evaluated-pairs')), ['ok', EVALUATED, DOUBTFUL]);
    assert.deepEqual(outcomes(await verified('1.16.0/evaluated-first')), [EVALUATED, 'ok', 'ok', DOUBTFUL]);
    const [, second] = await verified('1.16.0/evaluated-pairs');
    assert.match(second!.findings[0]!.message, /^The trainer evaluated at step 2\. /);
  });

  test('a step that reuses an earlier generation holds the evaluation before it', async () => {
    const reports = await verified('1.16.0/evaluated-reused');
    assert.deepEqual(outcomes(reports), ['ok', 'ok', EVALUATED, EVALUATED, DOUBTFUL]);
    assert.match(reports[3]!.findings[0]!.message, /evaluated at step 3, and has not generated/);
  });

  test('evaluations at the ends of epochs are those that the trainer recorded', async () => {
    const epoch = ['ok', 'ok', 'ok', EVALUATED];
    assert.deepEqual(outcomes(await verified('1.16.0/evaluated-epoch')), [...epoch, ...epoch]);
  });

  test('without a record, rows that do not fit may be of an evaluation', async () => {
    const epoch = ['ok', 'ok', 'ok', DOUBTFUL];
    assert.deepEqual(outcomes(await verified('1.16.0/evaluated-epoch-unrecorded')), [...epoch, ...epoch]);
    assert.deepEqual(outcomes(await verified('1.16.0/evaluated-by-hand')), ['ok', 'ok', DOUBTFUL]);
  });

  test('a fault at a step without evaluation is wrong', async () => {
    const turned = planted(TRL, (step) => ({ ...step, advantage: step.advantage!.map((a) => -a) }));
    const wrong = (await verified('1.16.0/evaluated-epoch', {}, turned)).map((report) => report.wrong > 0);
    assert.deepEqual(wrong, [true, true, true, false, true, true, true, false]);
  });
});

describe('columns that are rewards', () => {
  test('columns that explain all rows are named, and the run is consistent, not ok', async () => {
    for (const [run, used] of [
      ['extra', /follow from logged alone, not from the sum over logged, halves/],
      ['extra-beside-two', /follow from decimal, logged alone/],
    ] as const)
      for (const report of await verified(`1.16.0/${run}`)) {
        assert.deepEqual(outcomes([report]), ['consistent rewards-inferred']);
        assert.match(report.findings[0]!.message, used);
      }
  });

  test('the caller, the weights of the run or its record tell the columns', async () => {
    const ok = ['ok', 'ok', 'ok'];
    assert.deepEqual(outcomes(await verified('1.16.0/extra', { rewards: ['logged'] })), ok);
    assert.deepEqual(outcomes(await verified('1.16.0/extra-weights')), ok);
    assert.deepEqual(outcomes(await verified('1.16.0/extra-saved')), ok);
  });

  test('a fault in few rows is wrong whichever columns count, one in all rows if the columns are known', async () => {
    const swap = (step: DumpStep): DumpStep => {
      const advantage = step.advantage!;
      const [low, high] = [Math.min, Math.max].map((most) => advantage.indexOf(most(...advantage)));
      return { ...step, advantage: advantage.with(low!, advantage[high!]!).with(high!, advantage[low!]!) };
    };
    const once = planted(TRL, (step) => (step.name === 'step 2' ? swap(step) : step));
    const reports = await verified('1.16.0/extra-beside-two', {}, once);
    assert.deepEqual(
      reports.map(({ wrong }) => wrong),
      [0, 2, 0],
    );
    const turned = planted(TRL, (step) => ({ ...step, advantage: step.advantage!.map((a) => -a) }));
    for (const { wrong } of await verified('1.16.0/extra-saved', {}, turned)) assert.ok(wrong > 0);
    const [unknown] = await verified('1.16.0/extra-beside-two', {}, turned);
    assert.deepEqual(outcomes([unknown!]), ['not ok unverifiable rewards-unknown']);
    assert.match(unknown!.findings[0]!.message, /--rewards/);
    const one = planted(TRL, (step) =>
      step.name === 'step 2' ? { ...step, advantage: step.advantage!.map((a) => -a) } : step,
    );
    assert.deepEqual(
      (await verified('1.16.0/processes', {}, one)).map(({ wrong }) => wrong > 0),
      [false, true, false],
    );
  });

  test('functions of one name share a column, and the report says so', async () => {
    const [report] = await verified('1.16.0/same-name-weights');
    assert.deepEqual(outcomes([report!]), ['consistent unverifiable rewards-incomplete']);
    assert.match(report!.findings[0]!.message, /2 reward functions, the dump 1 reward column \(even\)/);
  });

  test('wrong rows of a run that records no number of functions come with that remark', async () => {
    const turned = planted(TRL, (step) => ({ ...step, advantage: step.advantage!.map((a) => -a) }));
    for (const report of await verified('1.16.0/processes', { rewards: ['decimal', 'even'] }, turned))
      assert.ok(report.wrong > 0 && !report.findings.some(({ code }) => code === 'rewards-unrecorded'));
    for (const report of await verified('1.16.0/longer-generation', {}, turned))
      assert.ok(report.wrong > 0 && report.findings.some(({ code }) => code === 'rewards-unrecorded'));
  });
});

describe('rewards that are no numbers', () => {
  test('a row that no function scored counts as 0 up to TRL 1.5, by the settings of the run', async () => {
    for (const run of ['1.0.0/unscorable', '1.0.0/unscorable-gdpo'])
      for (const report of await verified(run)) {
        assert.equal(report.ok, true, run);
        assert.match(report.configuration.fingerprint!, /missing=zero/);
      }
    const [stated] = await verified('1.0.0/unscorable', { params: { missing: 'exclude' } });
    assert.ok(stated!.wrong > 0 && stated!.findings.some(({ code }) => code === 'unscorable-rewarded'));
  });

  test('a stated parameter changes that one only of what the configuration says', async () => {
    const run = async (params: StatedDump['params']) =>
      (await verified('1.16.0/resumed', { ...(params && { params }) })).map(({ configuration }) =>
        configuration.fingerprint?.replace('exclude', 'zero'),
      );
    assert.deepEqual(await run({ missing: 'zero' }), await run(undefined));
  });

  test('without a configuration both rules are tried, and the one that fits is named', async () => {
    const { find: _find, ...unconfigured } = TRL;
    const [old] = await verified('1.0.0/unscorable', {}, unconfigured);
    assert.deepEqual([old!.consistent, old!.configuration.origin], [true, 'inferred']);
    assert.match(old!.configuration.fingerprint!, /missing=zero/);
  });

  test('an infinite reward is an error of the input, and its group is right as the trainer made it', async () => {
    for (const run of ['1.16.0/infinite', '1.16.0/infinite-none', '1.0.0/infinite']) {
      const [report] = await verified(run);
      assert.deepEqual([report!.wrong, report!.unverifiable], [0, 0], run);
      assert.ok(
        report!.findings.some(({ code }) => code === 'non-finite-input'),
        run,
      );
    }
  });
});

describe('rows of a step', () => {
  test('a lost group is an error by the generation batch of the configuration', async () => {
    for (const run of ['decimal', 'batch']) {
      await using dir = await folder();
      await mkdir(join(dir.path, 'completions'));
      await cp(`${DUMPS}/trl/${run}`, dir.path, { recursive: true });
      const shorter = planted(TRL, (step) => ({ ...step, ...withoutGroup(step, 0) }));
      const reports = await Array.fromAsync(verifyDump(shorter, await filesOf(dir.path)));
      for (const { ok, findings } of reports) {
        assert.equal(ok, false);
        const missing = findings.find(({ code }) => code === 'rows-missing');
        assert.match(missing!.message, /a step has 16 rows, this one has (?:12|8)\./);
      }
    }
  });

  test('rows of several processes, and of generations of several steps, are complete', async () => {
    assert.deepEqual(new Set(outcomes(await verified('1.16.0/processes'))), new Set(['ok']));
    assert.deepEqual(new Set(outcomes(await verified('1.16.0/longer-generation'))), new Set(['ok']));
  });
});

/** The columns without the rows of one group. */
function withoutGroup({ group, reward, rewards, advantage }: DumpStep, lost: number): Partial<DumpStep> {
  const kept = [...group.ids.keys()].filter((row) => group.ids[row] !== lost);
  const numbers = (column: Float64Array) => Float64Array.from(kept, (row) => column[row]!);
  return {
    group: { ids: Int32Array.from(kept, (row) => group.ids[row]! - 1), names: group.names.slice(1) },
    reward: numbers(reward),
    rewards: rewards!.map((one) => ({ ...one, value: numbers(one.value) })),
    advantage: numbers(advantage!),
  };
}
