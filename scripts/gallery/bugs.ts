// Ten public bugs of training signals, each with data of our own on which its mistake gives other advantages than its formula.
import { cancelledDeviation, float32, gae, grpo, leaveOneOut, returnsToGo, whiten } from './arithmetic.ts';

/** A bug of the gallery. `right` are the advantages by the formula, `wrong` by the mistake: one per row, or one per token. */
export interface Bug {
  /** File name in docs/gallery, without its end. */
  name: string;
  title: string;
  link: string;
  /** What the trainer did, in one or two sentences. */
  mistake: string;
  params: object;
  columns: object;
  right: number[];
  wrong: number[];
  /** The row to explain, if no row is wrong. */
  row?: number;
  /** What else the reader must know about the outcome. */
  remark?: string;
}

const repeat = <T>(value: T, times: number): T[] => new Array<T>(times).fill(value);

/** Columns of `sizes[i]` rows of group i, one trajectory per row. */
function rowsOf(sizes: number[], rewards: number[]) {
  const group = sizes.flatMap((size, index) => repeat(`prompt ${index}`, size));
  const trajectory = group.map((_, row) => `response ${row}`);
  return { group, trajectory, step: repeat(0, group.length), reward: rewards, tokenLevelRewardSum: rewards };
}

const GRPO = { estimator: 'grpo', normalizeByStd: true, gamma: 1, invalidActionPenalty: 0 };

function scaleByBatch(): Bug {
  const rewards = [1, 0, 0, 1, 0.5, 0.4, 0.6, 0.5];
  const columns = rowsOf([4, 4], rewards);
  return {
    name: 'trl-3991',
    title: 'TRL: `scale_rewards="batch"` divided by the deviation of the group',
    link: 'https://github.com/huggingface/trl/issues/3991',
    mistake:
      'The two settings of the scale were exchanged, so that "batch" divided by the deviation of each group.',
    params: { ...GRPO, epsilon: 1e-4, deviationOver: 'batch', singleton: 'zero' },
    columns,
    right: grpo(rewards, columns.group, { epsilon: 1e-4, overBatch: true }),
    wrong: grpo(rewards, columns.group, { epsilon: 1e-4 }),
  };
}

function cancellation(): Bug {
  const rewards = [...repeat(0.35, 7), 0];
  return {
    name: 'nemo-rl-4158',
    title: 'NeMo-RL: a variance in float32 made one advantage of hundreds',
    link: 'https://github.com/NVIDIA-NeMo/RL/pull/4158',
    mistake:
      'The deviation of the other rows was computed as √(E[x²] − E[x]²) in float32. Of equal rewards it should be 0; the rounding error remains and divides.',
    params: { ...GRPO, baseline: 'leave-one-out', guard: 'keep', singleton: 'zero' },
    columns: rowsOf([8], rewards),
    right: leaveOneOut(float32(rewards)),
    wrong: leaveOneOut(float32(rewards), cancelledDeviation),
    row: 7,
    remark:
      'The outcome is `rounding`, with a warning and exit status 0: float32 arithmetic can give this value, though the formula does not.',
  };
}

function maskedBroadcast(): Bug {
  const [responses, steps] = [4, 3];
  const scores = [1, 0, 0, 1];
  const ofStep = <T>(value: (response: number, step: number) => T): T[] =>
    scores.flatMap((_, response) => repeat(0, steps).map((_, step) => value(response, step)));
  const advantages = grpo(scores, repeat('task', responses));
  return {
    name: 'skyrl-1492',
    title: 'SkyRL: all steps of a trajectory but the last were trained with advantage 0',
    link: 'https://github.com/NovaSky-AI/SkyRL/issues/1492',
    mistake:
      'The advantage of the last step was masked first and then copied to the other steps, so that they received 0.',
    params: { ...GRPO, statistics: 'trajectories' },
    columns: {
      group: ofStep(() => 'task'),
      trajectory: ofStep((response) => `response ${response}`),
      step: ofStep((_, step) => step),
      reward: ofStep((response, step) => (step === steps - 1 ? scores[response]! : 0)),
      tokenLevelRewardSum: ofStep((response) => scores[response]!),
    },
    right: ofStep((response) => advantages[response]!),
    wrong: ofStep((response, step) => (step === steps - 1 ? advantages[response]! : 0)),
  };
}

function reordered(): Bug {
  const rewards = [1, 0, 0, 0, 1, 1, 1, 0];
  const columns = rowsOf([4, 4], rewards);
  const right = grpo(rewards, columns.group);
  const order = [2, 0, 1, 3, 7, 5, 4, 6];
  return {
    name: 'verl-2185',
    title: 'verl: a setting shuffled the rows after the rewards were attached',
    link: 'https://github.com/verl-project/verl/issues/2185',
    mistake:
      'With `use_dynamic_bsz` the batch changed its order, and rewards were appended in the old order.',
    params: GRPO,
    columns,
    right,
    wrong: order.map((row) => right[row]!),
  };
}

function unevenGroups(): Bug {
  const rewards = [9, 7, 8, 8, 5, 5, 5, 3, 4, 6, 7];
  const columns = rowsOf([4, 3, 4], rewards);
  return {
    name: 'slime-2230',
    title: 'slime: groups of unequal size shared one baseline',
    link: 'https://github.com/THUDM/slime/issues/2230',
    mistake:
      'If the groups had different sizes, all rewards were reshaped into one row. A prompt whose rewards were all equal received a signal.',
    params: GRPO,
    columns,
    right: grpo(rewards, columns.group),
    wrong: grpo(rewards, repeat('all', rewards.length)),
  };
}

function partialGroups(): Bug {
  const rewards = [1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0];
  const columns = rowsOf([3, 4, 4], rewards);
  return {
    name: 'areal-1419',
    title: 'AReaL: an incomplete group moved all groups after it',
    link: 'https://github.com/areal-project/AReaL/issues/1419',
    mistake:
      'Groups were cut every four rows. After a group with three survivors, each group mixed two prompts.',
    params: GRPO,
    columns,
    right: grpo(rewards, columns.group),
    wrong: grpo(
      rewards,
      rewards.map((_, row) => Math.floor(row / 4)),
    ),
  };
}

function groupsOfOne(): Bug {
  const rewards = [1, 0, 1, 0, 0, 0, 1, 0];
  const columns = rowsOf([4, 4], rewards);
  return {
    name: 'rllm-605',
    title: 'rLLM: each rollout was its own group',
    link: 'https://github.com/rllm-org/rllm/issues/605',
    mistake:
      'Rows were grouped by the id of the trajectory. A group of one has no baseline, so the reward passed through.',
    params: GRPO,
    columns,
    right: grpo(rewards, columns.group),
    wrong: grpo(rewards, columns.trajectory),
  };
}

function turnsCounted(): Bug {
  const [scores, turns] = [
    [1, 0, 0, 1],
    [1, 6, 5, 2],
  ];
  const response = scores!.flatMap((_, index) => repeat(index, turns![index]!));
  const ofRow = response.map((index) => scores![index]!);
  const byTrajectory = grpo(scores!, repeat('task', 4));
  return {
    name: 'agent-lightning-445',
    title: 'Agent Lightning: a long trajectory counted once per turn',
    link: 'https://github.com/microsoft/agent-lightning/pull/445',
    mistake:
      'The mean and deviation of a group ran over turns, so that trajectories with many turns set the baseline.',
    params: { ...GRPO, statistics: 'trajectories' },
    columns: {
      group: repeat('task', response.length),
      trajectory: response.map((index) => `response ${index}`),
      step: response.map((index, row) => row - response.indexOf(index)),
      reward: response.map((index, row) => (response[row + 1] === index ? 0 : scores![index]!)),
      tokenLevelRewardSum: ofRow,
    },
    right: response.map((index) => byTrajectory[index]!),
    wrong: grpo(ofRow, repeat('task', response.length)),
  };
}

const MASKS = [
  [1, 1, 0, 0, 1, 1],
  [1, 0, 0, 1, 1],
  [1, 1, 1, 0, 1],
];
const TOKEN_REWARDS = [
  [0, 0, 0, 0, 0, 1],
  [0, 0, 0, 0, 0],
  [0, 0.25, 0, 0, 1],
];
const VALUES = [
  [0.4, 0.5, 0.9, 0.8, 0.6, 0.7],
  [0.3, 0.9, 0.7, 0.2, 0.1],
  [0.5, 0.4, 0.6, 0.1, 0.8],
];

/** Columns of three responses with tool tokens in their middle. */
function tokenColumns(isWithValues: boolean) {
  const offset = [0];
  for (const mask of MASKS) offset.push(offset.at(-1)! + mask.length);
  const columns = rowsOf([1, 1, 1], [1, 0, 1.25]);
  const tokens = { offset, mask: MASKS.flat(), reward: TOKEN_REWARDS.flat() };
  return { ...columns, tokens: isWithValues ? { ...tokens, value: VALUES.flat() } : tokens };
}

function resetReturns(): Bug {
  const discount = 0.5;
  const advantages = (resetsAtMask: boolean): number[] =>
    whiten(
      MASKS.map((mask, row) => returnsToGo(TOKEN_REWARDS[row]!, mask, { discount, resetsAtMask })),
      MASKS,
    ).flat();
  return {
    name: 'verl-7278',
    title: 'verl: REINFORCE++ lost the reward of everything before a tool call',
    link: 'https://github.com/verl-project/verl/issues/7278',
    mistake:
      'The running return was set to 0 at each masked token. That is right for padding, but tool output is masked as well.',
    params: { estimator: 'reinforce_plus_plus_token', discount },
    columns: tokenColumns(false),
    right: advantages(false),
    wrong: advantages(true),
  };
}

function observedTokens(): Bug {
  const settings = { discount: 1, lambda: 0.95 };
  const advantages = (throughMask: boolean): number[] =>
    whiten(
      MASKS.map((mask, row) => gae(TOKEN_REWARDS[row]!, VALUES[row]!, mask, { ...settings, throughMask })),
      MASKS,
    ).flat();
  return {
    name: 'verl-2337',
    title: 'verl: GAE ran over the tokens of tools',
    link: 'https://github.com/verl-project/verl/pull/2337',
    mistake:
      'The values of tool tokens, which the policy did not write, entered the advantages of the tokens before them.',
    params: { estimator: 'gae', ...settings },
    columns: tokenColumns(true),
    right: advantages(false),
    wrong: advantages(true),
  };
}

/** The gallery, in the order of its page. */
export const BUGS: readonly Bug[] = [
  reordered(),
  maskedBroadcast(),
  scaleByBatch(),
  cancellation(),
  groupsOfOne(),
  unevenGroups(),
  partialGroups(),
  turnsCounted(),
  resetReturns(),
  observedTokens(),
];

/** A batch file of a bug, with its wrong or its right advantages as what the trainer reported. */
export function batchOf(bug: Bug, which: 'right' | 'wrong'): object {
  const reported = float32(bug[which]);
  const { tokens, ...columns } = bug.columns as { tokens?: object; tokenLevelRewardSum: number[] };
  const withTokens = tokens && { tokens: { ...tokens, reportedAdvantage: reported } };
  // The reward comes at the last step and γ is 1, so that the return of each step is the score.
  const perRow = { reported: { stepReward: columns.tokenLevelRewardSum, advantage: reported } };
  return {
    format: tokens ? 'echelon-batch/2' : 'echelon-batch/1',
    source: `made by scripts/generate/gallery.ts after ${bug.link}`,
    batches: [{ name: 'step 1', params: bug.params, ...columns, ...(withTokens ?? perRow) }],
  };
}
