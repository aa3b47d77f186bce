import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Batch } from '../../src/format/batch.ts';
import { knownForm } from '../../src/identify/fingerprints.ts';
import {
  estimatorOfForm,
  identify,
  identifyBlocks,
  inBlocks,
  printedTolerance,
  summaryOf,
} from '../../src/identify/identify.ts';
import { probeBatch } from '../../src/identify/probes.ts';
import { goldenBatch } from '../support/golden-batches.ts';
import { goldenEstimates } from '../support/golden-estimators.ts';

const SIZE_ONLY = /-(?:singles|missing)$/;

/** Rewards of one group with the advantages that were reported for them. */
function batchOf(score: readonly number[], advantage: readonly number[], group = score.map(() => 0)): Batch {
  const estimator = estimatorOfForm(knownForm('trl/grpo'));
  const probe = { name: 'pasted', group, score, tokens: score.map(() => 1) };
  return { ...probeBatch(probe, estimator), reportedAdvantage: Float64Array.from(advantage, Math.fround) };
}

describe('identification', () => {
  test('finds the right form among the fits of every golden batch, and first if the rewards can tell', () => {
    let first = 0;
    for (const { form, batch } of goldenEstimates()) {
      // float32 residues decide these: a deviation of the others that is truly 0 is not, and the batch takes it in.
      if (form === 'nemo-rl/gdpo' && !batch.name.endsWith('spread')) continue;
      const { fits } = identify([batch]);
      const at = fits.findIndex(({ forms }) => forms.some(({ id }) => id === form));
      assert.notEqual(at, -1, `${batch.name}: ${fits.map(({ fingerprint }) => fingerprint)}`);
      if (at === 0) first++;
      // What is nearer is nearer by no more than float32 blurs, or the rewards are all but equal.
      else if (/binary|decimal|spread/.test(batch.name) && !SIZE_ONLY.test(batch.name))
        assert.ok(fits[at]!.distance <= fits[0]!.distance + 1e-7, batch.name);
    }
    assert.ok(first >= 300, `${first} of ${goldenEstimates().length}`);
  });

  test('names verl’s form for batches of verl-agent’s GRPO and RLOO, and its own for GiGPO', () => {
    const idsOf = (name: string) =>
      identify([goldenBatch(name)]).fits.flatMap(({ forms }) => forms.map(({ id }) => id));
    assert.ok(idsOf('rloo-1').includes('verl/rloo'));
    assert.ok(idsOf('gigpo-mean_std_norm-w1.0-1').includes('verl-agent/gigpo-std'));
  });

  test('says that a fit is inferred, and how many variants fit', () => {
    const found = identify([
      batchOf([1, 0, 0, 0, 3, 1, 1, 3], [0.75, -0.25, -0.25, -0.25, 1, -1, -1, 1], [0, 0, 0, 0, 1, 1, 1, 1]),
    ]);
    assert.match(
      summaryOf(found),
      /^consistent with grpo\(std=none,singleton=zero,over=rows\), inferred; \d variants fit$/,
    );
    const raw = found.differences.find(
      ({ fingerprint }) => fingerprint === 'grpo(std=none,singleton=raw,over=rows)',
    );
    assert.deepEqual([raw!.probe, raw!.first, raw!.value], ['a group of one row with reward 0.7', 0, 0.7]);
    const other = found.others.find(({ forms }) => forms[0]!.id === 'verl/grpo');
    assert.deepEqual([other!.explained, other!.rows, other!.farthest!.reported], [0, 8, 0.75]);
  });

  test('says that no form explains advantages that were swapped, and names the nearest', () => {
    const found = identify([
      batchOf([1, 0, 0, 0, 0.5, 2], [-0.25, 0.75, -0.25, -0.25, -0.75, 0.75], [0, 0, 0, 0, 1, 1]),
    ]);
    assert.equal(found.fits.length, 0);
    assert.match(
      summaryOf(found),
      /^no known form explains all rows; the nearest is grpo\(std=none.*4 of 6 rows$/,
    );
  });

  test('says which column is missing for the forms that were not tried', () => {
    const { responseLength: _unused, ...batch } = batchOf([1, 0], [0.5, -0.5]);
    const opo = identify([batch]).untried.find(({ forms }) => forms[0]!.id === 'verl/opo');
    assert.equal(opo!.missing, 'responseLength');
  });

  test('finds the size of the blocks of a table without groups', () => {
    const scores = [1, 0, 0, 0, 0, 2, 0, 0, 5, 5, 1, 1];
    const advantages = [0.75, -0.25, -0.25, -0.25, -0.5, 1.5, -0.5, -0.5, 2, 2, -2, -2];
    const found = identifyBlocks(batchOf(scores, advantages));
    assert.equal(found!.blocks, 4);
    assert.match(summaryOf(found!.found, found!.blocks), /blocks of 4, inferred/);
    assert.equal(inBlocks(batchOf(scores, advantages), 4).groupNames.length, 3);
    assert.equal(identifyBlocks(batchOf([1], [0])), undefined);
  });

  test('takes printed values for what they are: rounded to their decimals', () => {
    assert.equal(printedTolerance([0.75, -0.25, 1.5]), 0);
    assert.equal(printedTolerance([1.4997000694274902, -0.25]), 0);
    assert.ok(Math.abs(printedTolerance([1.4997, -0.4999]) - 5.018e-5) < 1e-7);
    const near = batchOf([1, 0, 0], [1.1545, -0.5773, -0.5773]);
    assert.equal(identify([near]).fits.length, 0);
    assert.ok(identify([near], 5e-5).fits.some(({ forms }) => forms[0]!.id === 'trl/grpo'));
  });
});
