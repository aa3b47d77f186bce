/** Bugs of provenance: the wrong rows, or the right ones in the wrong place, order or group. */

import type { Batch } from '../../../src/format/batch.ts';
import { randomFrom } from '../random-batch.ts';
import {
  allRows,
  type Mutant,
  pick,
  reportBy,
  returnsWith,
  rowsBy,
  stating,
  withReturns,
  withScores,
} from './tools.ts';

const LARGE = 'alfworld-scale';
const GROUP_SIZE = 8;

function shuffled(n: number, seed: number): number[] {
  const random = randomFrom(seed);
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

function regroup(batch: Batch, group: Int32Array, names: readonly string[]): Batch {
  return reportBy(stating({ ...batch, group, groupNames: names }, { groupSize: GROUP_SIZE }));
}

/** Duplicates real rows until the number is a multiple, as before a split over devices. */
function padded(batch: Batch): number[] {
  const rows = allRows(batch);
  const lacking = 64 - (batch.rows % 64);
  return [...rows, ...shuffled(batch.rows, 3).slice(0, lacking)];
}

/** Mutants that an honest recomputation agrees with, or nearly: the rows themselves are at fault. */
export const ROW_MUTANTS: readonly Mutant[] = [
  {
    id: 'shuffled-before-estimator',
    thread: 'verl #2185',
    what: 'dynamic batch sizes shuffle the rows; the estimator runs on the shuffled batch and agrees with itself',
    base: LARGE,
    plant: (clean) => reportBy(pick(clean, shuffled(clean.rows, 1))),
  },
  {
    id: 'rewards-in-old-order',
    thread: 'verl #2185',
    what: 'rewards are appended in the order from before the shuffle, so rows carry other rows’ scores',
    base: 'grpo-std-0',
    plant: (clean) => withScores(clean, pick(clean, shuffled(clean.rows, 2)).tokenLevelRewardSum!),
  },
  {
    id: 'padding-by-duplicates',
    thread: 'verl-omni #602',
    what: 'the batch is padded with copies of real rows before the estimator; the copies shift every mean',
    base: LARGE,
    plant: (clean) => reportBy(pick(clean, padded(clean))),
  },
  {
    id: 'adjusted-and-balanced-first',
    thread: 'verl-agent #230, #231',
    what: 'rows are duplicated and rebalanced before the advantage instead of after it',
    base: LARGE,
    plant: (clean) => {
      const order = padded(clean);
      const moved = shuffled(order.length, 4).map((i) => order[i]!);
      return reportBy(pick(clean, moved));
    },
  },
  {
    id: 'groups-cut-by-position',
    thread: 'TRL #6351',
    what: 'group ids follow the position across devices, so that groups end in the middle of a trajectory',
    base: LARGE,
    plant: (clean) => {
      const groups = clean.groupNames.length;
      const stride = Math.ceil(clean.rows / groups);
      return regroup(
        clean,
        Int32Array.from(allRows(clean), (row) => Math.floor(row / stride)),
        clean.groupNames,
      );
    },
  },
  {
    id: 'prompts-oversampled',
    thread: 'TRL #4271, #4531',
    what: 'the sampler repeats one prompt more often and skips others: a trajectory lands in a neighbour’s group',
    base: LARGE,
    plant: (clean) => {
      const moved = clean.trajectory[0]!;
      const group = clean.group.map((g, row) =>
        clean.trajectory[row] === moved ? (g + 1) % clean.groupNames.length : g,
      );
      return regroup(clean, group, clean.groupNames);
    },
  },
  {
    id: 'grouped-by-trajectory',
    thread: 'rLLM #605, #776, #924',
    what: 'groups are keyed by the trajectory’s id, so each has size 1 and the baseline is gone',
    base: LARGE,
    plant: (clean) => regroup(clean, clean.trajectory, clean.trajectoryNames),
  },
  {
    id: 'equal-prompts-merged',
    thread: 'NeMo-RL #3882',
    what: 'groups are keyed by the prompt’s text, and two tasks with equal prompts become one group',
    base: LARGE,
    plant: (clean) =>
      regroup(
        clean,
        clean.group.map((g) => g >> 1),
        clean.groupNames.filter((_, g) => g % 2 === 0),
      ),
  },
  {
    id: 'zero-rows-filtered',
    thread: 'ART, src/art/local/tokenize.py',
    what: 'rows without signal are filtered out before the batch is recorded',
    base: LARGE,
    plant: (clean) => {
      const kept = allRows(clean).filter((row) => clean.reportedAdvantage![row] !== 0);
      return stating(reportBy(pick(clean, kept)), { rowsCollected: clean.rows });
    },
  },
  {
    id: 'first-steps-truncated',
    thread: 'slime #365, #1418, #2263',
    what: 'multi-turn rows beyond the token budget are cut off at the front of the trajectory',
    base: LARGE,
    plant: (clean) => {
      const cut = new Set(
        rowsBy(clean.trajectory)
          .filter((rows) => rows.length > 40)
          .map((rows) => rows[0]!),
      );
      return reportBy(
        pick(
          clean,
          allRows(clean).filter((row) => !cut.has(row)),
        ),
      );
    },
  },
  {
    id: 'reward-arguments-shifted',
    thread: 'R1-V #67, #146',
    what: 'the reward function gets the arguments of the next item: rewards are shifted by one row',
    base: LARGE,
    plant: (clean) => ({
      ...clean,
      reward: clean.reward!.map((_, row) => clean.reward![(row + 1) % clean.rows]!),
    }),
  },
  {
    id: 'first-token-masked',
    thread: 'OpenRLHF #973',
    what: 'the loss mask drops a token: answers of one token lose their reward',
    base: 'grpo-std-0',
    plant: (clean) =>
      withScores(
        clean,
        clean.tokenLevelRewardSum!.map((s, row) => (clean.responseLength![row] === 1 ? 0 : s)),
      ),
  },
  {
    id: 'terminal-reward-lost',
    thread: 'miles #1827',
    what: 'the recursion runs over masked positions and loses the reward of the last step',
    base: LARGE,
    plant: (clean) =>
      withReturns(clean, returnsWith(clean, { reward: (row, last) => (last ? 0 : clean.reward![row]!) })),
  },
  {
    id: 'return-reset-at-tool-turn',
    thread: 'verl #6376',
    what: 'the return starts anew at every tool observation, so earlier actions lose their credit',
    base: LARGE,
    plant: (clean) => withReturns(clean, returnsWith(clean, { reset: (row) => clean.step![row]! % 5 === 4 })),
  },
  {
    id: 'discounted-over-observations',
    thread: 'verl #2337',
    what: 'the recursion counts observation turns as steps: gamma is applied twice per step',
    base: LARGE,
    plant: (clean) => withReturns(clean, returnsWith(clean, { gamma: clean.estimator.gamma ** 2 })),
  },
  {
    id: 'one-nan-reward',
    thread: 'TRL #5773, #5775',
    what: 'one reward is NaN and poisons mean and deviation of its whole group',
    base: 'grpo-std-0',
    plant: (clean) =>
      withScores(
        { ...clean, reward: clean.reward!.with(0, Number.NaN) },
        clean.tokenLevelRewardSum!.with(0, Number.NaN),
      ),
  },
];
