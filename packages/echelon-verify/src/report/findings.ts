/** Every finding there is: the closed list of codes, what each means and how to fix it. */

import { cut, MAX_SENTENCE_CHARACTERS } from 'command-kit/cut';
import { type Finding, MAX_LISTED_ROWS, type Severity } from './report.ts';

/** The meaning of a code. */
export interface FindingKind {
  readonly severity: Severity;
  /** What it means, for the documentation. */
  readonly means: string;
  /** What to do about it; ends the message. */
  readonly remedy: string;
}

/** All codes. An `error`: the batch contradicts itself or what it states; all else is a `warning`. */
export const FINDINGS = {
  'wrong-rows': {
    severity: 'error',
    means: 'No evaluation of the stated formula in the trainer’s arithmetic gives the reported advantage.',
    remedy:
      'Explain one of the rows to see its clusters, and compare the trainer’s estimator with the fingerprint.',
  },
  'rows-missing': {
    severity: 'error',
    means: 'The batch holds fewer rows than the rollout collected.',
    remedy: 'Capture the batch before rows are filtered or split, or state the number that is right.',
  },
  'rows-surplus': {
    severity: 'error',
    means: 'The batch holds more rows than the rollout collected: padding or duplicates.',
    remedy:
      'Compute the advantages before the batch is padded to a multiple, or state that (`provenance.preparation`).',
  },
  'row-duplicated': {
    severity: 'error',
    means: 'One step of one trajectory occurs more than once.',
    remedy:
      'Compute the advantages before rows are duplicated; duplicates shift every mean they are in. A trainer that pads first states it (`provenance.preparation`), with the number of rows collected.',
  },
  'steps-out-of-order': {
    severity: 'error',
    means: 'The rows of a trajectory are not in time order.',
    remedy:
      'Compute before the batch is shuffled or balanced: returns and histories follow the order of the rows. A trainer that balances first states it (`provenance.preparation`).',
  },
  'step-gap': {
    severity: 'error',
    means: 'A trajectory does not have the steps 0, 1, 2, … without a gap.',
    remedy: 'Find where rows are dropped: returns run over the gap, and histories do not match.',
  },
  'trajectory-in-two-groups': {
    severity: 'error',
    means: 'Rows of one trajectory are in different groups.',
    remedy: 'Carry the group id with each row instead of deriving it from the position.',
  },
  'grouped-by-trajectory': {
    severity: 'error',
    means: 'The group ids are the trajectory ids: each row is compared with its own trajectory only.',
    remedy: 'Group by task: all rollouts of one initial state share a group id.',
  },
  'group-size': {
    severity: 'error',
    means: 'A group does not have the stated number of trajectories.',
    remedy: 'Check how group ids are made (per task and rollout, not per trajectory, prompt text or stride).',
  },
  'group-count': {
    severity: 'error',
    means: 'The batch does not have the stated number of groups.',
    remedy: 'Check how group ids are made: groups were merged, split or lost.',
  },
  'returns-mismatch': {
    severity: 'error',
    means: 'Rewards (or distances to the goal), gamma and penalty do not give the reported step returns.',
    remedy: 'Check gamma, the penalty and the order of the rewards or next observations.',
  },
  'transition-mismatch': {
    severity: 'error',
    means: 'Next observations do not follow the trajectories, or the goal is not at the end of each success.',
    remedy:
      'Record the observation after each step beside its row, and the goal for the last step of a success.',
  },
  'score-mismatch': {
    severity: 'error',
    means: 'The trajectory’s rewards less the row’s penalty do not give the row’s score.',
    remedy: 'Check that scores and rewards belong to the same rows, and that no token with reward is masked.',
  },
  'non-finite-input': {
    severity: 'error',
    means: 'A reward, return or score is NaN or infinite.',
    remedy: 'Stop the value at its source: it poisons the mean of every cluster it is in.',
  },
  'advantage-non-finite': {
    severity: 'error',
    means: 'An advantage of a dump is NaN or infinite, although every reward is finite.',
    remedy: 'Find the division or the overflow that gives it: the value poisons every weight it reaches.',
  },
  'rewards-missing': {
    severity: 'warning',
    means: 'Rows of a dump have no reward, so that the advantages of their groups cannot be recomputed.',
    remedy: 'Record the reward of every row, or state an estimator that says what a missing one counts as.',
  },
  'rounding-rows': {
    severity: 'warning',
    means: 'float32 rounding, not the data, decided these advantages.',
    remedy: 'Compute advantages in float64, or drop clusters whose returns are all equal.',
  },
  'advantages-missing': {
    severity: 'warning',
    means: 'The batch carries no reported advantages.',
    remedy: 'Carry reported.advantage to have the rows verified.',
  },
  'inputs-missing': {
    severity: 'warning',
    means: 'Columns that the estimator needs are not in the batch.',
    remedy: 'Carry these columns to have the rows verified.',
  },
  'bounds-missing': {
    severity: 'warning',
    means: 'No error bounds are known for the stated formula.',
    remedy:
      'Estimate the batch again and compare: which values the trainer’s arithmetic can give is not known.',
  },
  'returns-unchecked': {
    severity: 'warning',
    means: 'The reported returns were taken on trust: what they are made of is not in the batch.',
    remedy: 'Carry reward (and actionValid if there is a penalty).',
  },
  'scores-unchecked': {
    severity: 'warning',
    means: 'The scores were taken on trust: the rewards are not in the batch.',
    remedy: 'Carry reward (and actionValid if there is a penalty).',
  },
  'steps-unstated': {
    severity: 'warning',
    means: 'Rows carry no step number: the order of the batch was taken as time order, unchecked.',
    remedy: 'Carry step, counted where the environment is stepped.',
  },
  'overflow-possible': {
    severity: 'warning',
    means: 'Values are so large that sums, squares or weights may leave the range of the arithmetic.',
    remedy: 'Scale the rewards, or take a smaller alpha.',
  },
  'budget-exceeded': {
    severity: 'warning',
    means: 'The batch needs more time or memory than verification may take.',
    remedy: 'Verify fewer groups at a time: no advantage depends on another group.',
  },
  'batch-empty': {
    severity: 'error',
    means: 'The batch has no rows.',
    remedy: 'Check that the rollout collected anything, and that the file was not cut off.',
  },
  'no-state-recurs': {
    severity: 'warning',
    means: 'No two steps share a state: a step-wise estimator has nothing to compare.',
    remedy: 'Look at the anchor observations: a counter or a time in them makes each unique.',
  },
  'goal-unreached': {
    severity: 'warning',
    means: 'Groups have no success: their graph has no path, and all returns are equal but for penalties.',
    remedy: 'Nothing if tasks are hard; then only penalties tell the rows of these groups apart.',
  },
  'groups-of-one': {
    severity: 'warning',
    means: 'Groups have a single trajectory, so there is no baseline.',
    remedy: 'Check the group ids and the number of rollouts per task.',
  },
  'group-sizes-differ': {
    severity: 'warning',
    means: 'Groups differ in their number of trajectories, and the batch does not state which is right.',
    remedy: 'State the group size, so that trajectories in a wrong group show.',
  },
  'observations-constant': {
    severity: 'warning',
    means: 'No trajectory ever changes its observation: the states are indistinguishable.',
    remedy:
      'Check what is recorded as anchor observation: it must be the state of each step, not the first prompt.',
  },
  'group-starts-differ': {
    severity: 'warning',
    means: 'Starts recur in the batch, yet trajectories of one group start from different observations.',
    remedy: 'Check that a group is one task with one initial state: trajectories may be in a wrong group.',
  },
  'advantage-constant': {
    severity: 'warning',
    means: 'Advantages do not vary within a trajectory although the estimator is step-wise.',
    remedy: 'Check that the step’s own return reaches the estimator.',
  },
  'group-mean-drift': {
    severity: 'warning',
    means: 'The advantages of most groups lean to one side: their mean is far from 0.',
    remedy:
      'A baseline that is the mean of the group leaves a mean near 0: look at what the mean is taken over.',
  },
  'block-partial': {
    severity: 'error',
    means: 'The rows of a dump are not a multiple of the rows per group: rows are missing or doubled.',
    remedy: 'State the right size with --group-size; if it is right, find where the trainer lost rows.',
  },
  'block-mixed': {
    severity: 'error',
    means: 'A block of rows that the trainer takes as one group holds more than one prompt.',
    remedy: 'Check the order of the rows: the trainer compares answers to different prompts.',
  },
  'groups-cut': {
    severity: 'warning',
    means: 'These look like parts of larger groups: each was compared with rows that the dump does not hold.',
    remedy:
      'Record all rows of each group, or state the number of rows with --group-size to have the dump judged as whole.',
  },
  'prompt-repeated': {
    severity: 'warning',
    means: 'Two groups of one step have the same prompt.',
    remedy: 'Check the data set for duplicates, or that its size fits the batch.',
  },
  'group-size-unknown': {
    severity: 'warning',
    means: 'Nothing tells which rows of a dump are one group.',
    remedy: 'State the number of responses per prompt with --group-size.',
  },
  'rows-unscorable': {
    severity: 'warning',
    means: 'No reward function scored these rows: by the estimator they are in no group mean, or count as 0.',
    remedy: 'Check why the reward functions returned None.',
  },
  'unscorable-rewarded': {
    severity: 'error',
    means: 'Rows that no reward function scored have an advantage.',
    remedy: 'Update the trainer: older versions count such rows as reward 0, which biases the group.',
  },
  'evaluation-rows': {
    severity: 'warning',
    means:
      'The trainer evaluated at this step, and evaluation rows replace training rows in the dump: no row is verified.',
    remedy: 'Judge the training by the other steps, or log at steps without evaluation.',
  },
  'rollout-uneven': {
    severity: 'warning',
    means:
      'A rollout has not as many rows as its groups would have: the trainer compares each row with the whole rollout, not with its prompt.',
    remedy:
      'Fill the rollout, or find what drops samples: the advantages follow the difficulty of the prompts.',
  },
  'rollouts-fanned-out': {
    severity: 'warning',
    means:
      'Several samples of a dump are of one rollout, and nothing says whether the trainer compares rollouts or samples.',
    remedy:
      'Count each rollout once, among those of its prompt; then the number of its samples moves no mean.',
  },
  'rewards-incomplete': {
    severity: 'warning',
    means: 'The dump lacks the values of a reward function, so that no advantage can be recomputed.',
    remedy: 'Give each reward function a name of its own.',
  },
  'rewards-unrecorded': {
    severity: 'warning',
    means: 'Rows are wrong by the reward columns of the dump, and nothing records that these are all.',
    remedy:
      'Give each reward function a name of its own, and keep trainer_state.json beside the dump: then the columns are known.',
  },
  'rewards-inferred': {
    severity: 'warning',
    means: 'The reward columns of a dump are neither stated nor recorded, and were found by trying.',
    remedy: 'State them with --rewards to have the rows verified.',
  },
  'rewards-unknown': {
    severity: 'warning',
    means:
      'The reward columns of a dump are neither stated nor recorded, and no choice explains the advantages.',
    remedy: 'State them with --rewards, and their factors with --weights.',
  },
  'rows-differ': {
    severity: 'warning',
    means: 'A step of a dump has fewer or more rows than most steps.',
    remedy: 'Check that no group was dropped before the dump was written.',
  },
  'no-signal': {
    severity: 'warning',
    means: 'No group of a step has rewards that differ, so that the step teaches nothing.',
    remedy:
      'Look at the rewards: a scorer that fails gives all rows one value; tasks may be too easy or too hard.',
  },
  'signs-flipped': {
    severity: 'warning',
    means:
      'Many advantages have another sign than the reward less the mean of its group, and they are not verified.',
    remedy: 'State the estimator. If it compares rows within groups, rows have the advantages of other rows.',
  },
  'rollouts-failed': {
    severity: 'warning',
    means:
      'Many rows have hardly a response and the reward 0, as rollouts have that failed before they began.',
    remedy:
      'Drop failed rollouts before the groups are compared: their rewards are no judgement of a response.',
  },
  'rewards-filtered': {
    severity: 'warning',
    means:
      'Rows have a filtered reward that differs from their reward. The filtered one is compared with the advantage.',
    remedy:
      'Nothing with dynamic sampling, whose rewards are of all rollouts; otherwise find what changes the rewards.',
  },
  'rewards-logged': {
    severity: 'warning',
    means: 'The reward that the trainer logged is not the weighted sum of the logged means of its functions.',
    remedy:
      'Compare the weights of the run’s configuration with those of the trainer, and state them with --weights.',
  },
  'setting-without-effect': {
    severity: 'warning',
    means: 'The configuration of the run has a setting that its estimator does not use.',
    remedy: 'Remove the setting, or choose an estimator that uses it.',
  },
  'zero-with-spread': {
    severity: 'error',
    means: 'All advantages of a group are 0 although its rewards differ.',
    remedy: 'Check what sets the advantages to 0: a mask, a filter, or grouping each row with itself.',
  },
  'configuration-unknown': {
    severity: 'warning',
    means: 'The estimator of a dump is neither stated nor found, and no known one explains the advantages.',
    remedy:
      'State it with --estimator and --param, or put the configuration file of the run beside the dump.',
  },
  'configuration-unreadable': {
    severity: 'warning',
    means: 'The configuration file of the run cannot be read, so the estimator is inferred.',
    remedy: 'Restore the file from the run, or state the estimator with --estimator and --param.',
  },
  'advantage-per-token': {
    severity: 'warning',
    means: 'The tokens of one response have different advantages, which this format does not explain.',
    remedy: 'Record the batch with the capture hook before whitening, KL or distillation terms are added.',
  },
  'rows-lost': {
    severity: 'error',
    means: 'The numbers that the trainer gave the rows of a dump have a gap, or are out of order.',
    remedy: 'Check that the file is whole and was written by one process.',
  },
  'group-apart': {
    severity: 'error',
    means: 'Rows of one group do not follow one another, and the trainer takes groups by position.',
    remedy:
      'Compare the order of the samples with n_samples_per_prompt: rows of different prompts are compared.',
  },
  'looks-bfloat16': {
    severity: 'warning',
    means: 'All values of a column are bfloat16 numbers, and the batch states another precision.',
    remedy:
      'State the precision "bfloat16", or "bfloat16-output" if the trainer rounds only the advantages; or record the values before they are rounded.',
  },
  'looks-float16': {
    severity: 'warning',
    means: 'All values of a column are float16 numbers, and the batch states another precision.',
    remedy:
      'State the precision "float16", or "float16-output" if the trainer rounds only the advantages; or record the values before they are rounded.',
  },
  'groups-untrained': {
    severity: 'warning',
    means: 'Groups have responses that were not trained, so their advantages are not in the dump.',
    remedy: 'Nothing, if a filter drops them on purpose; these groups are not verified.',
  },
} as const satisfies Record<string, FindingKind>;

/** The code of a finding. */
export type FindingCode = keyof typeof FINDINGS;

/** Makes a finding: `detail` says what is wrong with numbers, the remedy is added. Rows are capped. */
export function finding(code: FindingCode, detail: string, rows: ArrayLike<number> = []): Finding {
  const { severity, remedy } = FINDINGS[code];
  const listed: number[] = [];
  for (let i = 0; i < Math.min(rows.length, MAX_LISTED_ROWS); i++) listed.push(rows[i]!);
  return { code, severity, rows: listed, message: `${cut(detail, MAX_SENTENCE_CHARACTERS)} ${remedy}` };
}

/** The findings with errors before warnings. */
export function errorsFirst(findings: readonly Finding[]): Finding[] {
  const rank = ({ severity }: Finding): number => (severity === 'error' ? 0 : 1);
  return [...findings].sort((a, b) => rank(a) - rank(b));
}

/** A few of a list of names or numbers, in words: `3, 4, 5 and 12 more`. */
export function some(items: ArrayLike<string | number>, most = 5): string {
  const shown = Array.from({ length: Math.min(items.length, most) }, (_, i) => cut(String(items[i])));
  const rest = items.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${rest.toLocaleString('en-US')} more` : shown.join(', ');
}
