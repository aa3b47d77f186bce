/** Verifies one optimizer step, stage by stage. */

import { plural } from 'command-kit/plural';
import type { StepBatch } from '../format/step-batch.ts';
import type { StepPrecision } from '../format/step-settings.ts';
import { finding } from '../report/findings.ts';
import { type Finding, MAX_LISTED_ROWS } from '../report/report.ts';
import { stepFinding } from '../report/step-findings.ts';
import { engineStatistics } from './engines/sums.ts';
import { aggregationOf } from './model/aggregations.ts';
import { CODE } from './model/judge.ts';
import type { StepModel } from './model/model.ts';
import { isBfloat16 } from './model/precision.ts';
import {
  type RowCounts,
  STAGES,
  type StageReport,
  type StepReport,
  type WrongToken,
} from './model/step-report.ts';
import { addToken, emptySums, type MicroBatchSums, sumRejected } from './model/sums.ts';
import { stepModel } from './stages/chain.ts';
import { coverageOf } from './stages/coverage.ts';
import { checkDenominators } from './stages/denominator.ts';
import { checkValues } from './stages/reported-values.ts';
import { type FindEstimated, rowStages } from './stages/row-checks.ts';
import { rowFindings } from './stages/row-findings.ts';
import { sharedFactor } from './stages/shared-factor.ts';
import { stepFindings } from './stages/statistics.ts';
import { EXACT_STAGES, STAGE_NAMES, type TokenCheck, tokenChecks } from './stages/table.ts';

/** Wrong tokens that a report lists, and each stage for it. */
const MAX_LISTED = 100;

/** Verifies a step. `find`: the batches of advantages beside it. A stage without its columns is unverifiable and names them. */
export function verifyStep(batch: StepBatch, find?: FindEstimated): StepReport {
  const { precision, isInferred } = precisionOf(batch);
  const model = stepModel(batch, precision);
  const { worst, ...ofTokens } = verifyTokens(model);
  const exact = exactStages(batch, worst);
  const values = checkValues(model, ofTokens.sums);
  const stages = inOrder([
    ...rowStages(batch, worst, find),
    ...exact.stages,
    ...ofTokens.stages,
    ...denominatorStage(model),
    ...valueStage(values),
  ]);
  const gradient = stages.find(({ stage }) => stage === 'gradient');
  const engines = engineStatistics(batch);
  const findings = [
    ...(batch.findings ?? []),
    ...rowFindings(batch),
    ...stepFindings(model, { engines, gradientIsWrong: (gradient?.wrong ?? 0) > 0 }),
    ...ofTokens.shared,
    ...partsFindings(batch, values),
  ];
  const consistent =
    stages.every(({ wrong }) => wrong === 0) && findings.every(({ severity }) => severity !== 'error');
  return {
    name: batch.name,
    rows: batch.rows,
    tokens: batch.tokens.offset[batch.rows]!,
    trained: ofTokens.trained,
    arithmetic: describeArithmetic(batch),
    precision,
    precisionInferred: isInferred,
    stages,
    coverage: coverageOf(batch, stages),
    values,
    ...outcomesOfRows(worst),
    wrongTokens: [...exact.wrong, ...ofTokens.wrong].slice(0, MAX_LISTED),
    findings,
    ...(engines && { engines: engines.sums }),
    ok: consistent && gradient !== undefined && gradient.unverifiable === 0 && ofTokens.trained > 0,
    consistent,
  };
}

/** Reported means that no number of micro-batches gives. */
function partsFindings({ step }: StepBatch, values: StepReport['values']): Finding[] {
  return values.flatMap(({ name, times }) => {
    if (times === undefined) return [];
    const text = `The sum of ${name} over ${plural(step.microBatches.length, 'recorded micro-batch', 'recorded micro-batches')} is ${times.toFixed(3)} times the reported mean.`;
    return [stepFinding('mean-without-number', text)];
  });
}

function outcomesOfRows(worst: Uint8Array): Pick<StepReport, 'ofRows' | 'wrongRows'> {
  const counts = new Float64Array(4);
  const wrongRows: number[] = [];
  worst.forEach((code, row) => {
    counts[code]!++;
    if (code === CODE.wrong && wrongRows.length < MAX_LISTED_ROWS) wrongRows.push(row);
  });
  return { ofRows: countsOf(counts), wrongRows };
}

/** The report of a step that is not verified: it would take too much. */
export function unverifiedStep(batch: StepBatch, reason: string): StepReport {
  const { precision, isInferred } = precisionOf(batch);
  return {
    name: batch.name,
    rows: batch.rows,
    tokens: batch.tokens.offset[batch.rows]!,
    trained: 0,
    arithmetic: describeArithmetic(batch),
    precision,
    precisionInferred: isInferred,
    stages: [],
    coverage: coverageOf(batch, []),
    values: [],
    ofRows: { exact: 0, rounding: 0, wrong: 0, unverifiable: batch.rows },
    wrongRows: [],
    wrongTokens: [],
    findings: [finding('budget-exceeded', reason)],
    ok: false,
    consistent: false,
  };
}

/** As stated; otherwise bfloat16 if every log-prob is a bfloat16 number, since its bounds admit float32 as well. */
export function precisionOf({ step, tokens }: StepBatch): { precision: StepPrecision; isInferred: boolean } {
  if (step.precision !== undefined) return { precision: step.precision, isInferred: false };
  const inferred = tokens.logProb !== undefined && isBfloat16(tokens.logProb);
  return { precision: inferred ? 'bfloat16' : 'float32', isInferred: inferred };
}

interface TokensFound {
  readonly stages: StageReport[];
  readonly wrong: WrongToken[];
  readonly sums: MicroBatchSums[];
  readonly trained: number;
  /** Factors of many tokens that their sums show. */
  readonly shared: Finding[];
  /** The worst outcome of each row's tokens, as a code. What only another stage than the gradient lacks does not count. */
  readonly worst: Uint8Array;
}

/** One pass over all trained tokens: nothing is stored per token. */
function verifyTokens(model: StepModel): TokensFound {
  const { batch, layout, kept } = model;
  const { offset } = batch.tokens;
  const all = tokenChecks(model);
  const checks = all.filter(({ lacks }) => lacks.length === 0);
  const counts = new Float64Array(4 * checks.length);
  const factors = checks.map((check) => sharedFactor(model, check));
  const sums = emptySums(layout.microBatches);
  const { reported: values, microBatches } = batch.step;
  const needsSums =
    Object.keys(values).length > 0 ||
    microBatches.some((one) => one.reportedLoss !== undefined || one.reported !== undefined);
  const wrong: WrongToken[] = [];
  const worst = new Uint8Array(batch.rows);
  const gradient = checks.findIndex(({ stage }) => stage === 'gradient');
  let trained = 0;
  for (let row = 0; row < batch.rows; row++) {
    model.startRow(row);
    const microBatch = layout.microBatchOf(row);
    const own = sums[microBatch]!;
    let worstOfRow: number = CODE.exact;
    for (let token = offset[row]!; token < offset[row + 1]!; token++) {
      if (kept?.[token] === 0) {
        if (needsSums) sumRejected(own, model, { row, token });
        continue;
      }
      trained++;
      if (gradient < 0 && worstOfRow < CODE.unverifiable) worstOfRow = CODE.unverifiable;
      const chain = model.evaluate(row, token);
      if (needsSums) addToken(own, model, { row, token });
      for (let check = 0; check < checks.length; check++) {
        const code = checks[check]!.judge(chain, token);
        counts[4 * check + code]!++;
        factors[check]?.add(microBatch, chain, token);
        if (code > worstOfRow && (code !== CODE.unverifiable || check === gradient)) worstOfRow = code;
        if (code === CODE.wrong && wrong.length < MAX_LISTED)
          wrong.push({ row, token: token - offset[row]!, stage: checks[check]!.stage });
      }
    }
    worst[row] = worstOfRow;
  }
  // If single tokens are wrong, their sum says nothing more.
  const shared = factors.flatMap((factor, check) =>
    counts[4 * check + CODE.wrong]! > 0 ? [] : (factor?.finding() ?? []),
  );
  return { stages: stagesOf(all, checks, { counts, trained }), wrong, sums, trained, worst, shared };
}

function stagesOf(
  all: readonly TokenCheck[],
  checks: readonly TokenCheck[],
  { counts, trained }: { counts: Float64Array; trained: number },
): StageReport[] {
  return all.map(({ stage, lacks }): StageReport => {
    const at = 4 * checks.findIndex((check) => check.stage === stage);
    const none = { exact: 0, rounding: 0, wrong: 0, unverifiable: trained };
    const found = at < 0 ? none : countsOf(counts.subarray(at, at + 4));
    return { stage, of: 'tokens', ...found, lacks: [...lacks] };
  });
}

function countsOf(found: Float64Array): RowCounts {
  return {
    exact: found[CODE.exact]!,
    rounding: found[CODE.rounding]!,
    wrong: found[CODE.wrong]!,
    unverifiable: found[CODE.unverifiable]!,
  };
}

/** Also writes into `worst` the rows that they find wrong. */
function exactStages(batch: StepBatch, worst: Uint8Array): { stages: StageReport[]; wrong: WrongToken[] } {
  const { offset } = batch.tokens;
  const wrong: WrongToken[] = [];
  const stages = EXACT_STAGES.flatMap(({ stage, of }): StageReport[] => {
    let listed = 0;
    const found = of.check(batch, (token) => {
      const row = rowOf(offset, token);
      worst[row] = CODE.wrong;
      if (listed++ < MAX_LISTED) wrong.push({ row, token: token - offset[row]!, stage });
    });
    if (found === undefined) return [];
    return [
      {
        stage,
        of: 'tokens',
        exact: found.right,
        rounding: 0,
        wrong: found.wrong,
        unverifiable: 0,
        lacks: [],
        ...(found.detail === undefined ? {} : { detail: found.detail }),
      },
    ];
  });
  return { stages, wrong };
}

/** The row of a token: the last one that starts at or before it and is not empty. */
function rowOf(offset: Int32Array, token: number): number {
  let [low, high] = [0, offset.length - 1];
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (offset[middle]! <= token) low = middle;
    else high = middle;
  }
  return low;
}

function denominatorStage(model: StepModel): StageReport[] {
  const { step, reportedDenominator } = model.batch;
  const ofMicroBatches = step.microBatches.filter((one) => one.reportedDenominator !== undefined).length;
  const stated = ofMicroBatches + (reportedDenominator?.length ?? 0);
  if (stated === 0) return [];
  const found = checkDenominators(model);
  const wrong = found?.filter(({ isRight }) => !isRight).length ?? 0;
  const exact = (found?.length ?? 0) - wrong;
  const unverifiable = stated - (found?.length ?? 0);
  const lacks = found === undefined ? [...model.lacks.aggregation] : lackingCount(model);
  const of = reportedDenominator === undefined ? 'micro-batches' : 'denominators';
  return [{ stage: 'denominator', of, exact, rounding: 0, wrong, unverifiable, lacks }];
}

/** What a divisor that is stated, and not counted, lacks. */
function lackingCount({ batch }: StepModel): string[] {
  const { aggregation, microBatches } = batch.step;
  const isCounted =
    aggregation === undefined || aggregationOf(aggregation.mode)?.counts(aggregation) === true;
  if (isCounted || microBatches.every((one) => one.reportedDenominator === undefined)) return [];
  return [`an aggregation that counts (step.aggregation states the divisor)`];
}

function valueStage(values: StepReport['values']): StageReport[] {
  if (values.length === 0) return [];
  const count = (outcome: string) => values.filter((value) => value.outcome === outcome).length;
  const lacks = [...new Set(values.flatMap((value) => value.lacks))];
  return [
    {
      stage: 'reported',
      of: 'values',
      exact: count('exact'),
      rounding: count('rounding'),
      wrong: count('wrong'),
      unverifiable: count('unverifiable'),
      lacks,
    },
  ];
}

function inOrder(stages: readonly StageReport[]): StageReport[] {
  return [...stages].sort((a, b) => STAGE_NAMES.indexOf(a.stage) - STAGE_NAMES.indexOf(b.stage));
}

/** A stage in one line, for people. */
export function stageText(report: StageReport): string {
  const { stage, of, exact, rounding, wrong, unverifiable, lacks, detail } = report;
  if (lacks.length > 0 && exact + rounding + wrong === 0) return `unverifiable: it needs ${lacks.join(', ')}`;
  const parts = [
    `${exact.toLocaleString('en-US')} exact`,
    ...(rounding > 0 ? [`${rounding.toLocaleString('en-US')} rounding`] : []),
    ...(wrong > 0 ? [`${wrong.toLocaleString('en-US')} WRONG`] : []),
    ...(unverifiable > 0 ? [`${unverifiable.toLocaleString('en-US')} unverifiable`] : []),
  ];
  const total = exact + rounding + wrong + unverifiable;
  return `${parts.join(', ')} of ${plural(total, of.replace(/s$/, ''))} (${detail ?? STAGES[stage]})`;
}

/** Everything stated that changes the numbers of a step, in one line. */
function describeArithmetic({ step }: StepBatch): string {
  const { policyLoss, rolloutCorrection, offPolicyMask, kl, aggregation, entropyCoefficient } = step;
  const parts = [
    policyLoss && `${policyLoss.name}${parametersText(policyLoss.params)}`,
    rolloutCorrection && `weight${parametersText(rolloutCorrection)}`,
    offPolicyMask && `off-policy mask${parametersText(offPolicyMask)}`,
    kl && `kl${parametersText(kl)}`,
    entropyCoefficient && `entropy ${entropyCoefficient}`,
    aggregation && `${aggregation.mode}${parametersText(aggregation, ['mode'])}`,
  ];
  return parts.filter((part) => part !== undefined && part !== 0).join(' + ') || 'not stated';
}

function parametersText(params: object, skip: readonly string[] = []): string {
  const entries = Object.entries(params).filter(
    ([key, value]) => !skip.includes(key) && typeof value !== 'object',
  );
  return entries.length === 0 ? '' : `(${entries.map(([key, value]) => `${key}=${value}`).join(', ')})`;
}
