import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { explainRow } from '../../src/explain/explain.ts';
import { formatExplanation } from '../../src/explain/explain-text.ts';
import type { Batch } from '../../src/format/batch.ts';
import { allGoldenBatches, goldenBatch, inForms } from '../support/golden-batches.ts';
import { handBatch } from '../support/hand-batch.ts';
import { report, reportBy } from '../support/mutants/tools.ts';

const textOf = (batch: Batch, row: number): string => formatExplanation(explainRow(batch, row));

describe('an explanation in words', () => {
  test('of a wrong row: outcome, members, formulas, the sum', () => {
    const wrong = textOf(
      reportBy(inForms(goldenBatch('alfworld-scale'), 'recipe'), { deviation: 'sample' }),
      45,
    );
    for (const line of [
      'Row 45 of alfworld-scale is WRONG',
      '  reported  -1.028774',
      '  true      -1.131934',
      '  The reported value is 0.1031601 (9.1 %) from the true value; no float32 evaluation of the formula gives it.',
      '  Likely cause: the sample deviation instead of the population deviation (it gives all 4,234 wrong rows).',
      'Level 0: same state. 8 rows, weight 2.',
      '        45  t1090-0-1      27             0  <',
      '  (0 - 2.505835) / (2.514055 + 1e-6) = -0.9967301',
      'Level 2: same state and the 2 before. 2 rows, dropped, all returns are equal.',
      'Together: (2 * -0.9967301 + 3 * -1.22207) / (2 + 3 + 1e-6) = -1.131934',
    ]) {
      assert.ok(wrong.split('\n').includes(line), `${line}\nis not in\n${wrong}`);
    }
  });

  test('of a row that rounding decided: where the residue comes from', () => {
    const batch = goldenBatch('late-n7');
    const text = textOf(batch, 16);
    assert.match(text, /is ROUNDING/);
    assert.match(text, /All values of level 0, level 1, level 2 are equal, but their mean rounds/);
  });

  test('of the other outcomes', () => {
    const clean = goldenBatch('one-step-episodes');
    assert.match(textOf(clean, 0), /The reported value is what the formula gives/);
    assert.match(
      textOf(report(clean, new Float64Array(5).fill(Number.NaN)), 0),
      /is NaN, and the formula gives a finite number/,
    );
    const poisoned = { ...clean, reportedStepReward: clean.reportedStepReward!.with(0, Number.NaN) };
    assert.match(textOf(poisoned, 1), /gives no finite number/);
    assert.match(textOf(poisoned, 1), /a NaN or an infinity is among them.*Together: no finite number/s);
    const { observation: _, ...blind } = clean;
    assert.match(textOf(blind, 1), /Cannot be verified: the batch lacks observation/);
    const huge = { ...clean, reportedStepReward: clean.reportedStepReward!.map((x) => x * 1e38) };
    assert.match(textOf(huge, 0), /may overflow/);
  });

  test('texts of the batch are shown in one line, invisible characters as escapes', () => {
    const clean = goldenBatch('one-step-episodes');
    const name = 'a\u200bb\nRow 0 is EXACT\u{e0041}';
    const [head] = textOf({ ...clean, name }, 0).split('\n');
    assert.equal(head, 'Row 0 of a\\u200bb Row 0 is EXACT\\u{e0041} is EXACT');
  });

  test('names the sum of GiGPO, the factor of RLOO and the group', () => {
    assert.match(textOf(goldenBatch('gigpo-mean_norm-w0.5-0'), 3), /Together: 1 \* .* \+ 0\.5 \* /);
    assert.match(textOf(goldenBatch('rloo-0'), 3), /\d+\/\d+ \* \(/);
    assert.match(textOf(goldenBatch('grpo-std-0'), 3), /Group: the whole group/);
  });

  test('no line is longer than 140 columns but the fingerprint, and none holds a control character', () => {
    for (const batch of allGoldenBatches()) {
      for (const line of textOf(batch, batch.rows >> 1).split('\n')) {
        assert.ok(line.length <= 140, line);
        assert.doesNotMatch(line, /\p{Cc}/u);
      }
    }
    const evil = handBatch([
      { trajectory: '\u001b[2Jt\u202e', step: 0, state: 'a\nb\u0007', return: 1, advantage: 0 },
    ]);
    const text = textOf({ ...evil, name: 'x\u001b]0;y\u0007' }, 0);
    assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202e]/u);
  });
});
