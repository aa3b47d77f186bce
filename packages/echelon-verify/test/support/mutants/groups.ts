/** Bugs of the group estimators: the wrong baseline, scale or rows in the statistics. */

import type { Batch } from '../../../src/format/batch.ts';
import {
  allRows,
  groupwise,
  type Mutant,
  pick,
  report,
  reportBy,
  rowsBy,
  sampleStatistics,
  withScores,
} from './tools.ts';

const GRPO = 'grpo-std-0';
const PLAIN = 'grpo-nostd-0';

/** The rows as episodes of one step: each row's reward is what its score needs. */
function asOneStep(batch: Batch, rows: ReadonlySet<number>): Batch {
  const penalty = batch.estimator.invalidActionPenalty;
  const own = (row: number): number =>
    batch.tokenLevelRewardSum![row]! + (batch.actionValid![row] === 1 ? 0 : penalty);
  return {
    ...batch,
    step: batch.step!.map((step, row) => (rows.has(row) ? 0 : step)),
    reward: batch.reward!.map((reward, row) => (rows.has(row) ? own(row) : reward)),
    reportedStepReward: batch.reportedStepReward!.map((g, row) =>
      rows.has(row) ? batch.tokenLevelRewardSum![row]! : g,
    ),
  };
}

/** One row of each group. */
function onePerGroup(batch: Batch): Batch {
  const rows = rowsBy(batch.group).map((group) => group[0]!);
  return reportBy(pick(asOneStep(batch, new Set(rows)), rows));
}

/** The first group is left with one row. */
function withSingleton(batch: Batch): Batch {
  const first = batch.group.indexOf(0);
  const rows = allRows(batch).filter((row) => batch.group[row] !== 0 || row === first);
  return reportBy(pick(asOneStep(batch, new Set([first])), rows));
}

/** Mutants of GRPO, RLOO and GiGPO. */
export const GROUP_MUTANTS: readonly Mutant[] = [
  {
    id: 'rejected-rows-in-statistics',
    thread: 'verl #6452 (#6375)',
    what: 'rejected trajectories are masked out, but still shift mean and deviation of their siblings',
    base: GRPO,
    plant: (clean) =>
      pick(
        clean,
        allRows(clean).filter((row) => clean.trajectory[row]! % 4 !== 0),
      ),
  },
  {
    id: 'rewards-on-rejected-tokens',
    thread: 'verl #6362',
    what: 'rewards on rejected tokens are counted in the scores that the baseline is made of',
    base: GRPO,
    plant: (clean) => {
      const polluted = clean.tokenLevelRewardSum!.map((s, row) => (row % 9 === 0 ? s + 1 : s));
      return { ...withScores(clean, polluted), tokenLevelRewardSum: clean.tokenLevelRewardSum! };
    },
  },
  {
    id: 'leave-one-out-singleton',
    thread: 'verl #7581, #7794 (#7793)',
    what: 'the vectorised RLOO gives a group of one 0, the plain one its score',
    base: 'rloo-0',
    plant: (clean) => {
      const batch = withSingleton(clean);
      return report(
        batch,
        batch.reportedAdvantage!.map((a, row) => (batch.group[row] === 0 ? 0 : a)),
      );
    },
  },
  {
    id: 'leave-one-out-factor',
    thread: 'verl #882',
    what: 'RLOO without the factor n/(n-1)',
    base: 'rloo-0',
    plant: (clean) => reportBy(clean, { name: 'grpo', normalizeByStd: false }),
  },
  {
    id: 'baseline-over-wrong-mask',
    thread: 'verl #1527',
    what: 'the baseline sums the valid rows but divides by all of them',
    base: PLAIN,
    plant: (clean) =>
      groupwise(clean, {
        statistics: (values, rows) => {
          const sum = values.reduce((s, x, i) => (clean.actionValid![rows[i]!] === 1 ? s + x : s), 0);
          return { ...sampleStatistics(values), mean: sum / values.length };
        },
      }),
  },
  {
    id: 'long-answers-weigh-more',
    thread: 'verl #6497',
    what: 'mean and deviation run over tokens, so long answers weigh more',
    base: GRPO,
    plant: (clean) =>
      groupwise(clean, {
        statistics: (values, rows) =>
          sampleStatistics(
            values.flatMap((x, i) => new Array<number>(clean.responseLength![rows[i]!]!).fill(x)),
          ),
      }),
  },
  {
    id: 'deviation-of-the-batch',
    thread: 'TRL #3991',
    what: 'the scale is the deviation of the whole batch, not of the group',
    base: GRPO,
    plant: (clean) => {
      const { deviation } = sampleStatistics([...clean.tokenLevelRewardSum!]);
      return groupwise(clean, { statistics: (values) => ({ ...sampleStatistics(values), deviation }) });
    },
  },
  {
    id: 'only-group-zero',
    thread: 'TRL #6821 (#6804)',
    what: 'every group gets the mean and deviation of group 0',
    base: GRPO,
    plant: (clean) => {
      const zero = sampleStatistics(rowsBy(clean.group)[0]!.map((row) => clean.tokenLevelRewardSum![row]!));
      return groupwise(clean, { statistics: () => zero });
    },
  },
  {
    id: 'zero-action-siblings',
    thread: 'OpenRLHF #1239',
    what: 'siblings without any action stay in the baseline with reward 0',
    base: PLAIN,
    plant: (clean) => groupwise(clean, { statistics: (values) => sampleStatistics([...values, 0, 0]) }),
  },
  {
    id: 'first-rollout-statistics',
    thread: 'PipelineRL #54',
    what: 'mean and deviation are those of the first rollout of the group',
    base: PLAIN,
    plant: (clean) =>
      groupwise(clean, {
        statistics: (values, rows) =>
          sampleStatistics(
            values.filter((_, i) => clean.trajectory[rows[i]!] === clean.trajectory[rows[0]!]),
          ),
      }),
  },
  {
    id: 'sliding-window-groups',
    thread: 'prime-rl #600',
    what: 'groups are windows sliding over interleaved prompts',
    base: GRPO,
    plant: (clean) => groupwise(clean, { group: Int32Array.from(allRows(clean), (row) => (row >> 1) % 24) }),
  },
  {
    id: 'fixed-stride-groups',
    thread: 'AReaL #1419',
    what: 'a fixed stride over groups that are not full mixes prompts',
    base: GRPO,
    plant: (clean) =>
      groupwise(clean, { group: Int32Array.from(allRows(clean), (row) => Math.floor(row / 32)) }),
  },
  {
    id: 'whole-batch-as-group',
    thread: 'slime #1918, #2230 (#2204)',
    what: 'uneven groups make the trainer fall back to one group for the whole batch',
    base: GRPO,
    plant: (clean) => groupwise(clean, { group: new Int32Array(clean.rows) }),
  },
  {
    id: 'group-of-one-silenced',
    thread: 'rLLM #916',
    what: 'with one sample per prompt the baseline is the sample itself: all advantages are 0',
    base: GRPO,
    plant: (clean) => {
      const batch = onePerGroup(clean);
      return report(batch, new Float64Array(batch.rows));
    },
  },
  {
    id: 'trajectories-instead-of-rows',
    thread: 'agent-lightning #444, #445, #594',
    what: 'the baseline counts each trajectory once where the stated estimator counts its rows',
    base: GRPO,
    plant: (clean) => reportBy(clean, { statistics: 'trajectories' }),
  },
  {
    id: 'normalised-twice',
    thread: 'gem #113',
    what: 'advantages are normalised once more over the batch',
    base: GRPO,
    plant: (clean) => {
      const { mean, deviation } = sampleStatistics([...clean.reportedAdvantage!]);
      return report(
        clean,
        clean.reportedAdvantage!.map((a) => (a - mean) / (deviation + 1e-6)),
      );
    },
  },
  {
    id: 'mask-empty',
    thread: 'open-instruct #729',
    what: 'a comparison sign makes the mask empty: every advantage is 0',
    base: GRPO,
    plant: (clean) => report(clean, new Float64Array(clean.rows)),
  },
  {
    id: 'leave-one-out-in-grpo',
    thread: 'NeMo-RL, nemo_rl/algorithms/utils.py',
    what: 'GRPO with a leave-one-out baseline under the same name',
    base: GRPO,
    plant: (clean) => reportBy(clean, { baseline: 'leave-one-out' }),
  },
  {
    id: 'grpo-population-deviation',
    thread: 'rLLM, rllm/trainer/algorithms/rl_algo.py',
    what: 'GRPO with the population deviation under the same name',
    base: GRPO,
    plant: (clean) => reportBy(clean, { deviation: 'population' }),
  },
];
