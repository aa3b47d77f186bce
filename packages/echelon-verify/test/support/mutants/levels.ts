/** Bugs of the step-wise estimators: HGPO's levels and GiGPO's states. */

import type { Batch } from '../../../src/format/batch.ts';
import { clusterLevels } from '../../../src/kernel/clusters.ts';
import { allRows, levelwise, type Mutant, report, reportBy, rowsBy, sampleStatistics } from './tools.ts';

const LARGE = 'alfworld-scale';

/** The batch as the estimator would report it if it had seen other ids; the recorded ids stay. */
function seeing(clean: Batch, seen: Partial<Pick<Batch, 'group' | 'observation' | 'trajectory'>>): Batch {
  return report(clean, reportBy({ ...clean, ...seen }).reportedAdvantage!);
}

/** E[x^2] - E[x]^2 in float32. */
function onePass(values: readonly number[]): { mean: number; deviation: number } {
  const f = Math.fround;
  const sum = values.reduce((s, x) => f(s + x), 0);
  const squares = values.reduce((s, x) => f(s + f(x * x)), 0);
  const mean = f(sum / values.length);
  const variance = f(f(squares / values.length) - f(mean * mean));
  return { mean, deviation: Math.sqrt(Math.max(0, variance)) };
}

/** Mutants of HGPO and GiGPO. */
export const LEVEL_MUTANTS: readonly Mutant[] = [
  {
    id: 'baseline-by-turn-index',
    thread: 'verl #7244',
    what: 'steps are compared with the same turn of other trajectories instead of the same state',
    base: LARGE,
    plant: (clean) => seeing(clean, { observation: clean.step! }),
  },
  {
    id: 'running-baseline',
    thread: 'verl-agent #264',
    what: 'a re-built grouping subtracts the mean of all steps so far, and the mean advantage drifts',
    base: LARGE,
    plant: (clean) => {
      let sum = 0;
      return report(
        clean,
        clean.reportedStepReward!.map((x, row) => {
          sum += x;
          return (x - sum / (row + 1)) / 3;
        }),
      );
    },
  },
  {
    id: 'estimator-not-there',
    thread: 'verl-agent #254, #260',
    what: 'the trainer does not know the named estimator, and another one runs in its place',
    base: LARGE,
    plant: (clean) => reportBy(clean, { name: 'grpo' }),
  },
  {
    id: 'copies-of-the-first-prompt',
    thread: 'TRL #4543',
    what: 'every step’s prompt is a copy of the first: the estimator sees one state per trajectory',
    base: LARGE,
    plant: (clean) => {
      const first = new Map<number, number>();
      rowsBy(clean.trajectory).forEach((rows) => {
        for (const row of rows) first.set(row, clean.observation![rows[0]!]!);
      });
      return seeing(clean, { observation: Int32Array.from(allRows(clean), (row) => first.get(row)!) });
    },
  },
  {
    id: 'last-step-broadcast',
    thread: 'SkyRL #1492, #1507',
    what: 'the last step’s masked tensor is broadcast: all other steps train at 0',
    base: LARGE,
    plant: (clean) => {
      const last = new Set(rowsBy(clean.trajectory).map((rows) => rows.at(-1)!));
      return report(
        clean,
        clean.reportedAdvantage!.map((a, row) => (last.has(row) ? a : 0)),
      );
    },
  },
  {
    id: 'assigned-by-position',
    thread: 'rLLM #458',
    what: 'advantages are written back by position past a padding row: shifted by one',
    base: LARGE,
    plant: (clean) =>
      report(
        clean,
        allRows(clean).map((row) => clean.reportedAdvantage![Math.max(0, row - 1)]!),
      ),
  },
  {
    id: 'episodes-not-told-apart',
    thread: 'verl-agent #43, #217',
    what: 'the history window runs over the end of a trajectory into the one before it in the batch',
    base: LARGE,
    plant: (clean) => seeing(clean, { trajectory: clean.group }),
  },
  {
    id: 'groups-ignored',
    thread: 'open-r1 #66/#67, verl #568, #1718',
    what: 'the grouping key lacks the group, so that equal states of different tasks are compared',
    base: 'walk-K2-mean_std_norm-base0',
    plant: (clean) => seeing(withSharedStates(clean), { group: new Int32Array(clean.rows) }),
  },
  {
    id: 'one-pass-variance',
    thread: 'NeMo-RL #4158',
    what: 'the variance is E[x^2] - E[x]^2 in float32, which large returns turn into noise',
    base: 'one-step-episodes',
    plant: (clean) => levelwise(withOffset(clean, 3000.3), onePass),
  },
  {
    id: 'sample-deviation',
    thread: 'AReaL, areal/api/cli_args.py',
    what: 'the kind of deviation is flipped between versions: n-1 where the stated estimator has n',
    base: LARGE,
    plant: (clean) => levelwise(clean, sampleStatistics),
  },
  {
    id: 'gigpo-population-deviation',
    thread: 'AReaL, areal/api/cli_args.py',
    what: 'the same flip in GiGPO: n where the stated estimator has n-1',
    base: 'gigpo-mean_std_norm-w1.0-0',
    plant: (clean) => reportBy(clean, { deviation: 'population' }),
  },
  {
    id: 'epsilon-1e-4',
    thread: 'TRL #5773 (epsilon 1e-4 in its GRPO)',
    what: 'epsilon is 1e-4 where 1e-6 is stated: a change of about 1e-4 in every value',
    base: LARGE,
    plant: (clean) => reportBy(clean, { epsilon: 1e-4 }),
  },
  {
    id: 'weights-of-the-paper',
    thread: 'CazeroZ/hgpo',
    what: 'levels weigh (k+1)^alpha, as in the paper and an earlier copy of the code',
    base: LARGE,
    plant: (clean) => reportBy(clean, { weightOffset: 1 }),
  },
  {
    id: 'zero-levels-kept',
    thread: 'ART, src/art/local/tokenize.py (rule for zero rows)',
    what: 'levels whose advantage is 0 keep their weight and pull the others towards 0',
    base: LARGE,
    plant: (clean) => reportBy(clean, { zero: 'keep' }),
  },
  {
    id: 'history-one-short',
    thread: 'verl-agent #43, #217',
    what: 'the history window is one observation short',
    base: LARGE,
    plant: (clean) => reportBy(clean, { historyLength: 1 }),
  },
  {
    id: 'step-term-lost',
    thread: 'SkyRL #1492',
    what: 'GiGPO’s step term does not reach the sum, only the episode’s does',
    base: 'gigpo-mean_norm-w1.0-0',
    plant: (clean) => reportBy(clean, { stepAdvantageWeight: 0 }),
  },
  {
    id: 'two-steps-swapped',
    thread: 'verl #2185',
    what: 'two steps have each other’s advantage',
    base: LARGE,
    plant: (clean) => {
      const [a, b] = twoApart(clean);
      const values = clean.reportedAdvantage!.slice();
      values[a] = clean.reportedAdvantage![b]!;
      values[b] = clean.reportedAdvantage![a]!;
      return report(clean, values);
    },
  },
];

/** Two rows of one state cluster with different advantages. */
function twoApart(batch: Batch): [number, number] {
  const steps = {
    rows: batch.rows,
    group: batch.group,
    trajectory: batch.trajectory,
    observation: batch.observation!,
  };
  const { cluster } = clusterLevels(steps, 0)[0]!;
  for (const rows of rowsBy(cluster)) {
    const other = rows.find(
      (row) => Math.abs(batch.reportedAdvantage![row]! - batch.reportedAdvantage![rows[0]!]!) > 0.1,
    );
    if (other !== undefined) return [rows[0]!, other];
  }
  throw new Error('no two rows of a cluster differ');
}

/** Observations named alike in all groups, as texts of the same environment are; reported anew, right. */
function withSharedStates(clean: Batch): Batch {
  return reportBy({ ...clean, observation: clean.observation!.map((o) => o % 7) });
}

/** Rewards far from 0, as some environments give them; reported anew, right. */
function withOffset(clean: Batch, offset: number): Batch {
  const moved = (x: number): number => Math.fround(x + offset);
  return reportBy({
    ...clean,
    reward: clean.reward!.map(moved),
    tokenLevelRewardSum: clean.tokenLevelRewardSum!.map(moved),
    reportedStepReward: clean.reportedStepReward!.map(moved),
  });
}
