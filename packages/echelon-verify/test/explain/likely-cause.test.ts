import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findLikelyCause, MAX_CAUSE_ROWS } from '../../src/explain/likely-cause.ts';
import type { Batch } from '../../src/format/batch.ts';
import { goldenBatch } from '../support/golden-batches.ts';
import { pick, report, reportBy } from '../support/mutants/tools.ts';
import { restated, type Stated } from '../support/stated.ts';

const clean = goldenBatch('walk-K3-mean_std_norm-base0');

/** Rows that a variant changes. */
function changed(overrides: Stated): { text: string | undefined; share: number | undefined } {
  const other = reportBy(clean, overrides);
  const rows = [...other.reportedAdvantage!.keys()].filter(
    (row) => Math.abs(other.reportedAdvantage![row]! - clean.reportedAdvantage![row]!) > 1e-4,
  );
  assert.ok(rows.length > 10);
  const cause = findLikelyCause(other, rows);
  return { text: cause?.text, share: cause?.share };
}

test('names the variant that gives what was reported', () => {
  for (const [overrides, words] of [
    [{ deviation: 'sample' }, /sample deviation instead of the population/],
    [{ weightOffset: 1 }, /\(k\+1\)\^alpha/],
    [{ historyLength: 1 }, /history length 1 instead of 3/],
    [{ name: 'gigpo' }, /another estimator: gigpo/],
    [{ mode: 'mean_norm' }, /mean_norm instead of mean_std_norm/],
    [{ lengthWeightAlpha: 0 }, /alpha 0/],
  ] as const) {
    const { text, share } = changed(overrides);
    assert.match(text ?? 'none', words);
    assert.equal(share, 1);
  }
});

test('no cause is named if no variant fits, and zeros are named as zeros', () => {
  const noise = report(
    clean,
    clean.reportedAdvantage!.map((a, row) => a + 0.37 * (row % 5)),
  );
  assert.equal(findLikelyCause(noise, [1, 2, 3, 4]), undefined);
  assert.match(
    findLikelyCause(report(clean, new Float64Array(clean.rows)), [3])?.text ?? '',
    /reported as 0/,
  );
  assert.equal(findLikelyCause(clean, []), undefined);
});

test('names no variant of a parameter that the estimator does not have, and none that is farther than the truth', () => {
  const nudged = (name: string): Batch => {
    const batch = goldenBatch(name);
    return report(
      batch,
      batch.reportedAdvantage!.map((a) => a * (1 + 1e-5)),
    );
  };
  for (const name of ['rloo-0', 'grpo-nostd-0', 'gigpo-mean_norm-w1.0-0']) {
    const batch = nudged(name);
    const rows = [...batch.reportedAdvantage!.keys()].filter((row) => batch.reportedAdvantage![row] !== 0);
    assert.equal(findLikelyCause(batch, rows), undefined, name);
  }
});

test('names rows for trajectories, and trajectories for rows', () => {
  const golden = goldenBatch('grpo-std-0');
  const first = new Map<number, number>();
  golden.trajectory.forEach((t, row) => {
    if (!first.has(t)) first.set(t, row);
  });
  const score = golden.tokenLevelRewardSum!.map(
    (_, row) => golden.tokenLevelRewardSum![first.get(golden.trajectory[row]!)!]!,
  );
  for (const [stated, done] of [
    ['rows', 'trajectories'],
    ['trajectories', 'rows'],
  ] as const) {
    const batch = restated({ ...golden, tokenLevelRewardSum: score }, { statistics: stated });
    const other = reportBy(batch, { statistics: done });
    const cause = findLikelyCause(other, [...other.reportedAdvantage!.keys()]);
    assert.equal(cause?.text, `statistics over ${done}, not ${stated}`);
  }
});

test('of a large batch, some whole groups are enough', () => {
  const other = reportBy(clean, { historyLength: 1 });
  const copies = Math.ceil((1.5 * MAX_CAUSE_ROWS) / clean.rows);
  const groups = clean.groupNames.length;
  const large = pick(
    other,
    Array.from({ length: copies * clean.rows }, (_, i) => i % clean.rows),
  );
  const copyOf = (row: number): number => Math.floor(row / clean.rows);
  const many = {
    ...large,
    group: large.group.map((id, row) => id + groups * copyOf(row)),
    groupNames: Array.from({ length: groups * copies }, (_, g) => `g${g}`),
    trajectory: large.trajectory.map((id, row) => id + clean.trajectoryNames.length * copyOf(row)),
    trajectoryNames: Array.from({ length: clean.trajectoryNames.length * copies }, (_, t) => `t${t}`),
  };
  const wrong = [...many.reportedAdvantage!.keys()].filter(
    (row) => Math.abs(many.reportedAdvantage![row]! - clean.reportedAdvantage![row % clean.rows]!) > 1e-4,
  );
  assert.match(findLikelyCause(many as Batch, wrong)?.text ?? 'none', /history length 1 instead of 3/);
  const one = { ...many, group: new Int32Array(many.rows), groupNames: ['g'] };
  assert.equal(findLikelyCause(one as Batch, wrong), undefined);
});
