import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { explainRow } from '../../../src/explain/explain.ts';
import { formatExplanation } from '../../../src/explain/explain-text.ts';
import { decodeBatch, encodeBatch } from '../../../src/format/batch-wire.ts';
import { estimate } from '../../../src/identify/estimate.ts';
import { goalDistances } from '../../../src/kernel/graph.ts';
import { verifyBatch } from '../../../src/verify/verify-batch.ts';
import { goldenBatch } from '../../support/golden-batches.ts';

/** Four trajectories of one group, computed in numpy float64 apart from this code. */
const WORKED = {
  'graphgpo-worked': [
    3.0717329, 1.0444498, 0.7814968, 1.7515555, 1.0444498, -1.1301418, -1.5742945, -1.3591654, -1.4037289,
    -1.3591654, -0.8671888,
  ],
  'graphgpo-worked-mean': [
    6.260303, 5.4636364, 5.360303, 5.9136364, 5.4636364, -4.639697, -4.9863636, -4.729697, -4.839697,
    -4.729697, -4.5363636,
  ],
  'graphgpo-worked-progress': [
    3.0731676, 1.0444498, 0.7373305, 1.7515565, 1.0444498, -1.1743081, -1.5742955, -1.4078918, -1.2193782,
    -1.4078918, -0.8671888,
  ],
  'graphgpo-worked-gamma': [
    3.044754, 1.0444498, 0.8476236, 1.751556, 1.0444498, -1.0640151, -1.574295, -1.5034412, -1.2204521,
    -1.5034412, -0.8671888,
  ],
};

const distancesOf = (name: string) => {
  const { group, observation, nextObservation } = goldenBatch(name);
  return goalDistances({ group, observation: observation!, next: nextObservation! });
};

describe('graphgpo', () => {
  for (const [name, values] of Object.entries(WORKED)) {
    test(`${name} gives the worked values from the graph alone`, () => {
      const { reportedStepReward: _reported, ...rest } = goldenBatch(name);
      estimate(rest).advantage.forEach((a, row) => {
        assert.ok(Math.abs(a - values[row]!) < 2e-7 * Math.max(1, Math.abs(a)), `row ${row}: ${a}`);
      });
    });
  }

  test('distances run over the edges of the whole group, and what leads nowhere is one step farther', () => {
    const { from, to, reaches } = distancesOf('graphgpo-worked');
    assert.deepEqual([...from], [2, 1, 2, 2, 1, 2, 2, 2, 2, 2, 3]);
    assert.deepEqual([...to], [1, 0, 2, 1, 0, 2, 2, 3, 2, 3, 3]);
    assert.deepEqual([...reaches], [1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0]);
    assert.ok(distancesOf('graphgpo-no-success').to.every((steps) => steps === 1));
  });

  test('an explanation shows the path to the goal, over steps of other trajectories', () => {
    const explained = explainRow(goldenBatch('graphgpo-worked'), 5);
    const { graph, ...goal } = explained.goal!;
    assert.deepEqual(goal, { distance: 2, reached: true, path: ['A', 'C', 'B', 'the goal'] });
    assert.deepEqual(
      graph.nodes.map(({ label, distance, reached }) => [label, distance, reached]),
      [
        ['the goal', 0, true],
        ['B', 1, true],
        ['A', 2, true],
        ['C', 2, true],
        ['D', 3, false],
      ],
    );
    assert.deepEqual(graph.edges[graph.own], { from: 2, to: 3, steps: 2 });
    assert.equal(
      graph.edges.reduce((sum, { steps }) => sum + steps, 0),
      11,
    );
    assert.match(
      formatExplanation(explained),
      /Path to the goal: 2 steps from the next state; return 0\.1\./,
    );
    assert.equal(explainRow(goldenBatch('graphgpo-worked'), 7).goal?.reached, false);
  });

  test('groups without success are named, and a batch without next observations is unverifiable', () => {
    const codes = (name: string) => verifyBatch(goldenBatch(name)).findings.map(({ code }) => code);
    assert.ok(codes('graphgpo-no-success').includes('goal-unreached'));
    assert.ok(!codes('graphgpo-worked').includes('goal-unreached'));
    const { nextObservation: _next, ...without } = goldenBatch('graphgpo-worked');
    const report = verifyBatch(without);
    assert.equal(report.unverifiable, report.rows);
  });

  test('reported returns by another rule are refused, with the rule that gives them', () => {
    const clean = goldenBatch('graphgpo-worked');
    const other = {
      ...clean,
      reportedStepReward: goldenBatch('graphgpo-worked-progress').reportedStepReward!,
    };
    const found = verifyBatch(other).findings.find(({ code }) => code === 'returns-mismatch');
    assert.match(found?.message ?? '', /distances to the goal.*Likely cause: distance progress/);
  });

  test('next observations come back from the wire', () => {
    const batch = goldenBatch('graphgpo-large');
    const back = decodeBatch(encodeBatch(batch));
    assert.deepEqual(back.nextObservation, batch.nextObservation);
    assert.deepEqual(verifyBatch(back), verifyBatch(batch));
  });
});
