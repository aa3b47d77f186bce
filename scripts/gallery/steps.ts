// Ten public bugs of the training step after the advantage, as files of optimizer steps: the bug as planted for the tests, and the right step.
import type { StepBatch } from '../../packages/echelon-verify/src/format/step-batch.ts';
import { PLANTED } from '../../packages/echelon-verify/test/step/planted.ts';

/** A bug of a training step. */
export interface StepBug {
  /** File name in docs/gallery, without its end. */
  readonly name: string;
  readonly title: string;
  readonly link: string;
  /** What the trainer did, in one or two sentences. */
  readonly mistake: string;
  /** Begins the source of the planted bug. */
  readonly planted: string;
  /** The command that shows the cause. */
  readonly command: 'explain' | 'identify' | 'verify';
  /** What else the reader must know about the outcome. */
  readonly remark?: string;
  /** Exit status of `verify`. Default: 1. */
  readonly status?: number;
}

export const STEP_BUGS: readonly StepBug[] = [
  {
    name: 'skyrl-1296',
    title: 'SkyRL: `token_mean` was a mean of micro-batch means',
    link: 'https://github.com/NovaSky-AI/SkyRL/pull/1296',
    mistake:
      'Each micro-batch divided by its own tokens, so that a token of a short micro-batch moved the policy more than one of a long micro-batch.',
    planted: 'SkyRL #1296',
    command: 'identify',
  },
  {
    name: 'prime-rl-2562',
    title: 'prime-rl: each rank divided by its own token count',
    link: 'https://github.com/PrimeIntellect-ai/prime-rl/pull/2562',
    mistake: 'The loss is a mean over the tokens of all ranks. Each rank took its own number of tokens.',
    planted: 'prime-rl #2562',
    command: 'explain',
  },
  {
    name: 'trl-6439',
    title: 'TRL: truncated completions stayed in the denominator',
    link: 'https://github.com/huggingface/trl/pull/6439',
    mistake: 'Tokens of truncated completions were masked in the loss and counted in `num_items_in_batch`.',
    planted: 'TRL #6439',
    command: 'identify',
  },
  {
    name: 'ms-swift-10116',
    title: 'ms-swift: the gradient was divided by the accumulation steps once more',
    link: 'https://github.com/modelscope/ms-swift/pull/10116',
    mistake:
      'The denominator holds the tokens of the whole accumulation window. The base trainer divided by the number of its steps again.',
    planted: 'ms-swift #10116',
    command: 'explain',
  },
  {
    name: 'rlinf-29',
    title: 'RLinf: the dual clip had no effect',
    link: 'https://github.com/RLinf/RLinf/pull/29',
    mistake: 'Tokens with a negative advantage and a large ratio kept their gradient.',
    planted: 'RLinf #29',
    command: 'identify',
  },
  {
    name: 'liger-1082',
    title: 'Liger kernel: the rollout weight was ignored',
    link: 'https://github.com/linkedin/Liger-Kernel/issues/1082',
    mistake:
      'The fused loss accepted the weights between rollout engine and trainer and did not multiply by them.',
    planted: 'Liger #1082',
    command: 'identify',
  },
  {
    name: 'skyrl-1353',
    title: 'SkyRL: the KL term was reported and not trained',
    link: 'https://github.com/NovaSky-AI/SkyRL/pull/1353',
    mistake: 'The KL term was computed under `no_grad`: its value is right, and its gradient is 0.',
    planted: 'SkyRL #1353',
    command: 'explain',
    remark: 'No value of the loss shows this bug. Only the gradient coefficients do.',
  },
  {
    name: 'trl-5224',
    title: 'TRL: a tool loop trained other tokens than were sampled',
    link: 'https://github.com/huggingface/trl/issues/5224',
    mistake: 'The conversation was decoded and tokenized again, which gave other token ids in places.',
    planted: 'TRL #5224',
    command: 'explain',
    remark: 'The arithmetic of the token is right, but it is another token.',
  },
  {
    name: 'trl-6789',
    title: 'TRL: the rollout engine renormalised its log-probs after top-p',
    link: 'https://github.com/huggingface/trl/issues/6789',
    mistake:
      'The engine divided the probabilities by the mass that top-p kept, 0.9 here. The trainer did not, so each ratio is a tenth too small.',
    planted: 'TRL #6789',
    command: 'verify',
    remark:
      'Two engines never agree token by token, so this is a finding with a standard error and no wrong token: `verify` exits with status 3.',
    status: 3,
  },
  {
    name: 'verl-4778',
    title: 'verl: a reported loss was divided by the micro-batches once more',
    link: 'https://github.com/verl-project/verl/pull/4778',
    mistake:
      'Losses of micro-batches are parts of a sum, and the metric was their mean. The training was right, its curve was not.',
    planted: 'verl #4778',
    command: 'identify',
  },
];

/** A bug as the content of a file, with the bug or without it. */
export function stepFileOf({ planted, title }: StepBug, version: 'right' | 'wrong'): object {
  const bug = PLANTED.find(({ source }) => source.startsWith(planted));
  const batch = version === 'wrong' ? bug?.batch() : bug?.right?.();
  if (batch === undefined) throw new Error(`no planted bug with both versions: ${planted}`);
  return {
    format: 'echelon-batch/3',
    batches: [{ ...inFile(batch), note: `${title} (${version} version)` }],
  };
}

/** A step as the format writes it. */
function inFile({ step, microBatch, reportedAdvantage, tokens, name }: StepBatch): object {
  const { policyLoss, ...settings } = step;
  return {
    name,
    step: { ...settings, policyLoss: { name: policyLoss!.name, ...policyLoss!.params } },
    microBatch: [...microBatch!],
    reported: { advantage: numbers(reportedAdvantage!) },
    tokens: Object.fromEntries(
      Object.entries(tokens).map(([key, column]) => [key, numbers(column as Float32Array)]),
    ),
  };
}

/** Values of a column; of float32, the shortest decimals that give them. */
function numbers(column: Float32Array | Int32Array | Uint8Array): number[] {
  return Array.from(column, (value) => {
    for (let digits = 6; digits < 9; digits++)
      if (Math.fround(Number(value.toPrecision(digits))) === value) return Number(value.toPrecision(digits));
    return column instanceof Float32Array ? Number(value.toPrecision(9)) : value;
  });
}
