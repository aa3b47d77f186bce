/** Planted bugs of G²PO: in the values of states, in where a step leads, and in the two terms of a step. */

import type { Batch } from '../../../src/format/batch.ts';
import { evaluate } from '../../../src/kernel/estimators/evaluate.ts';
import { G2PO, type G2poParameters } from '../../../src/kernel/estimators/g2po.ts';
import { grpo } from '../../../src/kernel/estimators/grpo.ts';
import { nodeColumns } from '../../../src/kernel/estimators/node-values.ts';
import { type Mutant, pick, report, reportBy } from './tools.ts';

const BASE = 'g2po-mean_std_norm-float64';

/** The trainer has computed on other columns; the batch says what they should have been. */
function reportOn(batch: Batch, changes: Partial<Batch>): Batch {
  return { ...batch, reportedAdvantage: reportBy({ ...batch, ...changes }).reportedAdvantage! };
}

function withParameters(batch: Batch, changes: Partial<G2poParameters>): Batch {
  const params = { ...(batch.estimator.params as G2poParameters), ...changes };
  const { group, trajectory, observation, rows } = batch;
  const steps = { rows, group, trajectory, observation: observation! };
  const score = () => batch.tokenLevelRewardSum!;
  const environment = () => ({ ...batch, reward: batch.reward! });
  const stepReturn = (): never => {
    throw new TypeError('G²PO has no step returns');
  };
  return report(batch, evaluate(G2PO, { steps, score, environment, stepReturn }, params));
}

function bug(id: string, what: string, plant: (clean: Batch) => Batch): Mutant {
  return { id: `values-${id}`, thread: 'Nala-YN/G2PO b8ffaf5, g2po/core_g2po.py', what, base: BASE, plant };
}

/** Rows in the opposite order of time; the columns of the batch keep theirs. */
function backwards(batch: Batch): Batch {
  const order = Array.from({ length: batch.rows }, (_, row) => batch.rows - 1 - row);
  const turned = reportBy({
    ...pick({ ...batch, reportedStepReward: batch.reward! }, order),
    step: undefined!,
  });
  return { ...batch, reportedAdvantage: Float64Array.from(order, (row) => turned.reportedAdvantage![row]!) };
}

export const VALUE_MUTANTS: readonly Mutant[] = [
  bug('gamma', 'values have the discount 1', (b) => withParameters(b, { discount: 1 })),
  bug('exponent', 'the last step has the exponent 0 instead of 1', (b) => {
    const reward = b.reward!.map((x) => x / 0.95);
    return {
      ...b,
      reportedAdvantage: withParameters({ ...b, reward }, { successReward: Math.fround(10 / 0.95) })
        .reportedAdvantage!,
    };
  }),
  bug('success', 'a success counts 1 instead of 10', (b) => withParameters(b, { successReward: 1 })),
  bug('no-penalty', 'the penalty does not reach the successor values', (b) =>
    withParameters(b, { invalidPenalty: 0 }),
  ),
  bug('penalty', 'the penalty is 1 instead of 0.1', (b) => withParameters(b, { invalidPenalty: 1 })),
  bug('validity', 'the invalid actions are those of the row before', (b) =>
    reportOn(b, { actionValid: b.actionValid!.map((_, row) => b.actionValid!.at(row - 1)!) }),
  ),
  bug('one-graph', 'the states of all groups are one graph', (b) =>
    reportOn(b, { group: b.group.map(() => 0) }),
  ),
  bug('value-per-trajectory', 'a state has a value of its own in each trajectory', (b) =>
    reportOn(b, {
      observation: b.observation!.map((id, row) => id * b.trajectoryNames.length + b.trajectory[row]!),
    }),
  ),
  bug('merged', 'two states are one node', (b) =>
    reportOn(b, { observation: b.observation!.map((id) => (id === 1 ? 0 : id)) }),
  ),
  bug('backwards', 'each step leads to the state before it', backwards),
  bug('failures-succeed', 'every trajectory counts as a success', (b) => {
    const isLast = (row: number) => b.trajectory[row + 1] !== b.trajectory[row];
    return reportOn(b, { reward: b.reward!.map((_, row) => (isLast(row) ? 10 : 0)) });
  }),
  bug('no-c2', 'the term of the gain is missing', (b) => {
    const { group, trajectory, observation, rows, estimator } = b;
    const p = estimator.params as G2poParameters;
    const steps = { rows, group, trajectory, observation: observation! };
    const { gain } = nodeColumns(steps, { ...b, reward: b.reward! }, p);
    const c2 = grpo(group, gain.value);
    return report(
      b,
      b.reportedAdvantage!.map((a, row) => a - c2[row]!),
    );
  }),
  bug('no-step', 'the terms of the step are missing', (b) => withParameters(b, { stepAdvantageWeight: 0 })),
  bug('half-weight', 'the terms of the step count half', (b) =>
    withParameters(b, { stepAdvantageWeight: 0.5 }),
  ),
  bug('population', 'the population deviation', (b) => withParameters(b, { deviation: 'population' })),
  bug('mode', 'mean_norm instead of mean_std_norm', (b) => withParameters(b, { mode: 'mean_norm' })),
  bug('epsilon', 'epsilon is 1e-4', (b) => withParameters(b, { epsilon: 1e-4 })),
  bug('trajectories', 'scores count once a trajectory', (b) =>
    withParameters(b, { statistics: 'trajectories' }),
  ),
  bug('shifted', 'each row has the advantage of the row before', (b) =>
    report(
      b,
      b.reportedAdvantage!.map((_, row) => b.reportedAdvantage!.at(row - 1)!),
    ),
  ),
];
