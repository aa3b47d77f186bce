import { writeFile } from 'node:fs/promises';
import pc from 'picocolors';
import type { ExperimentEvent } from '../../core/events.ts';
import { isFinal } from '../../core/states.ts';
import type { ExperimentSpec } from '../../engines/registry.ts';
import type { Accepted } from '../../schemas/api.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import type { MetricChart } from '../../schemas/streams.ts';
import type { RowExplanation } from '../../verify/explain/explain.ts';
import { formatExplanation } from '../../verify/explain/explain-text.ts';
import type { Client } from '../client.ts';
import { json, type Output, table } from '../output.ts';
import { type Bars, createBars } from './bars.ts';
import { FAULTY, SWEEP } from './specs.ts';

/** An experiment in the demo's report. Rates are between 0 and 1; null where none was measured. */
export interface DemoRow {
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

/** A line of the demo's table. */
type TableRow = DemoRow & { seconds: number };

/** What `--report` writes. */
export interface DemoReport {
  experiments: DemoRow[];
  fault: { detected: boolean; rows: number };
  seconds: number;
}

/** Runs the demo against an API that has a free local cluster, and returns what it showed. */
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
    `${pc.bold('1. Train')}: three estimators, same seed, same budget, one after another on this machine's CPU.`,
  );
  const trained = await trainAll(client);
  output.line(
    `\n${pc.bold('2. Catch a wrong training signal')}: a batch from an estimator with a fault, replayed.`,
  );
  const fault = await showFault(client, output);
  const rows = await Promise.all(trained.map((experiment) => demoRow(client, experiment)));
  const experiments = rows.map(({ seconds: _, ...row }) => row);
  const report = { experiments, fault, seconds: Math.round((Date.now() - startedAt) / 1000) };
  output.line(`\n${pc.bold('3. What came out')}\n\n${summary(rows)}`);
  output.line(remark(report));
  if (reportFile) await writeFile(reportFile, `${json(report)}\n`);
  return report;
}

async function submit(client: Client, spec: ExperimentSpec): Promise<Accepted> {
  return client.post<Accepted>('/v1/experiments', spec);
}

async function trainAll(client: Client): Promise<Experiment[]> {
  const bars = createBars(
    SWEEP.map(({ name }) => name),
    process.stderr,
  );
  const submitted: Accepted[] = [];
  // In this order, so that they wait in this order.
  for (const spec of SWEEP) submitted.push(await submit(client, spec));
  try {
    return await Promise.all(submitted.map(({ id }) => followToEnd(client, id, bars)));
  } finally {
    bars.stop();
  }
}

/** Follows an experiment's events, showing the record behind them, until it has ended and is verified. */
async function followToEnd(client: Client, id: string, bars?: Bars): Promise<Experiment> {
  const path = `/v1/experiments/${id}`;
  const stop = new AbortController();
  for await (const { event } of client.events(id, { signal: stop.signal })) {
    if (!changesView(event)) continue;
    const experiment = await client.get<Experiment>(path);
    bars?.update(experiment);
    if (isFinal(experiment.state) && experiment.verification.status === 'complete') break;
  }
  stop.abort();
  return client.get<Experiment>(path);
}

/** Once a step is enough: what else comes with a step is seen with its verification. */
function changesView(event: ExperimentEvent): boolean {
  if (event.type === 'stage') return !/^step \d/.test(event.name);
  return event.type === 'state' || event.type === 'verification';
}

async function showFault(client: Client, output: Output): Promise<DemoReport['fault']> {
  const { id } = await submit(client, FAULTY);
  const ended = await followToEnd(client, id);
  const { wrong, rowsSeen, errors } = ended.verification;
  const detected = wrong > 0 || errors > 0;
  if (!detected) {
    output.line(pc.yellow(`  not detected: ${ended.state}, ${ended.reason}`));
    return { detected, rows: wrong };
  }
  output.line(
    pc.red(
      `\n  WRONG: ${wrong} of ${rowsSeen} rows carry an advantage that no float32 evaluation of the formula gives.\n`,
    ),
  );
  const { items } = await client.get<{
    items: { attempt: number; batch: number; report: { wrongRows: number[] } }[];
  }>(`/v1/experiments/${id}/verification`);
  const faulty = items.find(({ report }) => report.wrongRows.length > 0);
  if (faulty) {
    const query = { attempt: faulty.attempt, batch: faulty.batch, row: faulty.report.wrongRows[0] };
    const { explanation } = await client.get<{ explanation: RowExplanation }>(
      `/v1/experiments/${id}/explain`,
      query,
    );
    output.line(formatExplanation(explanation).trimEnd().replace(/^/gm, '  '));
  }
  return { detected, rows: wrong };
}

async function demoRow(client: Client, experiment: Experiment): Promise<TableRow> {
  const path = `/v1/experiments/${experiment.id}/metrics`;
  const { series } = await client.get<MetricChart>(path, { names: 'val/success_rate' });
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

/** One seed says little about which estimator is better; the demo must not suggest otherwise. */
function remark({ experiments }: DemoReport): string {
  const best = experiments.reduce((a, b) => ((b.successAfter ?? 0) > (a.successAfter ?? 0) ? b : a));
  const hgpo = experiments[0]!;
  const beaten = best !== hgpo && (best.successAfter ?? 0) > (hgpo.successAfter ?? 0);
  const verdict = beaten
    ? `${best.name} ended ahead of HGPO here.`
    : 'No estimator ended ahead of HGPO here.';
  return `\n${verdict} This is one seed of a small environment; \`npm run bench -- estimators\` compares over several.`;
}
