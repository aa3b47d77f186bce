/**
 * Where the time of a verification goes: CPU time of each stage per row (per token for an estimator over tokens), for the
 * batches that people have. Prints a table a batch; `--write` puts them into docs/evidence/verify-cost.md.
 */

import { chooseInputs } from 'echelon-verify/bounds/inputs';
import { judgeRow } from 'echelon-verify/bounds/judged-row';
import { createJudge } from 'echelon-verify/bounds/outcomes';
import { trueAdvantages } from 'echelon-verify/bounds/row-model';
import { diagnose } from 'echelon-verify/explain/diagnosis';
import type { Batch } from 'echelon-verify/format/batch';
import { batchOf, estimatorOfId } from 'echelon-verify/format/dumps/dump-batch';
import { decodeBatch, encodeBatch } from 'echelon-verify/format/wire';
import { halfPrecisionFindings } from 'echelon-verify/provenance/half-precision';
import { checkProvenance } from 'echelon-verify/provenance/provenance';
import { findWarnings } from 'echelon-verify/provenance/warnings';
import { verifyBatch } from 'echelon-verify/verify-batch';
import { goldenBatch } from '../../packages/echelon-verify/test/support/golden-batches.ts';
import { randomFrom } from '../../packages/echelon-verify/test/support/random-batch.ts';
import { cpuClock, machine, markdownTable, quantile, show, today, writePage } from './harness.ts';

const ROUNDS = 61;

interface Case {
  readonly name: string;
  readonly batch: Batch;
  /** What the time is divided by. */
  readonly unit: 'row' | 'token';
  readonly count: number;
}

/** Of the rounds: a tenth took less than `low`, a tenth more than `high`. */
interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

interface Breakdown extends Case {
  readonly stages: Readonly<Record<string, Spread>>;
}

/** Prints the breakdown, or JSON; `write` also writes its section of the page. */
export function runStages({ json, write }: { json: boolean; write: boolean }): void {
  const results = cases().map((one): Breakdown => ({ ...one, stages: measure(one) }));
  if (write) writeSection(results);
  const figures = results.map(({ batch: _, ...result }) => result);
  show(figures, json, () => console.log(results.map(table).join('\n\n')));
}

function cases(): Case[] {
  const hgpo = goldenBatch('alfworld-scale');
  const ofRows = (name: string, batch: Batch): Case => ({ name, batch, unit: 'row', count: batch.rows });
  const tokens = tokenBatch();
  const count = tokens.tokens!.mask!.length;
  return [
    ofRows(`HGPO of verl-agent, K = 2, recorded, ${hgpo.rows.toLocaleString('en-US')} rows`, hgpo),
    ofRows('GRPO of verl, 4,096 rows in groups of 8', groupBatch('verl/grpo')),
    ofRows('GRPO of ms-swift (a chain of stages), 4,096 rows in groups of 8', groupBatch('ms-swift/grpo')),
    { name: 'GAE of verl, 512 responses of 128 tokens', batch: tokens, unit: 'token', count },
  ];
}

/** Rewards 0, 0.1, 0.35 and 1; advantages as float32 arithmetic gives them. */
function groupBatch(form: string): Batch {
  const [rows, size] = [4096, 8];
  const random = randomFrom(1);
  const reward = Float64Array.from({ length: rows }, () =>
    Math.fround([0, 0.1, 0.35, 1][Math.floor(4 * random())]!),
  );
  const estimator = estimatorOfId(form);
  const { epsilon } = estimator.params as { readonly epsilon: number };
  const group = {
    ids: Int32Array.from({ length: rows }, (_, row) => Math.floor(row / size)),
    names: Array.from({ length: rows / size }, (_, at) => `group ${at}`),
  };
  const advantage = new Float64Array(rows);
  for (let at = 0; at < rows; at += size)
    advantage.set(normalised(reward.subarray(at, at + size), epsilon), at);
  return batchOf({ name: form, file: form, group, reward, advantage, findings: [] }, estimator);
}

/** (x − mean) / (std + ε), each operation rounded to float32. */
function normalised(values: Float64Array, epsilon: number): Float64Array {
  const f = Math.fround;
  const n = values.length;
  const mean = f(values.reduce((sum, x) => f(sum + x), 0) / n);
  const squares = values.reduce((sum, x) => f(sum + f(f(x - mean) ** 2)), 0);
  const divisor = f(f(Math.sqrt(f(squares / (n - 1)))) + f(epsilon));
  return values.map((x) => f(f(x - mean) / divisor));
}

function tokenBatch(): Batch {
  const [rows, length] = [512, 128];
  const random = randomFrom(2);
  const column = (value: (at: number) => number) =>
    Float64Array.from({ length: rows * length }, (_, at) => Math.fround(value(at)));
  const tokens = {
    offset: Int32Array.from({ length: rows + 1 }, (_, row) => row * length),
    mask: new Uint8Array(rows * length).fill(1),
    reward: column((at) => (at % length === length - 1 ? random() : -0.01 * random())),
    value: column(() => random()),
  };
  const ids = Int32Array.from({ length: rows }, (_, row) => Math.floor(row / 8));
  const group = { ids, names: Array.from({ length: rows / 8 }, (_, at) => `group ${at}`) };
  const step = { name: 'gae', file: 'gae', group, reward: new Float64Array(rows), tokens, findings: [] };
  const batch = batchOf(step, estimatorOfId('verl/gae-0.95'));
  const truth = trueAdvantages(batch, chooseInputs(batch));
  return { ...batch, tokens: { ...tokens, reportedAdvantage: truth.map(Math.fround) } };
}

/** The stages one after another in each round, so that a disturbance of the machine meets all of them. */
function measure({ batch, count }: Case): Record<string, Spread> {
  const bytes = encodeBatch(batch);
  const rounds = Array.from({ length: 2 * ROUNDS }, () => timeOnce(batch, bytes)).slice(ROUNDS);
  const times = (of: (round: Times) => number) => rounds.map((round) => (1000 * of(round)) / count);
  const timing = (of: (round: Times) => number) => spreadOf(times(of));
  return {
    decode: timing((t) => t.decode),
    'inputs: returns and scores': timing((t) => t.inputs),
    'reference values': timing((t) => t.truth),
    'clusters and bounds': timing((t) => t.judge - t.truth - t.inputs),
    'outcomes: bounds in every form': timing((t) => t.outcomes),
    'provenance checks': timing((t) => t.provenance),
    'other findings': timing((t) => t.findings),
    diagnosis: timing((t) => t.diagnosis),
    'report encode': timing((t) => t.encode),
    'end to end': timing((t) => t.whole),
  };
}

/** Microseconds of CPU time. */
type Times = Readonly<
  Record<
    | 'decode'
    | 'inputs'
    | 'truth'
    | 'judge'
    | 'outcomes'
    | 'provenance'
    | 'findings'
    | 'diagnosis'
    | 'encode'
    | 'whole',
    number
  >
>;

function spreadOf(times: readonly number[]): Spread {
  const at = (share: number) => Math.round(quantile(times, share));
  return { median: at(0.5), low: at(0.1), high: at(0.9) };
}

function timeOnce(batch: Batch, bytes: Uint8Array): Times {
  const times: Record<string, number> = {};
  const timed = <T>(stage: keyof Times, work: () => T): T => {
    const cpu = cpuClock();
    const result = work();
    times[stage] = cpu();
    return result;
  };
  timed('decode', () => decodeBatch(bytes));
  const inputs = timed('inputs', () => chooseInputs(batch));
  timed('truth', () => trueAdvantages(batch, inputs));
  const judge = timed('judge', () => createJudge(batch));
  if (!('model' in judge)) throw new Error(`no row of ${batch.name} can be judged`);
  const { model } = judge;
  timed('outcomes', () => {
    for (let row = 0; row < batch.rows; row++) judgeRow(batch, judge, row);
  });
  timed('provenance', () => checkProvenance(batch, inputs));
  timed('findings', () => [
    findWarnings(batch),
    halfPrecisionFindings(batch, model.isPerToken ? undefined : model.truth),
  ]);
  timed('diagnosis', () => (model.isPerToken ? undefined : diagnose(batch, model)));
  const report = verifyBatch(batch);
  if (report.wrong > 0) throw new Error(`${batch.name} has rows that are wrong`);
  timed('encode', () => JSON.stringify(report));
  timed('whole', () => JSON.stringify(verifyBatch(decodeBatch(bytes))));
  return times as Times;
}

function table({ name, unit, stages }: Breakdown): string {
  const rows = Object.entries(stages).map(([stage, { median, low, high }]) => [
    stage,
    median,
    `${low} to ${high}`,
  ]);
  return `### ${name}\n\n${markdownTable([`stage, ns per ${unit}`, 'median', '10 % to 90 %'], rows)}`;
}

/** Replaces the section of the page. */
function writeSection(results: readonly Breakdown[]): void {
  const text = [
    '## Where the time goes',
    '',
    `CPU time of one thread by stage, ${ROUNDS} rounds after as many for warming up, the stages in turn within each round.`,
    'End to end is measured as a whole: from the bytes of the wire to those of the report. A reported value within two',
    'roundings of the true one needs no bounds; the bounds of a cluster are computed once another value is met in it.',
    '',
    results.map(table).join('\n\n'),
    '',
    `Made by \`npm run bench -- verify --stages --write\` on ${today()}: ${machine()}.`,
    '',
    '',
  ].join('\n');
  const section = /## Where the time goes\n[\s\S]*?(?=\n## |$(?![\s\S]))/;
  writePage('evidence/verify-cost', (page) => page.replace(section, () => text.trimEnd().concat('\n')));
}
