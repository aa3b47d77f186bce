/** The token columns of a step: one table for files, the wire and the documentation. */

/** How a column is stored: `flag` 1 bit on the wire, `side` a uint8 from 0 to 2. */
export type ColumnType = 'float32' | 'int32' | 'flag' | 'side' | 'runs';

/** How much a capture records. Each profile has the columns of those before it. */
export type Profile = 'minimal' | 'standard' | 'full';

/** A token column. */
export interface ColumnKind {
  readonly type: ColumnType;
  /** The first profile that has it. */
  readonly profile: Profile;
  /** What it means, for the documentation. */
  readonly means: string;
}

const column = (type: ColumnType, profile: Profile, means: string): ColumnKind => ({ type, profile, means });

/** Every token column but `offset`, by its key in a file. */
export const TOKEN_COLUMNS = {
  mask: column('flag', 'minimal', 'true or 1 for tokens of the loss mask. Default: every token'),
  logProb: column('float32', 'minimal', 'log-prob under the current policy, as the loss consumed it'),
  oldLogProb: column(
    'float32',
    'minimal',
    'log-prob under the old (proximal) policy. Default: `logProb`, so that each ratio is 1',
  ),
  lossGradient: column(
    'float32',
    'minimal',
    'the gradient coefficient: derivative of the loss that the trainer passed to `backward()` by `logProb`',
  ),
  id: column('int32', 'standard', 'id of the trained token'),
  sampled: column('flag', 'standard', 'true or 1 for tokens that the policy generated'),
  rolloutLogProb: column('float32', 'standard', 'log-prob that the rollout engine reported'),
  reportedClipped: column(
    'side',
    'standard',
    '0 not clipped, 1 clipped, 2 dual clip, as the trainer counted it',
  ),
  kept: column(
    'flag',
    'full',
    'the loss mask after rejection: tokens that contribute to the loss. Default: `mask`',
  ),
  sampledId: column('int32', 'full', 'id that the rollout engine sampled'),
  position: column('int32', 'full', 'position of the token in its trajectory, which identifies the token'),
  policyVersion: column('runs', 'full', 'version of the policy that generated the token'),
  referenceLogProb: column('float32', 'full', 'log-prob under the reference policy'),
  reportedAdvantage: column(
    'float32',
    'full',
    'advantage that the loss consumed, if it differs within a row',
  ),
  reportedRatio: column('float32', 'full', 'importance ratio, as the trainer computed it'),
  rolloutWeight: column(
    'float32',
    'full',
    'weight of the rollout correction; the loss is recomputed with it',
  ),
  entropy: column('float32', 'full', 'entropy of the policy at the token'),
  reportedKl: column('float32', 'full', 'value of the KL estimator, without its coefficient'),
  reportedLoss: column(
    'float32',
    'full',
    'policy loss of the token with its weight, before mask and denominator, without the KL term',
  ),
} as const satisfies Readonly<Record<string, ColumnKind>>;

/** Key of a token column. */
export type ColumnKey = keyof typeof TOKEN_COLUMNS;

/** All keys, in the order of the table. */
export const COLUMN_KEYS = Object.keys(TOKEN_COLUMNS) as readonly ColumnKey[];

const PROFILES: readonly Profile[] = ['minimal', 'standard', 'full'];
const BYTES: Readonly<Record<ColumnType, number>> = { float32: 4, int32: 4, flag: 1 / 8, side: 1, runs: 0 };

/** The columns of a profile. */
export function columnsOf(profile: Profile): ColumnKey[] {
  const rank = PROFILES.indexOf(profile);
  return COLUMN_KEYS.filter((key) => PROFILES.indexOf(TOKEN_COLUMNS[key].profile) <= rank);
}

/** Bytes that a token takes on the wire. Policy versions come in runs, which take about none. */
export function bytesPerToken(profile: Profile): number {
  return columnsOf(profile).reduce((sum, key) => sum + BYTES[TOKEN_COLUMNS[key].type], 0);
}
