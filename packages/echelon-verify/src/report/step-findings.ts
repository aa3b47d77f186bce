/** Every finding about a step. Findings are statistics and contradictions, never outcomes of tokens. */

import { type Finding, MAX_LISTED_ROWS, type Severity } from './report.ts';

/** The meaning of a code. */
export interface StepFindingKind {
  readonly severity: Severity;
  readonly means: string;
  readonly remedy: string;
}

/** All codes. */
export const STEP_FINDINGS = {
  'support-truncated': {
    severity: 'warning',
    means: 'The mean ratio between trainer and rollout engine is below 1, and hardly any ratio is above it.',
    remedy:
      'The engine renormalises log-probs after top-p, top-k or min-p: filter the trainer’s likewise, or sample without.',
  },
  'temperature-mismatch': {
    severity: 'warning',
    means:
      'The log-probs of trainer and rollout engine differ by a factor, as with a temperature on one side only.',
    remedy:
      'Divide the logits by the sampling temperature on both sides, and ask the engine for processed log-probs.',
  },
  'ratio-mean': {
    severity: 'warning',
    means:
      'The mean ratio between trainer and rollout engine is not 1, which it is for any two policies with one support.',
    remedy: 'Compare sampling settings, weights and masks of the two sides.',
  },
  'log-probs-shifted': {
    severity: 'warning',
    means: 'The rollout log-probs agree better with the trainer’s at the next or the previous token.',
    remedy: 'Align the log-probs with the token ids: the log-prob at position t belongs to the token t.',
  },
  'log-prob-placeholder': {
    severity: 'warning',
    means: 'Trained tokens have a log-prob of exactly 0, in runs, as placeholders have.',
    remedy: 'Drop tokens without a log-prob from the mask, or compute their log-probs anew.',
  },
  'wrong-token': {
    severity: 'warning',
    means: 'The engine reports likely tokens that the trainer finds unlikely: the log-prob of another token.',
    remedy: 'Take the log-prob of the sampled token, not that of the likeliest.',
  },
  'mismatch-level': {
    severity: 'warning',
    means:
      'The mean KL divergence between rollout engine and trainer is above what engines of one model show.',
    remedy:
      'Expect about 0.001 for dense bfloat16 models and 0.05 for 8-bit rollouts; compare weights and kernels.',
  },
  'log-probs-apart': {
    severity: 'warning',
    means:
      'Log-probs of single tokens differ between rollout engine and trainer by more than chance allows, so that these tokens decide every mean.',
    remedy:
      'Look at these tokens: one side scored another token, another context, or with other weights. The other statistics do not count them.',
  },
  'log-prob-not-finite': {
    severity: 'warning',
    means: 'Trained tokens have a log-prob of the engine or the trainer that is NaN or infinite.',
    remedy: 'Find which side wrote them: a ratio to such a log-prob is no number.',
  },
  'rows-apart': {
    severity: 'warning',
    means:
      'In some rows the mean KL divergence between rollout engine and trainer is far above that of the other rows.',
    remedy:
      'Compare what both sides saw of these rows: images, tools, templates, truncation. The log-probs of the others agree.',
  },
  'ratio-overflow': {
    severity: 'error',
    means:
      'An importance ratio is beyond the range of the arithmetic, so that loss and gradient are infinite or NaN.',
    remedy:
      'Find why one side finds these tokens impossible, and clamp the log-ratio: one of them spoils the update.',
  },
  'ratio-always-one': {
    severity: 'warning',
    means: 'Old and current log-probs are equal for every token of a later pass or update.',
    remedy: 'Store the old log-probs before the first update of the batch.',
  },
  'looks-bfloat16': {
    severity: 'warning',
    means: 'Every value of a log-prob column is a bfloat16 number.',
    remedy: 'Store log-probs in float32: a bfloat16 log-prob of −5 is off by up to 0.016.',
  },
  'gradient-scaled': {
    severity: 'warning',
    means: 'The stated gradient scale differs from the one that makes the update the stated aggregation.',
    remedy:
      'A constant such as the loss scale of mixed precision is fine; otherwise correct the factor of ranks or accumulation.',
  },
  'kl-without-gradient': {
    severity: 'error',
    means: 'The loss states a KL term, and the gradient coefficients have none.',
    remedy: 'Compute the KL term with gradients: log-probs under no_grad give a value and no gradient.',
  },
  'wrong-denominator': {
    severity: 'error',
    means: 'A micro-batch reports a denominator that its masks and the stated aggregation do not give.',
    remedy: 'Count the tokens that the aggregation states, over the micro-batches and ranks that it states.',
  },
  'wrong-reported-value': {
    severity: 'error',
    means:
      'A reported loss, clip fraction, KL or entropy is not what tokens, denominators and reduction give.',
    remedy: 'Correct the reduction of the value over micro-batches and ranks.',
  },
  'mean-without-number': {
    severity: 'error',
    means:
      'A reported mean over micro-batches is the sum of the recorded ones divided by no possible number of them.',
    remedy:
      'Look for the file of a rank that is missing; if all are there, the denominator of a micro-batch is not that of the step, or the sum was logged.',
  },
  'rank-file-missing': {
    severity: 'warning',
    means:
      'A step of a dump lacks the file of a rank, which other steps have or which a higher rank stands for.',
    remedy:
      'Copy the file of that rank beside the others: losses and denominators count the tokens of all ranks.',
  },
  'micro-batch-repeated': {
    severity: 'error',
    means: 'Two micro-batches of one pass have the same tokens and the same log-probs.',
    remedy: 'Find why a micro-batch is trained twice: another one is missing, or its gradient counts double.',
  },
  'empty-outputs': {
    severity: 'warning',
    means: 'Rows have a single trained token with a log-prob of 0, as an empty output has.',
    remedy:
      'Drop rollouts without an output before the groups are compared, or find why the engine returned none.',
  },
  'rollout-weights-low': {
    severity: 'warning',
    means:
      'The mean weight of the rollout correction is far below 1, so that it is the weights that decide the size of the update.',
    remedy: 'Compare the log-probs of engine and trainer; a correct engine gives weights near 1.',
  },
  'rows-untrained': {
    severity: 'warning',
    means: 'Rows of a training batch are in none of its mini-batches, so that they are never trained.',
    remedy: 'Compare the boundaries of the mini-batches with the number of rows.',
  },
  'padding-trained': {
    severity: 'error',
    means: 'Rows that the trainer added to fill the last micro-batches are trained.',
    remedy: 'Set the loss mask of the added rows to 0: they are copies of other rows.',
  },
  'shared-factor': {
    severity: 'error',
    means:
      'Numbers of many tokens have a factor that no single one of them shows in this precision, and their sum does.',
    remedy: 'Compare the denominators, scales and weights that these tokens share with the stated ones.',
  },
  'arithmetic-identified': {
    severity: 'warning',
    means: 'Another arithmetic than the stated one explains every gradient coefficient.',
    remedy: 'Correct the trainer, or the settings that the step states.',
  },
  'rank-repeated': {
    severity: 'warning',
    means: 'A rank recorded one optimizer step of one run twice, so that its ranks cannot be joined.',
    remedy: 'Verify each training on its own: remove the files that an earlier one left in the folder.',
  },
  'ranks-disagree': {
    severity: 'error',
    means: 'Ranks state different settings of one optimizer step.',
    remedy: 'Give every rank the same configuration.',
  },
  'last-token-untrained': {
    severity: 'error',
    means:
      'The last token that the policy generated is trained in no row, although the tokens before it are.',
    remedy: 'Train the token that ends a response: shift or extend the loss mask by one token.',
  },
  'versions-constant': {
    severity: 'warning',
    means: 'All tokens have the policy version 0 although the trainer has made updates.',
    remedy: 'Give each rollout the version of the weights that generated it.',
  },
} as const satisfies Readonly<Record<string, StepFindingKind>>;
export type StepFindingCode = keyof typeof STEP_FINDINGS;

/** A finding with its numbers. */
export function stepFinding(code: StepFindingCode, detail: string, rows: readonly number[] = []): Finding {
  const { severity, remedy } = STEP_FINDINGS[code];
  return { code, severity, rows: rows.slice(0, MAX_LISTED_ROWS), message: `${detail} ${remedy}` };
}
