/** Verifies one batch: provenance, an outcome for each row, warnings and a diagnosis. Linear in the rows. */

import { counted } from '../core/plural.ts';
import { estimatorOf } from '../kernel/estimators/registry.ts';
import { FLOAT32 } from './bounds/arithmetic.ts';
import { chooseInputs } from './bounds/inputs.ts';
import { createJudge, type Judge, type Unjudged, weightsLeaveRange } from './bounds/outcomes.ts';
import { diagnose } from './explain/diagnosis.ts';
import { findLikelyCause } from './explain/likely-cause.ts';
import { type Batch, batchFingerprint } from './format/batch.ts';
import { bfloat16Findings } from './provenance/bfloat16.ts';
import { finding, some } from './provenance/findings.ts';
import { checkProvenance } from './provenance/provenance.ts';
import { findWarnings } from './provenance/warnings.ts';
import { type BatchReport, type Finding, MAX_LISTED_ROWS } from './report.ts';

/**
 * Verifies a batch. A pure function of the batch: the same report on every machine. Never throws for what a batch
 * holds; what cannot be verified is counted as unverifiable, and then the batch is not `ok`.
 */
export function verifyBatch(batch: Batch): BatchReport {
  const judge = prepare(batch);
  const tally = 'tooLarge' in judge ? unverifiableTally(batch) : judgeRows(batch, judge);
  const findings = [
    ...('tooLarge' in judge ? [judge.tooLarge] : []),
    ...checkProvenance(batch, 'model' in judge ? judge.model.inputs : chooseInputs(batch)),
    ...outcomeFindings(batch, judge, tally),
    ...findWarnings(batch),
    ...bfloat16Findings(batch, 'model' in judge ? judge.model.truth : undefined),
  ].sort((a, b) => rank(a) - rank(b));
  const { wrongRows, roundingRows } = tally;
  return {
    name: batch.name,
    rows: batch.rows,
    exact: tally.exact,
    rounding: roundingRows.length,
    wrong: wrongRows.length,
    unverifiable: tally.unverifiable,
    wrongRows: wrongRows.slice(0, MAX_LISTED_ROWS),
    roundingRows: roundingRows.slice(0, MAX_LISTED_ROWS),
    findings,
    ok: wrongRows.length === 0 && tally.unverifiable === 0 && findings.every((f) => f.severity !== 'error'),
    fingerprint: batchFingerprint(batch.estimator),
    ...('model' in judge ? { diagnosis: diagnose(batch, judge.model) } : {}),
  };
}

/** A report that says nothing about any row, for a batch that could not be looked at within its budget. */
export function unverifiedReport(
  about: Pick<BatchReport, 'name' | 'rows' | 'fingerprint'>,
  reason: string,
): BatchReport {
  return {
    ...about,
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
  wrongRows: number[];
  roundingRows: number[];
}

function unverifiableTally(batch: Batch): Tally {
  return { exact: 0, unverifiable: batch.rows, wrongRows: [], roundingRows: [] };
}

function judgeRows(batch: Batch, judge: Judge | Unjudged): Tally {
  const reported = batch.reportedAdvantage;
  if (!('model' in judge) || reported === undefined) return unverifiableTally(batch);
  const tally: Tally = { exact: 0, unverifiable: 0, wrongRows: [], roundingRows: [] };
  for (let row = 0; row < batch.rows; row++) {
    const outcome = judge.judge(row, reported[row]!);
    if (outcome === 'exact') tally.exact++;
    else if (outcome === 'wrong') tally.wrongRows.push(row);
    else if (outcome === 'rounding') tally.roundingRows.push(row);
    else tally.unverifiable++;
  }
  return tally;
}

function outcomeFindings(batch: Batch, judge: Prepared, tally: Tally): Finding[] {
  const { wrongRows, roundingRows, unverifiable } = tally;
  const findings: Finding[] = [];
  if (wrongRows.length > 0 && 'model' in judge) findings.push(wrongFinding(batch, judge, wrongRows));
  if (roundingRows.length > 0) {
    findings.push(roundingFinding(batch, judge, roundingRows));
  }
  if (batch.rows > 0 && batch.reportedAdvantage === undefined) {
    findings.push(finding('advantages-missing', 'There are no reported advantages.'));
  }
  if (batch.rows > 0 && 'missing' in judge) {
    findings.push(finding('inputs-missing', `${batch.estimator.name} needs ${some(judge.missing)}.`));
  }
  if (batch.rows > 0 && 'unbounded' in judge) {
    const text = `There are no error bounds for ${batch.estimator.name} with ${judge.unbounded}.`;
    findings.push(finding('bounds-missing', text));
  }
  if ('model' in judge && batch.reportedAdvantage !== undefined && unverifiable > 0) {
    findings.push(finding('overflow-possible', overflowText(batch, judge, unverifiable)));
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

function roundingFinding(batch: Batch, judge: Prepared, rows: readonly number[]): Finding {
  const off = (row: number): number =>
    'model' in judge ? Math.abs(batch.reportedAdvantage![row]! - judge.model.truth[row]!) : 0;
  const worst = rows.reduce((most, row) => (off(row) > off(most) ? row : most), rows[0]!);
  const { precision } = batch.estimator;
  const truth = 'model' in judge ? judge.model.truth[worst] : undefined;
  const others = 'model' in judge ? rows.filter((r) => judge.byOtherForm.has(r)) : [];
  const form = others.length === 0 ? '' : ` ${otherFormText(others.length, rows.length)}`;
  const text = `${counted(rows.length, 'row')}: ${precision} arithmetic can give these values, the formula does not.${form} At most off is row ${worst}, which reports ${batch.reportedAdvantage?.[worst]} where true is ${truth}.`;
  return finding('rounding-rows', text, rows);
}

function otherFormText(others: number, rows: number): string {
  const some = others === rows ? 'All' : `${counted(others, 'row')}`;
  return `${some} need a one-pass or running deviation, or another form than the recipe’s; a trainer that has the recipe’s states forms "recipe", and then they are wrong.`;
}

function wrongFinding(batch: Batch, { model }: Judge, wrongRows: readonly number[]): Finding {
  const row = wrongRows[0]!;
  const cause = findLikelyCause(batch, wrongRows);
  const share =
    cause === undefined || cause.share === 1 ? '' : ` in ${Math.floor(cause.share * 100)} % of them`;
  const guess = cause === undefined ? '' : ` Likely cause${share}: ${cause.text}.`;
  const text = `${counted(wrongRows.length, 'row')} of ${batch.rows.toLocaleString('en-US')} cannot be right: row ${row} reports ${batch.reportedAdvantage?.[row]}, true is ${model.truth[row]}.${guess}`;
  return finding('wrong-rows', text, wrongRows);
}

function rank(f: Finding): number {
  return f.severity === 'error' ? 0 : 1;
}
