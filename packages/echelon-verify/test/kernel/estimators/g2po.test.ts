import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { explainRow } from '../../../src/explain/explain.ts';
import { formatExplanation } from '../../../src/explain/explain-text.ts';
import { decodeBatch, encodeBatch } from '../../../src/format/batch-wire.ts';
import { estimate } from '../../../src/identify/estimate.ts';
import { identify } from '../../../src/identify/identify.ts';
import { nodeColumns } from '../../../src/kernel/estimators/node-values.ts';
import { verifyBatch } from '../../../src/verify/verify-batch.ts';
import { allGoldenBatches, goldenBatch } from '../../support/golden-batches.ts';

/** Four trajectories of one group, computed in numpy float64 apart from this code. */
const WORKED = {
  'g2po-worked': [
    4.690142, 0.9591403, 1.5936158, 3.1878705, 0.9591403, -0.3180228, -2.3646804, -3.1196417, -1.3458835,
    -3.1196417, -1.1220386,
  ],
  'g2po-worked-mean': [
    17.219233, 5.2120455, 7.244233, 12.982983, 5.2120455, -2.755767, -10.150767, -11.780767, -6.114517,
    -11.780767, -5.2879545,
  ],
};

const RULE = { discount: 0.95, successReward: 10, invalidPenalty: 0.1, valueFormat: 'float64' } as const;

describe('g2po', () => {
  for (const [name, values] of Object.entries(WORKED)) {
    test(`${name} gives the worked values`, () => {
      estimate(goldenBatch(name)).advantage.forEach((a, row) => {
        assert.ok(Math.abs(a - values[row]!) < 1e-7 * Math.max(1, Math.abs(a)), `row ${row}: ${a}`);
      });
    });
  }

  test('a copied row counts once in the values of states, wherever it stands', () => {
    const steps = { rows: 2, group: Int32Array.of(0, 0), trajectory: Int32Array.of(0, 0) };
    const plain = nodeColumns(
      { ...steps, observation: Int32Array.of(0, 1) },
      { reward: Float64Array.of(0, 10) },
      RULE,
    );
    const copied = nodeColumns(
      {
        rows: 3,
        group: Int32Array.of(0, 0, 0),
        trajectory: Int32Array.of(0, 0, 0),
        observation: Int32Array.of(1, 0, 0),
      },
      { reward: Float64Array.of(10, 0, 0), step: Int32Array.of(1, 0, 0) },
      RULE,
    );
    assert.deepEqual([...plain.successor.value], [9.5, 10]);
    assert.deepEqual([...copied.successor.value], [10, 9.5, 9.5]);
    assert.deepEqual([...copied.gain.value], [0.5, 9.5 - 9.025, 9.5 - 9.025]);
  });

  test('an explanation has both terms of the step, with the values that they are over', () => {
    const explained = explainRow(goldenBatch('g2po-worked'), 0);
    assert.deepEqual(
      explained.levels.map(({ level, valueName, own }) => [level, valueName, own]),
      [
        [-1, 'score', 10],
        [0, 'successor value', 9.5],
        [-2, 'gain', 6.566874980926514],
      ],
    );
    assert.match(formatExplanation(explained), /successor value\n(.*\n)*.* 9\.5 {2}</);
  });

  test('identify names it and the format of its products', () => {
    for (const form of ['float64', 'float32']) {
      const { fits } = identify([goldenBatch(`g2po-mean_std_norm-${form}`)]);
      const names = fits.flatMap(({ forms }) => forms.map(({ id }) => id));
      assert.ok(names.includes(form === 'float64' ? 'g2po/g2po-std' : 'g2po/g2po-std-float32'), names.join());
      assert.ok(names.every((name) => name.startsWith('g2po/')));
    }
  });

  test('a batch without rewards or without the validity of actions is unverifiable', () => {
    for (const column of ['reward', 'actionValid'] as const) {
      const { [column]: _omitted, ...without } = goldenBatch('g2po-worked');
      const report = verifyBatch(without);
      assert.equal(report.unverifiable, report.rows);
    }
  });

  test('batches come back from the wire', () => {
    for (const batch of allGoldenBatches().filter(({ name }) => name.startsWith('g2po'))) {
      assert.deepEqual(verifyBatch(decodeBatch(encodeBatch(batch))), verifyBatch(batch));
    }
  });
});
