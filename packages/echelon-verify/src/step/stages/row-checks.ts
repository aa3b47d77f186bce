/** Stages that compare the rows that the loss receives with those of the rollout: their digests, and the advantages that were estimated. */

import { groupedBy } from '../../base/grouped-by.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import { CODE } from '../model/judge.ts';
import type { StageName, StageReport } from '../model/step-report.ts';

/** The advantages of a batch, by the names of its rows' trajectories. */
export interface Estimated {
  readonly rows: ReadonlyMap<string, number>;
}

/** Finds the batches of a training step by its number. Several: a folder in which several runs wrote. */
export type FindEstimated = (trainingStep: string) => readonly Estimated[];

/** A row whose trajectory names its place in a rollout: "12/5" is row 5 of the batch of training step 12. */
const PLACE = /^(?<step>\d+)\/(?<row>\d+)$/;

/** True if the rows of a step tell their place in a batch of advantages. */
export const hasPlaces = ({ trajectory }: StepBatch): boolean =>
  trajectory !== undefined &&
  trajectory.names.length > 0 &&
  trajectory.names.every((name) => PLACE.test(name));

/** Writes into `worst` the rows that are wrong. */
export function rowStages(batch: StepBatch, worst: Uint8Array, find?: FindEstimated): StageReport[] {
  const outcomes = [digestStage(batch), advantageStage(batch, find)];
  return outcomes.flatMap((found) => {
    if (found === undefined) return [];
    const counts = { exact: 0, rounding: 0, wrong: 0, unverifiable: 0 };
    found.codes.forEach((code, row) => {
      if (code === CODE.wrong) worst[row] = code;
      counts[code === CODE.exact ? 'exact' : code === CODE.wrong ? 'wrong' : 'unverifiable']++;
    });
    return [{ stage: found.stage, of: 'rows', ...counts, lacks: found.lacks }];
  });
}

interface Found {
  readonly stage: StageName;
  readonly codes: readonly number[];
  readonly lacks: string[];
}

/** Each digest of a row that the loss received is one of the rollout's, as often as it is there. */
function digestStage({ step: { rowDigests, sourceDigests }, rows }: StepBatch): Found | undefined {
  if (rowDigests === undefined || sourceDigests === undefined || rowDigests.length !== rows) return undefined;
  const left = new Map<string, number>();
  for (const digest of sourceDigests) left.set(digest, (left.get(digest) ?? 0) + 1);
  const codes = rowDigests.map((digest) => {
    const count = left.get(digest) ?? 0;
    left.set(digest, count - 1);
    return count > 0 ? CODE.exact : CODE.wrong;
  });
  return { stage: 'rows', codes, lacks: [] };
}

/** The advantage that each row of the loss has is the one that was reported for its place in the batch. */
function advantageStage(batch: StepBatch, find: FindEstimated | undefined): Found | undefined {
  const { trajectory } = batch;
  if (find === undefined || trajectory === undefined || !hasPlaces(batch)) return undefined;
  const lacks: string[] = [];
  const codes = new Uint8Array(batch.rows).fill(CODE.unverifiable);
  for (const [trainingStep, places] of placesOf(trajectory)) {
    const found = find(trainingStep);
    const judged = found.map((estimated) => judgedRows(batch, places, estimated));
    // Of several batches, the step's own is known if it gives all rows. Otherwise one of them may be.
    const own =
      judged.length === 1 ? judged[0] : judged.find((one) => one.every(({ code }) => code === CODE.exact));
    if (own === undefined) {
      const several = found.length > 1 ? 'one batch' : 'the batch';
      lacks.push(`${several} of training step ${trainingStep}${found.length > 1 ? ', not several' : ''}`);
    } else for (const { row, code } of own) codes[row] = code;
  }
  return { stage: 'advantage', codes: [...codes], lacks };
}

/** A row of the step, with its place in the batch. */
interface Placed {
  readonly row: number;
  readonly place: string;
}

/** The rows of a step by the training steps of whose batches they are. */
function placesOf({ ids, names }: NonNullable<StepBatch['trajectory']>): Map<string, Placed[]> {
  const places = names.map((name) => PLACE.exec(name)!.groups as { step: string; row: string });
  const rows = Array.from(ids, (id, row) => ({ row, step: places[id]!.step, place: places[id]!.row }));
  return groupedBy(rows, ({ step }) => step);
}

function judgedRows(
  batch: StepBatch,
  places: readonly Placed[],
  { rows }: Estimated,
): { readonly row: number; readonly code: number }[] {
  return places.map(({ row, place }) => {
    const value = rows.get(place);
    if (value === undefined) return { row, code: CODE.unverifiable };
    return { row, code: isTrainedWith(batch, row, Math.fround(value)) ? CODE.exact : CODE.wrong };
  });
}

function isTrainedWith({ tokens, reportedAdvantage }: StepBatch, row: number, value: number): boolean {
  const { reportedAdvantage: ofTokens, mask, offset } = tokens;
  if (ofTokens === undefined)
    return Object.is(reportedAdvantage?.[row], value) || reportedAdvantage?.[row] === value;
  for (let token = offset[row]!; token < offset[row + 1]!; token++)
    if (mask?.[token] !== 0 && ofTokens[token] !== value) return false;
  return true;
}
