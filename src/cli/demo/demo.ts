import { writeFile } from 'node:fs/promises';
import { styleText } from 'node:util';
import type { Accepted, Experiment, ExperimentEvent, ExperimentSpec, LocalSpec } from 'echelon-client/calls';
import { json, type Output } from 'echelon-verify/cli/output';
import { table } from 'echelon-verify/cli/table';
import type { BatchReport } from 'echelon-verify/report';
import { isFinal } from '../../core/states.ts';
import type { Client } from '../client.ts';
import { explanationText } from '../commands/batches.ts';
import { type Bars, createBars } from './bars.ts';

const ESTIMATORS: { name: string; estimator: LocalSpec['estimator'] }[] = [
  { name: 'HGPO K=2', estimator: { name: 'hgpo', historyLength: 2 } },
  { name: 'GiGPO', estimator: { name: 'gigpo' } },
  { name: 'GRPO', estimator: { name: 'grpo' } },
];

/** The demo's experiments: three estimators with otherwise equal specs, seeds and budgets. */
export const SWEEP: ExperimentSpec[] = ESTIMATORS.map(({ name, estimator }) => ({
  name,
  engine: 'local',
  estimator,
}));

/** A recorded batch as a faulty trainer would have reported it. */
export const FAULTY: ExperimentSpec = {
  name: 'a faulty estimator',
  engine: 'replay',
  replay: { fault: 'zero-levels-kept', batches: 1 },
};

/** One step of a training whose loss has a bug of public trainers. */
export const FAULTY_STEP: ExperimentSpec = {
  name: 'a faulty optimizer step',
  engine: 'local',
  estimator: { name: 'hgpo', historyLength: 2 },
  observations: 'texts',
  training: { steps: 1, captureEvery: 1, fault: 'token-mean-per-micro-batch' },
  evaluation: { games: 1 },
};

/** An experiment in the demo's report. Rates are between 0 and 1; null if none was measured. */
interface DemoRow {
  name: string;
  estimator: string;
  state: string;
  steps: number;
  successBefore: number | null;
  successAfter: number | null;
  rows: number;
  exact: number;
  rounding: number;
  wrong: number;
}

/** A row of the demo's table. */
type TableRow = DemoRow & { seconds: number };

/** The content of the file of `--report`. */
export interface DemoReport {
  experiments: DemoRow[];
  fault: { detected: boolean; rows: number };
  /** The faulty optimizer step. */
  stepFault: { detected: boolean; rows: number };
  seconds: number;
}

/** Runs the demo against an API that has a free local cluster, and returns the results. */
export async function runDemo({
  client,
  output,
  reportFile,
}: {
  client: Client;
  output: Output;
  reportFile?: string | undefined;
}): Promise<DemoReport> {
  const startedAt = Date.now();
  output.line(
    `${styleText('bold', '1. Train')}: three estimators, same seed, same budget, one after another on the CPU of this machine.`,
  );
  const trained = await trainAll(client);
  output.line(
    `\n${styleText('bold', '2. Detect a wrong training signal')}: a replayed batch from an estimator with a planted fault.`,
  );
  const fault = await showFault(client, output, {
    body: FAULTY,
    wrong: 'rows have an advantage that no float32 evaluation of the formula gives',
  });
  output.line('\nA training whose loss is averaged over each micro-batch instead of all of them:');
  const stepFault = await showFault(client, output, {
    body: FAULTY_STEP,
    wrong: 'rows are not right: their actions have gradients that the stated loss does not give',
  });
  const rows = await Promise.all(trained.map((experiment) => demoRow(client, experiment)));
  const experiments = rows.map(({ seconds: _, ...row }) => row);
  const report = { experiments, fault, stepFault, seconds: Math.round((Date.now() - startedAt) / 1000) };
  output.line(`\n${styleText('bold', '3. Results')}\n\n${summary(rows)}`);
  output.line(remark(report));
  if (reportFile) await writeFile(reportFile, `${json(report)}\n`);
  return report;
}

async function trainAll(client: Client): Promise<Experiment[]> {
  const bars = createBars(
    SWEEP.map(({ name }) => name),
    process.stderr,
  );
  const submitted: Accepted[] = [];
  // One after another, so that they are queued in this order.
  for (const body of SWEEP) submitted.push(await client.post('/v1/experiments', { body }));
  try {
    return await Promise.all(submitted.map(({ id }) => followToEnd(client, id, bars)));
  } finally {
    bars.stop();
  }
}

/** Follows the events of an experiment and shows its record after each, until it has ended and is verified. */
async function followToEnd(client: Client, id: string, bars?: Bars): Promise<Experiment> {
  const path = { id };
  const stop = new AbortController();
  for await (const { event } of client.events(id, { signal: stop.signal })) {
    if (!changesView(event)) continue;
    const experiment = await client.get('/v1/experiments/{id}', { path });
    bars?.update(experiment);
    if (isFinal(experiment.state) && experiment.verification.status === 'complete') break;
  }
  stop.abort();
  return client.get('/v1/experiments/{id}', { path });
}

/** True for events that change the bars. One per step is enough: its verification comes last. */
function changesView(event: ExperimentEvent): boolean {
  if (event.type === 'stage') return !/^step \d/.test(event.name);
  return event.type === 'state' || event.type === 'verification';
}

async function showFault(
  client: Client,
  output: Output,
  { body, wrong: what }: { body: ExperimentSpec; wrong: string },
): Promise<DemoReport['fault']> {
  const { id } = await client.post('/v1/experiments', { body });
  const ended = await followToEnd(client, id);
  const { wrong, rowsSeen, errors } = ended.verification;
  const detected = wrong > 0 || errors > 0;
  if (!detected) {
    output.line(styleText('yellow', `  not detected: ${ended.state}, ${ended.reason}`));
    return { detected, rows: wrong };
  }
  output.line(styleText('red', `\n  WRONG: ${wrong} of ${rowsSeen} ${what}.\n`));
  const path = { id };
  const { items } = await client.get('/v1/experiments/{id}/verification', { path });
  const wrongRow = (one: (typeof items)[number]) => (one.report as unknown as BatchReport).wrongRows[0];
  const faulty = items.find((one) => wrongRow(one) !== undefined);
  if (faulty) {
    const query = { attempt: faulty.attempt, batch: faulty.batch, row: wrongRow(faulty)! };
    const answer = await client.get('/v1/experiments/{id}/explain', { path, query });
    const { findings } = faulty.report as unknown as BatchReport;
    const named = findings.filter(({ code }) => code === 'arithmetic-identified');
    const text = [explanationText(answer.explanation), ...named.map(({ message }) => `\n${message}`)];
    output.line(text.join('\n').replace(/^/gm, '  '));
  }
  return { detected, rows: wrong };
}

async function demoRow(client: Client, experiment: Experiment): Promise<TableRow> {
  const path = { id: experiment.id };
  const query = { names: ['val/success_rate'] };
  const { series } = await client.get('/v1/experiments/{id}/metrics', { path, query });
  const points = series[0]?.points ?? [];
  const values = points.reduce((sum, { count }) => sum + count, 0);
  const { verification: checked } = experiment;
  return {
    name: experiment.name,
    estimator: experiment.fingerprint ?? '',
    state: experiment.state,
    steps: experiment.progress.step,
    successBefore: values > 0 ? Number(points[0]!.first) : null,
    successAfter: values > 1 ? Number(points.at(-1)!.last) : null,
    rows: checked.rowsSeen,
    exact: checked.exact,
    rounding: checked.rounding,
    wrong: checked.wrong,
    seconds: secondsOf(experiment),
  };
}

function secondsOf({ startedAt, endedAt }: Experiment): number {
  return startedAt === null || endedAt === null ? 0 : Math.round((endedAt - startedAt) / 1000);
}

const percent = (rate: number | null): string => (rate === null ? '-' : `${(100 * rate).toFixed(0)} %`);

function summary(experiments: TableRow[]): string {
  const head = [
    'ESTIMATOR',
    'STATE',
    'STEPS',
    'SUCCESS BEFORE',
    'AFTER',
    'ROWS',
    'EXACT',
    'ROUNDING',
    'WRONG',
    'SECONDS',
  ];
  const cells = experiments.map((row) => [
    row.name,
    row.state,
    row.steps,
    percent(row.successBefore),
    percent(row.successAfter),
    row.rows,
    row.exact,
    row.rounding,
    row.wrong,
    row.seconds,
  ]);
  return table(head, cells);
}

/** One seed is weak evidence about which estimator is better, and the demo must not suggest otherwise. */
function remark({ experiments }: DemoReport): string {
  const best = experiments.reduce((a, b) => ((b.successAfter ?? 0) > (a.successAfter ?? 0) ? b : a));
  const hgpo = experiments[0]!;
  const beaten = best !== hgpo && (best.successAfter ?? 0) > (hgpo.successAfter ?? 0);
  const result = beaten
    ? `${best.name} had a higher success rate than HGPO in this run.`
    : 'No estimator had a higher success rate than HGPO in this run.';
  return `\n${result} This is one seed of a small environment; \`npm run bench -- estimators\` compares over several.`;
}
