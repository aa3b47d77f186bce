/** Public bugs of training steps, planted into simulated steps. Numbers and sources are those of the trainers' repositories. */

import { roundToBfloat16 } from '../../src/arithmetic/arithmetic.ts';
import type { StepBatch } from '../../src/format/step-batch.ts';
import type { CorrectionSettings, KlSettings, StepSettings } from '../../src/format/step-settings.ts';
import {
  type Arithmetic,
  count,
  gradients,
  PER_RANK,
  RANKS,
  type Rollouts,
  random,
  rollouts,
  simulated,
  statedSettings,
} from './simulate-step.ts';

/** A planted bug. */
export interface Planted {
  /** Where the bug was public. */
  readonly source: string;
  readonly what: string;
  readonly batch: () => StepBatch;
  /** The same step of a trainer without the bug. */
  readonly right?: () => StepBatch;
  /** What must find it: a stage with wrong tokens, a finding, or a reported value. */
  readonly found: { readonly stage: string } | { readonly finding: string } | { readonly value: string };
  /** What `identify` or `explain` must say; undefined: the bug is found and not named. */
  readonly named?: RegExp;
  /** The arithmetic of the trainer with the bug, from which it would report losses and denominators. */
  readonly computed?: {
    readonly from: Rollouts;
    readonly faults: Partial<Arithmetic>;
    /** Of the same trainer without the bug. */
    readonly right?: Partial<Arithmetic>;
  };
}

const KL: KlSettings = { estimator: 'k3', coefficient: 0.05, placement: 'loss', weight: 'none' };
const klGradient = ({ logProb, reference }: Rollouts, t: number): number =>
  -0.05 * Math.expm1(reference[t]! - logProb[t]!);
const k3 = ({ logProb, reference }: Rollouts, t: number): number => {
  const x = logProb[t]! - reference[t]!;
  return Math.expm1(-x) + x;
};
const TIS: CorrectionSettings = {
  level: 'token',
  statistic: 'ratio',
  action: 'truncate',
  high: 1.5,
  appliesTo: 'policy',
  keptWeight: 'statistic',
};
const ratioOf = ({ old, rollout }: Rollouts, t: number): number =>
  Math.exp(Math.fround(old[t]! - rollout[t]!));

/** Mean or sum of log-ratios to the rollout policy over the mask of a row. */
function rowLog({ offset, mask, old, rollout }: Rollouts, row: number, isMean: boolean): number {
  let sum = 0;
  let tokens = 0;
  for (let t = offset[row]!; t < offset[row + 1]!; t++) {
    sum += mask[t]! * (old[t]! - rollout[t]!);
    tokens += mask[t]!;
  }
  return isMean ? sum / tokens : sum;
}

const inMicroBatch = (from: Rollouts, row: number, flags = from.mask): number =>
  count(from, flags, (at) => at === from.microBatch[row]);
const everything = (from: Rollouts, flags: Uint8Array): number => count(from, flags, () => true);
const ones = (from: Rollouts): Uint8Array => from.mask.map(() => 1);
const rowsOf = (from: Rollouts, row: number): number =>
  from.microBatch.filter((at) => at === from.microBatch[row]).length;
const rowTokens = ({ offset, mask }: Rollouts, row: number): number =>
  mask.slice(offset[row], offset[row + 1]).reduce((sum, flag) => sum + flag, 0);

/** A bug of the gradient coefficient. */
function gradientBug(
  source: string,
  what: string,
  {
    named,
    ...how
  }: {
    named?: RegExp;
    faults: Partial<Arithmetic>;
    /** The stated arithmetic, if it is not the simulation's own. */
    right?: Partial<Arithmetic>;
    settings?: Partial<StepSettings>;
    tokens?: (from: Rollouts) => Partial<StepBatch['tokens']>;
  },
): Planted {
  const computed = (faults: Partial<Arithmetic>) => () => {
    const from = rollouts();
    return simulated({ from, faults, settings: how.settings ?? {}, tokens: how.tokens?.(from) ?? {} });
  };
  return {
    source,
    what,
    found: { stage: 'gradient' },
    ...(named && { named }),
    batch: computed(how.faults),
    right: computed(how.right ?? {}),
    computed: { from: rollouts(), faults: how.faults, right: how.right ?? {} },
  };
}

const perMicroBatch = { divisor: inMicroBatch, scale: 1 / PER_RANK };
const kept = (from: Rollouts) => ({ kept: from.kept });
const isKept = { trained: (from: Rollouts, t: number) => from.kept[t] === 1 };
const counting = (counts: 'mask' | 'kept' | 'sampled' | 'all') => ({
  aggregation: { mode: 'token-mean', scope: 'global', counts, rowCount: 'all' } as const,
});

const DENOMINATORS: readonly Planted[] = [
  gradientBug('SkyRL #1296', 'token_mean is a mean of micro-batch means', {
    faults: perMicroBatch,
    named: /token-mean per micro-batch; you said token-mean over all ranks/,
  }),
  gradientBug('verl #7200, #7225', 'loss normalised per micro-batch, and summed', {
    faults: { divisor: inMicroBatch, scale: 1 },
    named: /token-mean per micro-batch.*and an extra factor × 3/,
  }),
  gradientBug('prime-rl #2562', 'each rank divides by its own token count', {
    faults: {
      divisor: (from, row) =>
        count(
          from,
          from.mask,
          (at) => Math.floor(at / PER_RANK) === Math.floor(from.microBatch[row]! / PER_RANK),
        ),
      scale: 1,
    },
    named: /token-mean per rank/,
  }),
  gradientBug('prime-rl #1961; verl #3332, #3994', 'mean of local means over ranks and accumulation', {
    faults: perMicroBatch,
    named: /token-mean per micro-batch/,
  }),
  gradientBug('Liger #1202, TRL #5690', 'num_items_in_batch is missing', {
    faults: perMicroBatch,
    named: /token-mean per micro-batch/,
  }),
  gradientBug(
    'verl #5625; Trinity-RFT #336; open-instruct #1161',
    'token means weighted by shares of the rows',
    {
      faults: {
        divisor: (from, row) => (inMicroBatch(from, row) * from.microBatch.length) / rowsOf(from, row),
      },
      named: /token-mean-by-rows/,
    },
  ),
  gradientBug('slime #365', 'the denominator counts tool tokens', {
    faults: { divisor: (from) => everything(from, ones(from)) },
    named: /counting all tokens/,
  }),
  gradientBug('TRL #6439', 'truncated completions leave the numerator, not the denominator', {
    faults: { divisor: (from) => everything(from, ones(from)) },
    named: /counting all tokens/,
  }),
  gradientBug('slime #657', 'rejected tokens leave the denominator', {
    faults: { ...isKept, divisor: (from) => everything(from, from.kept) },
    right: isKept,
    tokens: kept,
    named: /counting tokens that rejection kept/,
  }),
  gradientBug('verl #4852', 'rejected tokens stay in the denominator', {
    faults: isKept,
    right: { ...isKept, divisor: (from) => everything(from, from.kept) },
    tokens: kept,
    settings: counting('kept'),
    named: /counting tokens of the loss mask/,
  }),
  gradientBug('verl #5366, #3741', 'seq-mean-token-sum without a row mean', {
    faults: { divisor: () => 1 },
    right: { divisor: (from) => from.microBatch.length },
    settings: {
      aggregation: { mode: 'seq-mean-token-sum', scope: 'global', counts: 'mask', rowCount: 'all' },
    },
    named: /token-sum/,
  }),
  gradientBug('verl #5417', 'the factor of the ranks is missing', {
    faults: { scale: 1 },
    named: /÷ 2 \(ranks\)/,
  }),
  gradientBug('TRL #6024 (#5619)', 'loss times accumulation steps over steps per generation', {
    faults: { scale: RANKS * PER_RANK },
    named: /× 3 \(micro-batches of a rank\)/,
  }),
  gradientBug('ms-swift #10116', 'divided by the accumulation steps once more', {
    faults: { scale: RANKS / PER_RANK },
    named: /÷ 3 \(micro-batches of a rank\)/,
  }),
  gradientBug('ms-swift #10084', 'the last, shorter window is divided by the full size', {
    faults: { scale: (RANKS * PER_RANK) / 4 },
    named: /is 0.75 times the expected one/,
  }),
  gradientBug('slime #987', 'the per-token loss is scaled twice', {
    faults: { scale: RANKS * RANKS },
    named: /× 2 \(ranks\)/,
  }),
  gradientBug('slime #990; SkyRL #1420', 'the context-parallel factor is missing', {
    faults: { scale: RANKS / 4 },
    settings: { contextParallelSize: 4 },
    named: /÷ 4 \(context-parallel size\)/,
  }),
  gradientBug('SkyRL #1751', 'the context-parallel factor is applied twice', {
    faults: { scale: RANKS * 4 },
    settings: { contextParallelSize: 4 },
    named: /× 4 \(context-parallel size\)/,
  }),
  gradientBug('Relax #173', 'gradient times micro-batches and ranks', {
    faults: { scale: RANKS * RANKS * PER_RANK },
    named: /× 6 \(ranks times micro-batches\)/,
  }),
  gradientBug('slime --calculate-per-token-loss', 'an empty row counts as one token', {
    faults: { divisor: (from) => everything(from, from.mask) + 1 },
    tokens: (from) => ({ mask: from.mask.map((flag, t) => (t < from.offset[1]! ? 0 : flag)) }),
  }),
  gradientBug('sums of bfloat16 masks', 'the denominator is counted in bfloat16', {
    faults: { divisor: (from) => roundToBfloat16(everything(from, from.mask)) },
  }),
];

/** The two above need rollouts of their own. */
function emptyRow(): Rollouts {
  const from = rollouts();
  return { ...from, mask: from.mask.map((flag, t) => (t < from.offset[1]! ? 0 : flag)) };
}
const SPECIAL: readonly Planted[] = [
  {
    ...DENOMINATORS.at(-2)!,
    named: /an empty row counts as one token/,
    batch: () => {
      const from = emptyRow();
      return simulated({ from, faults: { divisor: (own) => everything(own, own.mask) + 1 } });
    },
    right: () => simulated({ from: emptyRow() }),
    computed: { from: emptyRow(), faults: { divisor: (own) => everything(own, own.mask) + 1 } },
  },
  {
    ...DENOMINATORS.at(-1)!,
    named: /the count in bfloat16/,
    batch: () => {
      const from = rollouts(3, 60);
      return simulated({ from, faults: { divisor: (own) => roundToBfloat16(everything(own, own.mask)) } });
    },
    right: () => simulated({ from: rollouts(3, 60) }),
    computed: {
      from: rollouts(3, 60),
      faults: { divisor: (own) => roundToBfloat16(everything(own, own.mask)) },
    },
  },
];

const LOSSES: readonly Planted[] = [
  gradientBug(
    'verl YAML: clip_ratio alone has no effect',
    'the gradient stops at 0.2, the setting says 0.28',
    {
      faults: { clipHigh: 0.2 },
      named: /clipHigh is 0.2, between 0.18\d* and 0.20\d*; you said 0.28/,
    },
  ),
  gradientBug('RLinf #29', 'dual clip without effect', {
    faults: { dualClip: Number.POSITIVE_INFINITY },
    named: /dualClip is off; you said 3/,
  }),
  gradientBug('torchforge #571', 'the ratio is always 1', {
    faults: { logRatio: () => 0 },
    named: /the ratio is 1 for every token/,
  }),
  gradientBug('TRL #6945', 'rollout log-probs are used as the old ones', {
    faults: { logRatio: ({ logProb, rollout }, t) => logProb[t]! - rollout[t]! },
    tokens: ({ rollout }) => ({ rolloutLogProb: rollout }),
    named: /rollout engine.s log-probs are used as the old ones/,
  }),
  gradientBug('SkyRL #1053', 'cross-entropy is trained, whatever loss was asked', {
    faults: { policy: () => -1 },
    named: /the loss is cross-entropy/,
  }),
  gradientBug('TRL and ms-swift CISPO at defaults', 'the ratio is capped at 0.28, not at 1.28', {
    faults: { policy: (advantage, ratio) => -Math.min(ratio, 0.28) * advantage },
    right: { policy: (advantage, ratio) => -Math.min(ratio, 1.28) * advantage },
    settings: { policyLoss: { name: 'cispo', params: { clipLow: null, clipHigh: 0.28 } } },
    named: /cap is 0.28|capped at 0.28/,
  }),
  gradientBug('verl #2506', 'advantages are passed as the mask', {
    faults: {
      policy: (advantage, ratio) =>
        (advantage > 0 && ratio > 1.28) || (advantage < 0 && (ratio < 0.8 || ratio > 3))
          ? 0
          : -advantage * advantage * ratio,
    },
  }),
  gradientBug('miles #1966', 'the gradient goes through the old log-probs as well', {
    faults: { policy: () => 0 },
    named: /no trained token has a gradient/,
  }),
  gradientBug('unsloth-zoo #1286', 'a fully masked batch divides 0 by 0', {
    faults: { divisor: () => Number.NaN },
    named: /not numbers/,
  }),
];

const truncated = (from: Rollouts, t: number): number => Math.min(1.5, ratioOf(from, t));
const rolloutColumn = ({ rollout }: Rollouts) => ({ rolloutLogProb: rollout });
const WEIGHTS: readonly Planted[] = [
  gradientBug('Liger #1082, #1088; TRL #5031; open-instruct #1735', 'the rollout weight is ignored', {
    faults: {},
    right: { weight: truncated },
    settings: { rolloutCorrection: TIS },
    tokens: rolloutColumn,
    named: /the rollout weight is missing/,
  }),
  gradientBug('TRL #5814', 'the sequence weight is a sum of log-ratios, not their mean', {
    faults: { weight: (from, _t, row) => Math.min(1.5, Math.exp(rowLog(from, row, false))) },
    right: { weight: (from, _t, row) => Math.min(1.5, Math.exp(rowLog(from, row, true))) },
    settings: { rolloutCorrection: { ...TIS, level: 'sequence', statistic: 'mean' } },
    tokens: rolloutColumn,
    named: /from the sum of its log-ratios/,
  }),
  gradientBug('arcee NeMo-RL #24', 'IcePop is ignored: the weight is capped, not masked', {
    faults: { weight: truncated },
    right: { weight: (from, t) => (ratioOf(from, t) > 1.5 ? 0 : ratioOf(from, t)) },
    settings: { rolloutCorrection: { ...TIS, action: 'mask' } },
    tokens: rolloutColumn,
    named: /truncated at the limits/,
  }),
  gradientBug('ms-swift: weight on the KL term', 'the rollout weight multiplies the KL term', {
    faults: { weight: truncated, kl: (from, t) => klGradient(from, t) * truncated(from, t) },
    right: { weight: truncated, kl: klGradient },
    settings: { rolloutCorrection: TIS, kl: KL },
    tokens: ({ rollout, reference }) => ({ rolloutLogProb: rollout, referenceLogProb: reference }),
    named: /multiplies the KL term as well/,
  }),
  gradientBug('verl-agent, Flash-RL configurations', 'a weight is applied that is not stated', {
    faults: { weight: (from, t) => Math.min(2, ratioOf(from, t)) },
    tokens: rolloutColumn,
    named: /a rollout weight without a limit multiplies the loss/,
  }),
];

const referenceColumn = ({ reference }: Rollouts) => ({ referenceLogProb: reference });
const KLS: readonly Planted[] = [
  gradientBug('SkyRL #1353', 'the KL term is computed under no_grad', {
    faults: {},
    right: { kl: klGradient },
    settings: { kl: KL },
    tokens: referenceColumn,
    named: /the KL term has no gradient/,
  }),
  gradientBug('NeMo-RL #2506', 'the KL term lacks the gradient of the sampling probability', {
    faults: { kl: klGradient },
    right: { kl: (from, t) => klGradient(from, t) + 0.05 * k3(from, t) },
    settings: { kl: { ...KL, weight: 'probability' } },
    tokens: referenceColumn,
    named: /the KL term has no ratio as a factor/,
  }),
  gradientBug('RLinf #129', 'the KL term has another estimator', {
    right: { kl: klGradient },
    faults: { kl: ({ logProb, reference }, t) => 0.05 * (logProb[t]! - reference[t]!) },
    settings: { kl: KL },
    tokens: referenceColumn,
    named: /that of k2; you said k3/,
  }),
  gradientBug(
    'SkyRL: KL denominator',
    'the KL term has row means of the micro-batch, the policy a token mean',
    {
      faults: {
        kl: klGradient,
        klDivisor: (from, row) => rowsOf(from, row) * rowTokens(from, row) * PER_RANK * RANKS,
      },
      right: { kl: klGradient },
      settings: { kl: KL },
      tokens: referenceColumn,
      named: /mean of row means of its micro-batch/,
    },
  ),
];

type MakeColumns = (from: Rollouts) => {
  tokens?: Partial<StepBatch['tokens']>;
  settings?: Partial<StepSettings>;
  batch?: Partial<StepBatch>;
};

/** Steps whose columns are wrong, and whose gradients are not the point. */
function columnBug(
  source: string,
  what: string,
  found: Planted['found'],
  make: MakeColumns,
  right?: MakeColumns,
): Planted {
  const made = (columns: MakeColumns) => () => {
    const from = rollouts(11, 40);
    const { tokens = {}, settings = {}, batch = {} } = columns(from);
    return { ...simulated({ from, tokens, settings }), ...batch };
  };
  return { source, what, found, batch: made(make), ...(right && { right: made(right) }) };
}

const ids = ({ mask }: Rollouts) => Int32Array.from(mask, (_, t) => 100 + ((t * 37) % 900));
const positions = ({ offset }: Rollouts) => {
  const column = new Int32Array(offset.at(-1)!);
  for (let row = 0; row + 1 < offset.length; row++)
    for (let t = offset[row]!; t < offset[row + 1]!; t++) column[t] = t - offset[row]!;
  return column;
};
const names = (ofRows: readonly number[]) => ({
  ids: Int32Array.from(ofRows),
  names: ofRows.map((_, at) => `t${at}`),
});

const COLUMNS: readonly Planted[] = [
  columnBug(
    'TRL #5224, #5238, #5239',
    'trained ids differ from the sampled ones',
    { stage: 'tokens' },
    (from) => ({
      tokens: { sampledId: ids(from), id: ids(from).map((id, t) => (t % 20 === 3 ? id + 1 : id)) },
    }),
    (from) => ({ tokens: { sampledId: ids(from), id: ids(from) } }),
  ),
  columnBug(
    'rLLM #816',
    'ids of a second tokenization, log-probs padded with 0',
    { finding: 'log-prob-placeholder' },
    (from) => ({
      tokens: { rolloutLogProb: from.rollout.map((value, t) => (t % 40 < 8 ? 0 : value)) },
    }),
  ),
  columnBug('slime #1995', 'rollout log-probs are dropped', { finding: 'log-prob-placeholder' }, (from) => ({
    tokens: { rolloutLogProb: from.rollout.map(() => 0) },
  })),
  columnBug(
    'slime #245',
    'rollout log-probs are stored as bfloat16',
    { finding: 'looks-bfloat16' },
    (from) => ({
      tokens: { rolloutLogProb: from.rollout.map(roundToBfloat16) },
    }),
  ),
  columnBug(
    'prime-rl #2975',
    'tokens that branches share are trained once per branch',
    { stage: 'once' },
    (from) => ({
      tokens: { position: positions(from) },
      batch: { trajectory: names(Array.from(from.microBatch, (_, row) => Math.floor(row / 2))) },
    }),
  ),
  columnBug('NeMo-RL #2176', 'the mask holds prompt tokens', { stage: 'mask' }, (from) => ({
    tokens: { sampled: positions(from).map((at) => (at < 2 ? 0 : 1)) as unknown as Uint8Array },
  })),
  columnBug('AReaL #941', 'all policy versions are 0', { finding: 'versions-constant' }, (from) => ({
    tokens: { policyVersion: new Int32Array(from.mask.length) },
  })),
  columnBug(
    'miles #1829 (guard)',
    'tokens are older than the stated staleness',
    { stage: 'versions' },
    (from) => ({
      tokens: { policyVersion: new Int32Array(from.mask.length).fill(8) },
      settings: { maxStaleness: 2 },
    }),
  ),
];

/** A step whose log-probs of both engines are drawn from one distribution, then one side is changed. */
function enginePair(
  from: Rollouts,
  change: (from: { old: Float32Array; engine: Float32Array; next: () => number }) => Float32Array,
) {
  const next = random(99);
  // Spread like log-probs of text: many near 0, some far from it.
  const old = from.old.map(() => Math.min(-1e-4, 1.2 * Math.log(1 - next())));
  const engine = old.map((value) => Math.min(-1e-5, value + 0.01 * (next() - 0.5)));
  const rollout = change({ old, engine, next });
  const own = { ...from, old, logProb: old, rollout };
  return { tokens: { oldLogProb: old, logProb: old, rolloutLogProb: rollout, lossGradient: gradients(own) } };
}

const ENGINES: readonly Planted[] = [
  columnBug(
    'TRL #6789',
    'the engine’s log-probs are renormalised after top-p',
    { finding: 'support-truncated' },
    (from) => enginePair(from, ({ engine }) => engine.map((value) => value - Math.log(0.9))),
    (from) => enginePair(from, ({ engine }) => engine),
  ),
  columnBug(
    'TRL #4159; NeMo-RL #3392; prime-rl #697; verl #3133; slime #557',
    'one side has no temperature',
    { finding: 'temperature-mismatch' },
    (from) => enginePair(from, ({ engine }) => engine.map((value) => value * 1.6)),
  ),
  columnBug(
    'ms-swift #8427; SkyRL #1367',
    'log-probs are shifted by one token',
    { finding: 'log-probs-shifted' },
    (from) => enginePair(from, ({ engine }) => engine.map((_, t) => engine[Math.max(0, t - 1)]!)),
  ),
  columnBug(
    'NeMo-RL #3297',
    'the log-prob of the likeliest token is reported',
    { finding: 'wrong-token' },
    (from) => enginePair(from, ({ engine }) => engine.map((value) => (value < -2.5 ? -0.3 : value))),
  ),
];

/** Reported values that are wrong; the gradients are right. */
function valueBug(
  source: string,
  what: string,
  {
    value,
    named,
    ...how
  }: {
    value: keyof StepSettings['reported'];
    named?: RegExp;
    reported: (right: StepBatch) => StepSettings['reported'];
    right?: (right: StepBatch) => StepSettings['reported'];
    settings?: Partial<StepSettings>;
    tokens?: (from: Rollouts) => Partial<StepBatch['tokens']>;
    faults?: Partial<Arithmetic>;
  },
): Planted {
  const reporting = (reported: typeof how.reported) => () => {
    const from = rollouts();
    const { faults = {}, settings = {} } = how;
    const right = simulated({ from, faults, settings, tokens: how.tokens?.(from) ?? {} });
    return { ...right, step: { ...right.step, reported: reported(right) } };
  };
  return {
    source,
    what,
    found: { value },
    ...(named && { named }),
    batch: reporting(how.reported),
    ...(how.right && { right: reporting(how.right) }),
  };
}

/** Sums over trained tokens of each micro-batch: policy loss, clipped tokens, tokens. */
function sumsOf({ tokens, microBatch, reportedAdvantage, rows }: StepBatch) {
  const sums = statedSettings().microBatches.map(() => ({ loss: 0, clipped: 0, tokens: 0, kl: 0 }));
  for (let row = 0; row < rows; row++) {
    const own = sums[microBatch![row]!]!;
    const advantage = reportedAdvantage![row]!;
    for (let t = tokens.offset[row]!; t < tokens.offset[row + 1]!; t++) {
      if (tokens.mask![t] === 0) continue;
      const ratio = Math.exp(tokens.logProb![t]! - tokens.oldLogProb![t]!);
      const isClipped = advantage > 0 ? ratio > 1.28 : advantage < 0 && ratio < 0.8;
      const isDual = advantage < 0 && ratio > 3;
      own.loss += -advantage * (advantage > 0 ? Math.min(ratio, 1.28) : Math.min(3, Math.max(ratio, 0.8)));
      own.clipped += isClipped && !isDual ? 1 : 0;
      own.tokens++;
      const x = tokens.logProb![t]! - (tokens.referenceLogProb?.[t] ?? tokens.logProb![t]!);
      own.kl += Math.expm1(-x) + x;
    }
  }
  return sums;
}
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** Mean of oldLogProb − logProb over the flagged tokens. */
function meanKl({ oldLogProb, logProb }: StepBatch['tokens'], flags: Uint8Array): number {
  const all = flags.reduce((total, flag, t) => total + flag * (oldLogProb![t]! - logProb![t]!), 0);
  return all / flags.reduce((total, flag) => total + flag, 0);
}

const VALUES: readonly Planted[] = [
  valueBug('verl #4778', 'a loss that is divided by the count is averaged over micro-batches once more', {
    value: 'policyLoss',
    reported: (right) => {
      const sums = sumsOf(right);
      const value =
        sum(sums.map(({ loss }) => (loss * RANKS) / sum(sums.map(({ tokens }) => tokens)))) / sums.length;
      return { policyLoss: { value, reduction: 'sum-of-micro-batches' } };
    },
    right: (right) => {
      const sums = sumsOf(right);
      const value = sum(sums.map(({ loss }) => loss)) / sum(sums.map(({ tokens }) => tokens));
      return { policyLoss: { value, reduction: 'sum-of-micro-batches' } };
    },
    named: /the mean of the micro-batches/,
  }),
  valueBug('prime-rl loss/mean; SkyRL #1893', 'the loss is divided by micro-batches and ranks once more', {
    value: 'policyLoss',
    reported: (right) => {
      const sums = sumsOf(right);
      const value = sum(sums.map(({ loss }) => loss)) / sum(sums.map(({ tokens }) => tokens)) / sums.length;
      return { policyLoss: { value, reduction: 'sum-of-micro-batches' } };
    },
    named: /divided by all micro-batches/,
  }),
  valueBug('verl-agent actor/kl_loss', 'only the last micro-batch is reported', {
    value: 'policyLoss',
    reported: (right) => {
      const sums = sumsOf(right);
      const value = (sums.at(-1)!.loss * RANKS) / sum(sums.map(({ tokens }) => tokens));
      return { policyLoss: { value, reduction: 'sum-of-micro-batches' } };
    },
    named: /the last micro-batch/,
  }),
  valueBug('RLinf #1475', 'the clip fraction is about 84 times too large', {
    value: 'clipFraction',
    reported: (right) => ({
      clipFraction: {
        value: 84 * sum(sumsOf(right).map(({ clipped, tokens }) => clipped / tokens / 6)),
        reduction: 'mean-of-micro-batches',
      },
    }),
  }),
  valueBug('mean of means', 'the clip fraction is a mean over tokens, stated as a mean of micro-batches', {
    value: 'clipFraction',
    reported: (right) => {
      const sums = sumsOf(right);
      const value = sum(sums.map(({ clipped }) => clipped)) / sum(sums.map(({ tokens }) => tokens));
      return { clipFraction: { value, reduction: 'mean-of-micro-batches' } };
    },
    named: /the mean over tokens/,
  }),
  valueBug('AReaL #1572', 'the ratio metric is measured on the mask after rejection', {
    value: 'approxKl',
    tokens: (from) => ({ kept: from.kept }),
    faults: isKept,
    reported: ({ tokens }) => {
      return { approxKl: { value: meanKl(tokens, tokens.kept!), reduction: 'tokens', counts: 'mask' } };
    },
    right: ({ tokens }) => {
      return { approxKl: { value: meanKl(tokens, tokens.mask!), reduction: 'tokens', counts: 'mask' } };
    },
    named: /the mean over tokens, over the tokens that rejection kept; you said tokens/,
  }),
  valueBug('rLLM #497', 'the mismatch metric includes tool tokens', {
    value: 'rolloutKl',
    tokens: rolloutColumn,
    reported: ({ tokens }) => {
      const gaps = Array.from(tokens.rolloutLogProb!, (value, t) => value - tokens.oldLogProb![t]!);
      return { rolloutKl: { value: sum(gaps) / gaps.length, reduction: 'tokens' } };
    },
  }),
  valueBug('slime #2114; SkyRL #1633', 'the logged KL holds values of masked tokens', {
    value: 'klLoss',
    settings: { kl: KL },
    faults: { kl: klGradient },
    tokens: referenceColumn,
    reported: (right) => {
      const sums = sumsOf({ ...right, tokens: { ...right.tokens, mask: right.tokens.mask!.map(() => 1) } });
      const masked = sum(sumsOf(right).map(({ tokens }) => tokens));
      return { klLoss: { value: sum(sums.map(({ kl }) => kl)) / masked, reduction: 'sum-of-micro-batches' } };
    },
  }),
];

/** Denominators that micro-batches report. */
function denominatorBug(
  source: string,
  what: string,
  value: (from: Rollouts, at: number) => number,
  named: RegExp,
): Planted {
  return {
    source,
    what,
    found: { stage: 'denominator' },
    named,
    batch: () => {
      const from = rollouts();
      const microBatches = statedSettings().microBatches.map((one, at) => ({
        ...one,
        reportedDenominator: value(from, at),
      }));
      return simulated({ from, settings: { microBatches } });
    },
  };
}

const REPORTED_DENOMINATORS: readonly Planted[] = [
  denominatorBug(
    'SkyRL #1296 (without gradients)',
    'reported denominators are those of the micro-batch',
    (from, at) => count(from, from.mask, (k) => k === at),
    /of the micro-batch/,
  ),
  denominatorBug(
    'slime #365 (without gradients)',
    'reported denominators count tool tokens',
    (from) => everything(from, ones(from)),
    /counted by all/,
  ),
];

/** Every planted bug. */
export const PLANTED: readonly Planted[] = [
  ...DENOMINATORS.slice(0, -2),
  ...SPECIAL,
  ...LOSSES,
  ...WEIGHTS,
  ...KLS,
  ...COLUMNS,
  ...ENGINES,
  ...VALUES,
  ...REPORTED_DENOMINATORS,
];

/** Bugs that no column of a step shows, with the reason. */
export const MISSED: readonly { readonly source: string; readonly why: string }[] = [
  {
    source: 'verl #6913; SkyRL #2008; Megatron-LM #6660',
    why: 'The fault lies behind the log-prob: a kernel without a gradient, cleared or doubled gradients. The gradient norm shows it.',
  },
  { source: 'verl #5635', why: 'The reward is wrong, and the step is computed rightly from it.' },
  {
    source: 'verl #6375; miles #1827; slime #1372; AReaL #1346',
    why: 'The advantage is wrong. Verification of the advantages finds it; the step takes advantages as given.',
  },
  {
    source: 'prime-rl #1650; miles #2782; SkyRL #1212',
    why: 'Old or partial weights generated tokens. The mean ratio stays 1; only the level of the mismatch grows.',
  },
  {
    source: 'NeMo-RL #3792',
    why: 'The format states no negative log-likelihood term beside the policy loss.',
  },
  {
    source: 'slime #1917',
    why: 'The off-policy mask has no setting in the format. State its result as the column kept.',
  },
  { source: 'miles #1968', why: 'Minima and maxima over ranks are no reported value of the format.' },
  {
    source: 'unsloth-zoo #870; Liger luspo',
    why: 'Not planted here. A test with TRL’s values covers the right arithmetic of both losses.',
  },
  { source: 'verl #6957', why: 'The critic’s loss is not verified.' },
];

/** Correct steps beside the bugs, which must stay without a finding. */
export function correctStep(): StepBatch {
  return simulated({});
}
