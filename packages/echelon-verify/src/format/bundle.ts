/**
 * Replay bundles: one batch as a file that can be verified, estimated again and compared anywhere. The file is
 * `echelon-batch/1` or `/2` JSON in gzip, as read-json.ts reads it, with one key more: `bundle` says where the batch comes from
 * and what was found of it.
 */

import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { GOAL } from '../kernel/graph.ts';
import { TOKEN_COLUMNS } from '../kernel/stages/token-sequences.ts';
import type { BatchReport } from '../report/report.ts';
import { type Batch, batchFingerprint } from './batch.ts';
import { inflate, inflateStart, isGzip } from './inflate.ts';
import { canonicalText } from './observation.ts';

/** Where a bundle's batch comes from. */
export interface BundleOrigin {
  readonly experiment: string;
  readonly attempt: number;
  readonly batch: number;
  readonly step: number;
  /** SHA-256 of the batch as it was recorded (protobuf), hex. */
  readonly digest: string;
  /** The report that was stored; null: there was none yet. */
  readonly report: unknown;
  /** Version of the program that writes the bundle. */
  readonly version: string;
}

/** The value of `bundle`. */
export interface BundleHead extends BundleOrigin {
  readonly format: 'echelon-bundle/1';
  /** See {@link reportDigest}; null if there is no report. */
  readonly reportDigest: string | null;
  readonly fingerprint: string;
}

/** The origin of a bundle, and whether its stored report equals the report of this run. */
export interface BundleOf extends Pick<BundleHead, 'experiment' | 'attempt' | 'batch' | 'version'> {
  /** null: the bundle was written before its report. */
  readonly sameReport: boolean | null;
}

/** What is said of the bundle that a batch came in, beside the batch's report. */
export function bundleOf(head: BundleHead, report: BatchReport): BundleOf {
  const { experiment, attempt, batch, version, reportDigest: stored } = head;
  const sameReport = stored === null ? null : stored === reportDigest(report);
  return { experiment, attempt, batch, version, sameReport };
}

const OPENINGS = [1, 2].map((version) => `{"format":"echelon-batch/${version}",\n"bundle":`);
const BATCHES = ',\n"batches":';

/** The bundle of a batch: JSON in gzip, the same bytes for the same batch and origin. */
export function writeBundle(batch: Batch, origin: BundleOrigin): Uint8Array {
  const head: BundleHead = {
    format: 'echelon-bundle/1',
    ...origin,
    reportDigest: origin.report === null ? null : reportDigest(origin.report),
    fingerprint: batchFingerprint(batch.estimator, batch.provenance),
  };
  const opening = OPENINGS[batch.tokens === undefined ? 0 : 1]!;
  const parts = [`${opening}${JSON.stringify(head)}${BATCHES}[{\n`, members(batchMembers(batch)), '\n}]}\n'];
  // A file of one batch may be longer than the longest string.
  return gzipSync(Buffer.concat(parts.flat().map((part) => Buffer.from(part))));
}

/** What a file says that {@link writeBundle} wrote; undefined for any other. `file` names it in messages. */
export function readBundleHead(bytes: Uint8Array, file: string): BundleHead | undefined {
  if (!isGzip(bytes)) return undefined;
  const start = Buffer.from(inflateStart(bytes)).toString('latin1');
  const opening = OPENINGS.find((one) => start.startsWith(one));
  if (opening === undefined) return undefined;
  const text = Buffer.from(inflate(bytes, file));
  const end = text.indexOf(BATCHES);
  try {
    return JSON.parse(text.toString('utf8', opening.length, end)) as BundleHead;
  } catch {
    return undefined;
  }
}

/** SHA-256 of a report (hex), whatever the order of its keys: equal if two verifiers found the same. */
export function reportDigest(report: BatchReport | unknown): string {
  return createHash('sha256').update(sortedJson(report)).digest('hex');
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

type Member = readonly [key: string, json: string | readonly string[]];

function members(list: readonly Member[]): string[] {
  return list.flatMap(([key, json], at) => [
    at === 0 ? '' : ',\n',
    `${JSON.stringify(key)}:`,
    ...[json].flat(),
  ]);
}

function batchMembers(batch: Batch): Member[] {
  const { name, provenance, estimator, dictionary, observation } = batch;
  const { name: estimatorName, params, others, ...ofBatch } = estimator;
  const reported: Member[] = [
    ...column('stepReward', batch.reportedStepReward, numberText),
    ...column('advantage', batch.reportedAdvantage, numberText),
  ];
  return [
    ['name', JSON.stringify(name)],
    ['params', JSON.stringify({ estimator: estimatorName, ...others, ...params, ...ofBatch })],
    ...(provenance === undefined ? [] : [['provenance', JSON.stringify(provenance)] as const]),
    ...column('group', batch.group, namer(batch.groupNames)),
    ...column('trajectory', batch.trajectory, namer(batch.trajectoryNames)),
    ...column('step', batch.step, String),
    ...(observation === undefined || dictionary === undefined
      ? []
      : [
          ...column('observationIndex', observation, String),
          ...column('nextObservationIndex', batch.nextObservation, (id) =>
            id === GOAL ? 'null' : String(id),
          ),
          ['observations', `[${observationTexts(dictionary).join(',')}]`] as const,
        ]),
    ...(batch.action === undefined
      ? []
      : [
          ...column('actionIndex', batch.action, String),
          ['actions', JSON.stringify(batch.actionTexts ?? [])] as const,
        ]),
    ...column('reward', batch.reward, numberText),
    ...column('actionValid', batch.actionValid, String),
    ...column('tokenLevelRewardSum', batch.tokenLevelRewardSum, numberText),
    ...rewardMembers(batch.rewards),
    ...column('rewardBaseline', batch.rewardBaseline, numberText),
    ...column('responseLength', batch.responseLength, String),
    ...tokenMembers(batch.tokens),
    ...(reported.length === 0 ? [] : [['reported', ['{', ...members(reported), '}']] as const]),
  ];
}

/** `rewards` and `rewardWeights`, by the names of the reward functions. */
function rewardMembers(rewards: Batch['rewards']): Member[] {
  if (rewards === undefined) return [];
  const columns = rewards.flatMap(({ name, value }) => column(name, value, numberText));
  const weights = rewards.map(({ name, weight }): Member => [name, numberText(weight)]);
  return [
    ['rewards', ['{', ...members(columns), '}']],
    ['rewardWeights', ['{', ...members(weights), '}']],
  ];
}

function tokenMembers(tokens: Batch['tokens']): Member[] {
  if (tokens === undefined) return [];
  const columns: Member[] = [
    ...column('offset', tokens.offset, String),
    ...column('mask', tokens.mask, String),
    ...TOKEN_COLUMNS.flatMap((name) => column(name, tokens[name], numberText)),
    ...column('reportedAdvantage', tokens.reportedAdvantage, numberText),
  ];
  return [['tokens', ['{', ...members(columns), '}']]];
}

type Column = Int32Array | Uint8Array | Float64Array;

/** Rows that are joined into one string. */
const ROWS_AT_ONCE = 65_536;

function column(key: string, values: Column | undefined, text: (value: number) => string): Member[] {
  if (values === undefined) return [];
  const parts = ['['];
  for (let from = 0; from < values.length; from += ROWS_AT_ONCE) {
    const some = Array.from(values.subarray(from, from + ROWS_AT_ONCE), text).join(',');
    parts.push(from === 0 ? some : `,${some}`);
  }
  return [[key, [...parts, ']']]];
}

/** A number that reads back as the same: JSON has no NaN (null stands for it), and 1e999 reads as infinite. */
function numberText(value: number): string {
  if (Number.isNaN(value)) return 'null';
  if (!Number.isFinite(value)) return value > 0 ? '1e999' : '-1e999';
  if (Object.is(value, -0)) return '-0';
  // Long integers are read as such, not as the numbers that they are here.
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value);
}

/** Names by id; two ids of one name stay two. */
function namer(names: readonly string[]): (id: number) => string {
  const distinct = new Set(names).size === names.length;
  const texts = names.map((name, id) => JSON.stringify(distinct ? name : `${name}#${id}`));
  return (id) => texts[id] ?? String(id);
}

/** Each entry as JSON that is read back as the same observation; digests stand for texts that are not there. */
function observationTexts({ count, texts, digests }: NonNullable<Batch['dictionary']>): string[] {
  if (texts !== undefined)
    return texts.every(readsBack) ? [...texts] : texts.map((text) => JSON.stringify(text));
  const bytes = Buffer.from(digests ?? []);
  const size = count === 0 ? 0 : bytes.length / count;
  return Array.from({ length: count }, (_v, id) =>
    JSON.stringify(bytes.toString('hex', id * size, (id + 1) * size)),
  );
}

function readsBack(text: string): boolean {
  try {
    return canonicalText(JSON.parse(text)) === text;
  } catch {
    return false;
  }
}
