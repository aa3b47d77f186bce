/** Dumps that lack the values of a reward function, and faults in dumps that do not: nothing beside them tells which it is. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sourcesOf } from '../../src/cli/dump-files.ts';
import type { DumpStep } from '../../src/dumps/adapter.ts';
import { TRL } from '../../src/dumps/trl.ts';
import { type StatedDump, verifyDump } from '../../src/verify/verify-dump.ts';
import { DUMPS, planted } from '../support/dump-files.ts';

/** The columns are not tried: they are those of the changed step. */
const { rewardChoices: _choices, ...ADAPTER } = TRL;

async function verified(run: string, change = (step: DumpStep) => step, stated: StatedDump = {}) {
  const { sources } = await sourcesOf([`${DUMPS}/${run}`]);
  const files = sources.flatMap((source) => ('adapter' in source ? source.files : []));
  const reports = await Array.fromAsync(verifyDump(planted(ADAPTER, change), files, stated));
  return reports.map(({ ok, consistent, wrong, unverifiable, findings }) => ({
    outcome: ok ? 'ok' : consistent ? 'consistent' : wrong > 0 ? 'wrong' : 'unverifiable',
    unverifiable,
    message: findings.find(({ code }) => /^rewards-/.test(code))?.message,
  }));
}

const outcomes = (reports: Awaited<ReturnType<typeof verified>>) => reports.map(({ outcome }) => outcome);
const MISSING = /are those of other rewards: .*keep trainer_state\.json .*Give each reward function a name/;

/** The step as if only one of its reward functions had a column. */
function withOnly(function_: number) {
  return (step: DumpStep): DumpStep => {
    const { rewardError: _error, ...rest } = step;
    const one = step.rewards![function_]!;
    return { ...rest, rewards: [one], reward: one.value };
  };
}

describe('a dump that lacks the column of a reward function, of a run that records no number of functions', () => {
  test('two functions of one name: all rows are unverifiable, and the remedy is said', async () => {
    const reports = await verified('trl-contexts/1.16.0/same-name');
    assert.deepEqual(outcomes(reports), ['unverifiable', 'unverifiable', 'unverifiable']);
    for (const { unverifiable, message } of reports) {
      assert.equal(unverifiable, 16);
      assert.match(message!, MISSING);
    }
  });

  test('a column lost of two, with deviations over the group or over the batch: no row is wrong', async () => {
    for (const run of ['trl-contexts/1.16.0/processes', 'trl/gdpo', 'trl-contexts/1.0.0/unscorable-gdpo'])
      for (const kept of [0, 1])
        assert.ok(!outcomes(await verified(run, withOnly(kept))).includes('wrong'), `${run} ${kept}`);
  });

  test('a function that counts twice with the same values: no row is wrong', async () => {
    // Half of each reward: then the trainer's advantages are those of twice the column.
    for (const run of ['trl/decimal', 'trl/none']) {
      const halved = (step: DumpStep) => ({ ...step, reward: step.reward.map((r) => r / 2) });
      assert.deepEqual(outcomes(await verified(run, halved)), [
        'unverifiable',
        'unverifiable',
        'unverifiable',
      ]);
    }
  });

  test('the same dump with its number of functions stated or recorded: its rows are wrong', async () => {
    const run = 'trl-contexts/1.16.0/same-name';
    assert.deepEqual(outcomes(await verified(run, undefined, { rewards: ['even'] })), [
      'wrong',
      'wrong',
      'wrong',
    ]);
  });
});

type Change = (advantage: Float64Array) => Float64Array;

describe('a dump with all columns, of a run that records no number of functions', () => {
  const swapped: Change = (a) => {
    const [low, high] = [Math.min, Math.max].map((most) => a.indexOf(most(...a)));
    return a.with(low!, a[high!]!).with(high!, a[low!]!);
  };
  const FAULTS: Readonly<Record<string, Change>> = {
    'the other sign': (a) => a.map((x) => -x),
    'the other sign in one group': (a) => a.map((x, row) => (row < 4 ? -x : x)),
    'twice the size': (a) => a.map((x) => 2 * x),
    'half the size': (a) => a.map((x) => x / 2),
    'the population deviation': (a) => a.map((x) => x * Math.sqrt(4 / 3)),
    'a constant added': (a) => a.map((x) => x + 0.01),
    clipped: (a) => a.map((x) => Math.max(-1, Math.min(1, x))),
    'all zero': (a) => a.map(() => 0),
    'two rows exchanged': swapped,
    'rows moved by one': (a) => a.map((_, row) => a[(row + 1) % a.length]!),
    'rows moved by one in each group': (a) => a.map((_, row) => a[row - (row % 4) + ((row + 1) % 4)]!),
    'groups moved by one': (a) => a.map((_, row) => a[(row + 4) % a.length]!),
  };

  for (const [fault, change] of Object.entries(FAULTS))
    test(`${fault}: the rows are wrong, and the report says that the number of functions is not known`, async () => {
      const run = 'trl-contexts/1.16.0/longer-generation';
      const reports = await verified(run, (step) => ({ ...step, advantage: change(step.advantage!) }));
      for (const { outcome, message } of reports) {
        assert.equal(outcome, 'wrong');
        assert.match(message!, /^Nothing beside the dump tells how many reward functions/);
      }
    });
});
