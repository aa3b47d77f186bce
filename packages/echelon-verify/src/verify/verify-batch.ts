/** Verifies one batch: provenance, an outcome for each row, warnings and a diagnosis. Linear in the rows. */

import { cut } from 'command-kit/cut';
import { counted } from 'command-kit/plural';
import { FLOAT32 } from '../arithmetic/arithmetic.ts';
import { chooseInputs } from '../bounds/inputs.ts';
import { type JudgedRow, judgeRow } from '../bounds/judged-row.ts';
import { createJudge, type Judge, type Unjudged, weightsLeaveRange } from '../bounds/outcomes.ts';
import type { RowModel } from '../bounds/row-model.ts';
import { describeSome } from '../explain/describe-signal.ts';
import { diagnose } from '../explain/diagnosis.ts';
import { findLikelyCause } from '../explain/likely-cause.ts';
import { type Batch, batchFingerprint, reportedValues } from '../format/batch.ts';
import { estimatorOf } from '../kernel/estimators/registry.ts';
import { halfPrecisionFindings } from '../provenance/half-precision.ts';
import { checkProvenance } from '../provenance/provenance.ts';
import { findWarnings } from '../provenance/warnings.ts';
import { errorsFirst, finding, some } from '../report/findings.ts';
import { type BatchReport, type Diagnosis, type Finding, MAX_LISTED_ROWS } from '../report/report.ts';

/**
 * Verifies a batch. A pure function of the batches: the same report on every machine. Never throws for what a batch
 * holds; what cannot be verified is counted as unverifiable, and then the batch is not `ok`. `previous`, the batch of the step
 * before, changes no outcome: a likely cause may be found in it.
 */
export function verifyBatch(batch: Batch, previous?: Batch): BatchReport {
  const judge = prepare(batch);
  const tally = 'tooLarge' in judge ? unverifiableTally(batch) : judgeRows(batch, judge);
  const findings = errorsFirst([
    ...('tooLarge' in judge ? [judge.tooLarge] : []),
    ...checkProvenance(batch, 'model' in judge ? judge.model.inputs : chooseInputs(batch)),
    ...outcomeFindings({ batch, previous }, judge, tally),
    ...findWarnings(batch),
    ...halfPrecisionFindings(
      batch,
      'model' in judge && !judge.model.isPerToken ? judge.model.truth : undefined,
    ),
  ]);
  const { wrongRows, roundingRows } = tally;
  return {
    name: cut(batch.name),
    rows: batch.rows,
    exact: tally.exact,
    rounding: roundingRows.length,
    wrong: wrongRows.length,
    unverifiable: tally.unverifiable,
    wrongRows: wrongRows.slice(0, MAX_LISTED_ROWS),
    roundingRows: roundingRows.slice(0, MAX_LISTED_ROWS),
    findings,
    ok: wrongRows.length === 0 && tally.unverifiable === 0 && findings.every((f) => f.severity !== 'error'),
    fingerprint: batchFingerprint(batch.estimator, batch.provenance),
    ...('model' in judge && !judge.model.isPerToken ? { diagnosis: describe(batch, judge.model) } : {}),
  };
}

/** How informative the batch is. */
function describe(batch: Batch, model: RowModel): Diagnosis {
  const returns = batch.observation && model.inputs.stepReturn?.value;
  return { ...diagnose(batch, model), ...(returns && { signal: describeSome(batch, returns) }) };
}

/** A report that says nothing about any row, for a batch that could not be looked at within its budget. */
export function unverifiedReport(
  about: Pick<BatchReport, 'name' | 'rows' | 'fingerprint'>,
  reason: string,
): BatchReport {
  return {
    ...about,
    name: cut(about.name),
    exact: 0,
    rounding: 0,
    wrong: 0,
    unverifiable: about.rows,
    wrongRows: [],
    roundingRows: [],
    findings: [finding('budget-exceeded', reason)],
    ok: false,
  };
}

/** A batch, and that of the step before. */
interface Verified {
  readonly batch: Batch;
  readonly previous: Batch | undefined;
}

type Prepared = Judge | Unjudged | { readonly tooLarge: Finding };

/** Only its size can stop a batch that was read. */
function prepare(batch: Batch): Prepared {
  try {
    return createJudge(batch);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return {
      tooLarge: finding(
        'budget-exceeded',
        `The batch is too large to be verified (${counted(batch.rows, 'row')}): ${error.message}.`,
      ),
    };
  }
}

interface Tally {
  exact: number;
  unverifiable: number;
  readonly wrongRows: number[];
  readonly roundingRows: number[];
  /** Of wrong rows and of those that rounding decided, what decides their outcome. */
  readonly judged: Map<number, JudgedRow>;
}

function unverifiableTally(batch: Batch): Tally {
  return { exact: 0, unverifiable: batch.rows, wrongRows: [], roundingRows: [], judged: new Map() };
}

function judgeRows(batch: Batch, judge: Judge | Unjudged): Tally {
  if (!('model' in judge) || reportedValues(batch) === undefined) return unverifiableTally(batch);
  const tally: Tally = { ...unverifiableTally(batch), unverifiable: 0 };
  for (let row = 0; row < batch.rows; row++) {
    const judged = judgeRow(batch, judge, row)!;
    if (judged.outcome === 'exact') tally.exact++;
    else if (judged.outcome === 'unverifiable') tally.unverifiable++;
    else {
      tally[judged.outcome === 'wrong' ? 'wrongRows' : 'roundingRows'].push(row);
      tally.judged.set(row, judged);
    }
  }
  return tally;
}

function outcomeFindings({ batch, previous }: Verified, judge: Prepared, tally: Tally): Finding[] {
  const { wrongRows, roundingRows, unverifiable } = tally;
  const findings: Finding[] = [];
  if (wrongRows.length > 0 && 'model' in judge)
    findings.push(wrongFinding({ batch, previous }, judge, tally));
  if (roundingRows.length > 0 && 'model' in judge) findings.push(roundingFinding(batch, judge, tally));
  if (batch.rows > 0) findings.push(...unreported(batch));
  if (batch.rows > 0 && 'missing' in judge) {
    findings.push(finding('inputs-missing', `${batch.estimator.name} needs ${some(judge.missing)}.`));
  }
  if (batch.rows > 0 && 'unbounded' in judge) {
    const text = `There are no error bounds for ${batch.estimator.name} with ${judge.unbounded}.`;
    findings.push(finding('bounds-missing', text));
  }
  const overflown = unverifiable - unreportedRows(batch).length;
  if ('model' in judge && reportedValues(batch) !== undefined && overflown > 0) {
    findings.push(finding('overflow-possible', overflowText(batch, judge, overflown)));
  }
  return findings;
}

function overflowText({ estimator }: Batch, { model }: Judge, rows: number): string {
  if (!weightsLeaveRange(model) && model.arithmetic.unit > FLOAT32.unit)
    return `${counted(rows, 'row')}: sums of so many values may lose every digit in ${estimator.precision}.`;
  if (!weightsLeaveRange(model)) return `${counted(rows, 'row')} may have overflowed on the way.`;
  const plan = estimatorOf(estimator.name).rowPlan(estimator.params);
  const weighed = 'terms' in plan ? plan.terms.find((term) => term.over === 'context') : undefined;
  const stated = weighed?.weighedBy ?? 'its weights';
  return `${counted(rows, 'row')}: with ${stated} the levels’ weights may leave the range of ${estimator.precision}.`;
}

/** The rows that have no reported advantage, if others have one. */
export function unreportedRows({ unreported, rows }: Batch): number[] {
  return Array.from({ length: rows }, (_, row) => row).filter((row) => unreported?.[row] === 1);
}

/** No advantages for the estimator: none at all, none in some rows, or one per token although the estimator has one per row. */
function unreported(batch: Batch): Finding[] {
  const without = unreportedRows(batch);
  if (without.length > 0)
    return [
      finding(
        'advantages-missing',
        `No advantage in ${counted(without.length, 'row')} (row ${some(without, 3)}).`,
        without,
      ),
    ];
  if (reportedValues(batch) !== undefined) return [];
  if (batch.tokens?.reportedAdvantage === undefined)
    return [finding('advantages-missing', 'There are no reported advantages.')];
  const text = `${batch.estimator.name} has one advantage per row, and the tokens of some rows have different ones.`;
  return [finding('advantage-per-token', text)];
}

function roundingFinding(batch: Batch, { model, byOtherForm }: Judge, tally: Tally): Finding {
  const rows = tally.roundingRows;
  const off = (row: number): number => {
    const { at, reported } = tally.judged.get(row)!;
    return Math.abs(reported! - model.truth[at!]!);
  };
  const worst = rows.reduce((most, row) => (off(row) > off(most) ? row : most), rows[0]!);
  const { at, reported } = tally.judged.get(worst)!;
  const others = rows.filter((row) => byOtherForm.has(tally.judged.get(row)!.at!));
  const form = others.length === 0 ? '' : ` ${otherFormText(others.length, rows.length)}`;
  const text = `${counted(rows.length, 'row')}: ${batch.estimator.precision} arithmetic can give these values, the formula does not.${form} At most off is ${placeOf(worst, tally)}, which reports ${reported} where true is ${model.truth[at!]}.`;
  return finding('rounding-rows', text, rows);
}

function placeOf(row: number, { judged }: Tally): string {
  const token = judged.get(row)?.token;
  return token === undefined ? `row ${row}` : `token ${token} of row ${row}`;
}

function otherFormText(others: number, rows: number): string {
  const some = others === rows ? 'All' : `${counted(others, 'row')}`;
  return `${some} need a one-pass or running deviation, or another form than the recipe’s; a trainer that has the recipe’s states forms "recipe", and then they are wrong.`;
}

function wrongFinding({ batch, previous }: Verified, { model }: Judge, tally: Tally): Finding {
  const { wrongRows, judged } = tally;
  const row = wrongRows[0]!;
  const { at, reported } = judged.get(row)!;
  const cause = findLikelyCause(
    batch,
    wrongRows.map((wrong) => judged.get(wrong)!.at!),
    previous,
  );
  const share =
    cause === undefined || cause.share === 1 ? '' : ` in ${Math.floor(cause.share * 100)} % of them`;
  const guess = cause === undefined ? '' : ` Likely cause${share}: ${cause.text}.`;
  const text = `${counted(wrongRows.length, 'row')} of ${batch.rows.toLocaleString('en-US')} cannot be right: ${placeOf(row, tally)} reports ${reported}, true is ${model.truth[at!]}.${guess}`;
  return finding('wrong-rows', text, wrongRows);
}
