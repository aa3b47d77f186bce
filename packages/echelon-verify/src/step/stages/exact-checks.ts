/** Stages that are decided exactly, from integers and flags. */

import type { StepBatch, StepTokens } from '../../format/step-batch.ts';
import type { ExactOutcome, ExactStage, OnWrong } from './stage.ts';

/** Counts the tokens for which `isWrong` holds among those for which `counts` does. */
function count(
  { tokens: { offset }, rows }: StepBatch,
  onWrong: OnWrong,
  { counts, isWrong }: { counts: (t: number) => boolean; isWrong: (t: number) => boolean },
): ExactOutcome {
  const tokens = offset[rows]!;
  let right = 0;
  let wrong = 0;
  for (let token = 0; token < tokens; token++) {
    if (!counts(token)) continue;
    if (!isWrong(token)) right++;
    else {
      wrong++;
      onWrong(token);
    }
  }
  return { right, wrong };
}

type Check = ExactStage['check'];

/** Trained ids equal the sampled ones. Undefined without both columns. */
const checkIds: Check = (batch, onWrong) => {
  const { id, sampledId, mask } = batch.tokens;
  if (id === undefined || sampledId === undefined) return undefined;
  return count(batch, onWrong, { counts: (t) => mask?.[t] !== 0, isWrong: (t) => id[t] !== sampledId[t] });
};

/** The rules of the mask, as what a token does that breaks one. */
const MASK_RULES = [
  'kept although the mask does not hold it',
  'in the mask although it was not sampled',
  'outside of the mask with a gradient',
] as const;

/** Index of the rule that a token breaks; −1: none. */
function brokenRule({ mask, sampled, kept, lossGradient }: StepTokens, t: number): number {
  if (mask?.[t] === 0 && kept?.[t] === 1) return 0;
  if (mask?.[t] === 1 && sampled?.[t] === 0) return 1;
  return (kept ?? mask)?.[t] === 0 && lossGradient !== undefined && lossGradient[t] !== 0 ? 2 : -1;
}

/** What a token does that the mask forbids; undefined: nothing. */
export const maskFault = (tokens: StepTokens, token: number): string | undefined =>
  MASK_RULES[brokenRule(tokens, token)];

/** The mask holds sampled tokens only, `kept` is part of the mask, and no token outside has a gradient. Undefined without a column. */
const checkMask: Check = ({ tokens, rows }, onWrong) => {
  const { mask, sampled, kept, lossGradient, offset } = tokens;
  if (mask === undefined && kept === undefined) return undefined;
  if (sampled === undefined && kept === undefined && lossGradient === undefined) return undefined;
  const trained = kept ?? mask!;
  const count = offset[rows]!;
  const broken = MASK_RULES.map(() => 0);
  let wrong = 0;
  // One plain loop: this stage visits every token of every step.
  for (let t = 0; t < count; t++) {
    const isWrong =
      (mask?.[t] === 0 && kept?.[t] === 1) ||
      (mask?.[t] === 1 && sampled?.[t] === 0) ||
      (trained[t] === 0 && lossGradient !== undefined && lossGradient[t] !== 0);
    if (!isWrong) continue;
    broken[brokenRule(tokens, t)]! += 1;
    wrong++;
    onWrong(t);
  }
  const texts = broken.flatMap((times, rule) => (times === 0 ? [] : [`${times} ${MASK_RULES[rule]}`]));
  return { right: count - wrong, wrong, ...(wrong === 0 ? {} : { detail: texts.join(', ') }) };
};

/** No (trajectory, position) is trained twice in a pass. Undefined without the columns. In whole trajectories the place of a token is its position. */
const checkOnce: Check = (batch, onWrong) => {
  const { trajectory, microBatch, tokens, step, rows } = batch;
  const { position, mask, offset } = tokens;
  if (trajectory === undefined || (position === undefined && step.wholeTrajectories !== true))
    return undefined;
  const seen = new Map<string, Set<number>>();
  const isRepeated = new Uint8Array(offset[rows]!);
  for (let row = 0; row < rows; row++) {
    const pass = step.microBatches[microBatch?.[row] ?? 0]!.pass;
    const key = `${trajectory.ids[row]}/${pass}`;
    const positions = seen.get(key) ?? new Set();
    seen.set(key, positions);
    for (let t = offset[row]!; t < offset[row + 1]!; t++) {
      if (mask?.[t] === 0) continue;
      const at = position?.[t] ?? t - offset[row]!;
      if (positions.has(at)) isRepeated[t] = 1;
      else positions.add(at);
    }
  }
  return count(batch, onWrong, { counts: (t) => mask?.[t] !== 0, isWrong: (t) => isRepeated[t] === 1 });
};

/**
 * A token's version is at most the version of the weights that are trained, at most `maxStaleness` updates older, not older than
 * that of the token before it, and within the row's stated first and last version. Undefined without the columns.
 */
const checkVersions: Check = (batch, onWrong) => {
  const { tokens, step, rows, policyVersionStart: first, policyVersionEnd: last } = batch;
  const { policyVersion, mask, offset } = tokens;
  const { optimizerStep, maxStaleness = Number.POSITIVE_INFINITY } = step;
  if (optimizerStep === undefined || (policyVersion === undefined && first === undefined)) return undefined;
  const isWrong = new Uint8Array(offset[rows]!);
  for (let row = 0; row < rows; row++) {
    for (let t = offset[row]!; t < offset[row + 1]!; t++) {
      const version = policyVersion?.[t] ?? first![row]!;
      const before = t > offset[row]! ? policyVersion?.[t - 1] : undefined;
      const isPossible = version <= optimizerStep && optimizerStep - version <= maxStaleness;
      const inOrder = before === undefined || before <= version;
      const inRow = version >= (first?.[row] ?? version) && version <= (last?.[row] ?? version);
      isWrong[t] = isPossible && inOrder && inRow ? 0 : 1;
    }
  }
  return count(batch, onWrong, { counts: (t) => mask?.[t] !== 0, isWrong: (t) => isWrong[t] === 1 });
};

/** See {@link checkIds}. */
export const TOKENS: ExactStage = { needs: ['tokens.id', 'tokens.sampledId'], check: checkIds };

/** See {@link checkMask}. Without `sampled`, only that no other token has a gradient is verified. */
export const MASK: ExactStage = {
  needs: ['tokens.mask'],
  lacksBeside: ({ tokens }) => (tokens.sampled === undefined ? ['tokens.sampled'] : []),
  check: checkMask,
};

/** See {@link checkOnce}. */
export const ONCE: ExactStage = { needs: ['trajectory', 'tokens.position'], check: checkOnce };

/** See {@link checkVersions}. */
export const VERSIONS: ExactStage = {
  needs: ['tokens.policyVersion or policyVersionStart', 'step.optimizerStep'],
  check: checkVersions,
};
