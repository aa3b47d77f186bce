/** What `verify` says of small dumps after public reports: see test/golden/cases/README.md. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orUnreadable } from '../../src/cli/batch-files.ts';
import type { StatedFiles } from '../../src/cli/dump-options.ts';
import { verifyFiles } from '../../src/cli/verify-files.ts';

const CASES = 'test/golden/cases';

interface Case {
  readonly path: string;
  readonly exit: number;
  /** What the output must say. */
  readonly says?: readonly RegExp[];
  readonly stated?: StatedFiles;
}

const MAPPED: StatedFiles = {
  map: { group: 'uid', reward: 'score', advantage: 'advantage', step: 'step' },
  estimator: 'grpo',
};

const ALL: readonly Case[] = [
  { path: 'miles-1325/control-own-index', exit: 0, says: [/8 exact/] },
  { path: 'miles-1325/control-shared-index', exit: 3, says: [/8 exact/, /8 samples are of 7 rollouts/] },
  { path: 'miles-1325/right', exit: 3, says: [/7 exact/, /8 samples are of 7 rollouts/] },
  { path: 'miles-1325/wrong', exit: 1, says: [/block-mixed.*1 block of 2 hold more than one prompt/] },
  { path: 'miles-1325/wrong-noargs', exit: 1, says: [/block-mixed/] },
  { path: 'nan-columns/all-nan.jsonl', exit: 1, says: [/advantage-non-finite.*8 rows/] },
  { path: 'nan-columns/all-nan-one-null.jsonl', exit: 3, says: [/0 exact/, /rewards-missing.*row 5/] },
  { path: 'shape-nemo-all-masked', exit: 0, says: [/4 exact/] },
  { path: 'prime-rl-2972/right', exit: 3, says: [/ratio +203/] },
  { path: 'prime-rl-2972/right-step.json', exit: 3, says: [/^5 of 12 stages verified/m, /1 of 1 step ok/] },
  { path: 'prime-rl-2972/wrong', exit: 1, says: [/ratio +202 +0 +0 +1/, /ratio-overflow.*row 3, token 5/] },
  { path: 'prime-rl-2972/wrong-infinity', exit: 1, says: [/ratio +203/, /ratio-overflow.*row 3, token 5/] },
  { path: 'prime-rl-2972/wrong-step.json', exit: 1, says: [/gradient +202 +0 +0 +1/, /ratio-overflow/] },
  { path: 'prime-rl-2972/wrong-step-max.json', exit: 1, says: [/gradient +202 +0 +0 +1/, /ratio-overflow/] },
  { path: 'prime-rl-2972/wrong-step-infinity.json', exit: 2, says: [/lossGradient\[84\].*found Infinity/] },
  { path: 'prime-rl-2972/masked-nan-right.json', exit: 3, says: [/1 of 1 step ok/] },
  { path: 'prime-rl-2972/masked-nan.json', exit: 1, says: [/mask +217 +0 +1/] },
  { path: 'shape-trl-variable', exit: 3, says: [/8 exact/, /group-sizes-differ.*from 3 to 5/] },
  { path: 'prime-rl-3170/right', exit: 3, says: [/8 exact/] },
  { path: 'prime-rl-3170/no-advantage', exit: 3, says: [/advantages-missing/] },
  {
    path: 'shape-list-advantage/t.jsonl',
    exit: 2,
    says: [/row 0, advantage: expected a number, found \[0\.866/],
  },
  { path: 'shape-list-advantage/list-of-one.jsonl', exit: 2, says: [/row 0, advantage: expected a number/] },
  {
    path: 'shape-text-advantage/advantage-only.jsonl',
    exit: 2,
    says: [/row 0, advantage: .* found "0\.866/],
  },
  { path: 'shape-text-advantage/t.jsonl', exit: 2, says: [/row 0, reward: expected a number, found "1\.0"/] },
  { path: 'shape-text-advantage/missing-in-one.jsonl', exit: 3, says: [/3 exact.*0 wrong, 1 unverifiable/] },
  { path: 'shape-text-advantage/null-in-one.jsonl', exit: 3, says: [/No advantage in 1 row \(row 2\)/] },
  { path: 'shape-json-array/t.json', exit: 3, says: [/4 exact/] },
  { path: 'shape-tsv/t.tsv', exit: 3, says: [/4 exact/] },
  { path: 'shape-wandb-table/completions.table.json', exit: 2, says: [/--map group=prompt,reward=accuracy/] },
  {
    path: 'shape-wandb-table/completions.table.json',
    exit: 3,
    says: [/4 exact/],
    stated: { map: { group: 'prompt', reward: 'accuracy', advantage: 'advantage', step: 'step' } },
  },
  {
    path: 'shape-open-instruct',
    exit: 2,
    says: [/--map group=prompt_idx,reward=reward,advantage=advantage/],
  },
  {
    path: 'trl-5026/right.jsonl',
    exit: 2,
    says: [/--map group=uid,reward=score,advantage=advantage,step=step/],
  },
  { path: 'slime-179/right.json', exit: 3, says: [/1 of 1 step ok/] },
  { path: 'slime-179/right-weights.json', exit: 3, says: [/1 of 1 step ok/] },
  {
    path: 'slime-179/wrong.json',
    exit: 1,
    says: [/likely cause: the rollout weight is the ratio of the current policy/],
  },
  {
    path: 'slime-179/wrong-weights.json',
    exit: 1,
    says: [
      /weight +13 +0 +198/,
      /likely cause: of the recorded weights: .* the current policy to the rollout engine/,
    ],
  },
  { path: 'roll-444/right.json', exit: 3, says: [/1 of 1 step ok/] },
  { path: 'roll-444/wrong.json', exit: 1, says: [/likely cause: the loss is not multiplied by the mask/] },
  { path: 'agent-lightning-559/right.json', exit: 3, says: [/1 of 1 step ok/] },
  { path: 'agent-lightning-559/wrong-two-rows.json', exit: 3, says: [/rows-apart: 2 rows of 16/] },
  { path: 'grpo-flat-2/right.jsonl', exit: 0, stated: { ...MAPPED, params: { epsilon: 1e-4 } } },
  {
    path: 'grpo-flat-2/wrong.jsonl',
    exit: 1,
    says: [/wrong-rows/],
    stated: { ...MAPPED, params: { epsilon: 1e-4 } },
  },
  { path: 'tt-metal-46412/right.jsonl', exit: 0, stated: MAPPED },
  { path: 'tt-metal-46412/wrong.jsonl', exit: 1, says: [/wrong-rows/], stated: MAPPED },
  {
    path: '../dumps/slime-layout/right',
    exit: 3,
    says: [/also read as 2 optimizer steps: denominator verified; more needs tokens\.logProb/],
  },
  { path: '../dumps/slime-layout/wrong', exit: 1, says: [/denominator +7 +0 +4/] },
  { path: '../dumps/nemo-rl-settings/grpo-divided-all', exit: 0, says: [/also read as 1 optimizer step/] },
];

/** Exit status and output, errors included. */
async function verified(path: string, stated: StatedFiles = {}): Promise<{ exit: number; text: string }> {
  let text = '';
  const write = (part: string): void => {
    text += part;
  };
  const stream = { columns: undefined, write };
  const io = { stdout: stream, stderr: stream };
  const exit = await orUnreadable(io, () => verifyFiles([path], stated, io));
  return { exit, text };
}

for (const { path, exit: expected, says = [], stated } of ALL) {
  test(`verify of ${path} ends with ${expected}`, async () => {
    const { exit, text } = await verified(`${CASES}/${path}`, stated);
    assert.equal(exit, expected, text);
    for (const pattern of says) assert.match(text, pattern);
  });
}
