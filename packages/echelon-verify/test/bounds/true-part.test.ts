import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRowModel } from '../../src/bounds/row-model.ts';
import { type TruePart, truePart } from '../../src/bounds/true-part.ts';
import { type HandRow, handBatch } from '../support/hand-batch.ts';
import { randomBatch, randomFrom } from '../support/random-batch.ts';
import type { Stated } from '../support/stated.ts';

function partsOf(rows: HandRow[], row: number, estimator: Stated = {}): TruePart[] {
  const outcome = createRowModel(handBatch(rows, { estimator }));
  assert.ok('model' in outcome);
  return outcome.model.levels.map((level) => truePart(outcome.model, level, row));
}

const at = (trajectory: string, step: number, state: string, value: number): HandRow => ({
  trajectory,
  step,
  state,
  return: value,
  score: value,
});

test('values and reasons', () => {
  const rows = [
    at('a', 0, 'S', 0),
    at('b', 0, 'S', 5),
    at('c', 0, 'S', 10),
    at('c', 1, 'T', 1),
    at('d', 0, 'U', 1),
  ];
  const [coarse, fine] = partsOf(rows, 0);
  assert.deepEqual(coarse, { value: -5 });
  assert.deepEqual(fine, { value: 0, reason: 'no-such-step' });
  assert.equal(partsOf(rows, 1)[0]!.reason, 'at-mean');
  assert.equal(partsOf(rows, 4)[0]!.reason, 'singleton');
  assert.equal(partsOf([at('a', 0, 'S', 3), at('b', 0, 'S', 3)], 0)[0]!.reason, 'equal');
  assert.equal(partsOf(rows.slice(0, 1), 0, { name: 'rloo' })[0]!.value, 0);
  assert.equal(partsOf([at('a', 0, 'S', 4)], 0, { name: 'grpo' })[0]!.value, 4 / (1 + 1e-6));
});

test('the parts make the truth', () => {
  for (let seed = 0; seed < 50; seed++) {
    const outcome = createRowModel(randomBatch(randomFrom(seed), { name: 'hgpo' }));
    assert.ok('model' in outcome);
    const { model } = outcome;
    for (let row = 0; row < model.truth.length; row++) {
      let sum = 0;
      let weight = 0;
      for (const level of model.levels) {
        const { value } = truePart(model, level, row);
        if (value === 0) continue;
        sum += level.weight * value;
        weight += level.weight;
      }
      const whole = weight === 0 ? 0 : sum / (weight + model.weightEpsilon);
      assert.ok(
        Math.abs(whole - model.truth[row]!) <= 1e-6 * Math.max(1, Math.abs(whole)),
        `seed ${seed}, row ${row}`,
      );
    }
  }
});
