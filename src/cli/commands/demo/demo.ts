import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { styleText } from 'node:util';
import { json, type Output } from 'command-kit/output';
import { table } from 'command-kit/table';
import type { ComparisonDetail, ComparisonPlan, Experiment, ExperimentSpec } from 'echelon-client/calls';
import type { BatchReport } from 'echelon-verify/report';
import { isFinal } from '../../../core/states.ts';
import type { Client } from '../../client.ts';
import { explanationText } from '../batches.ts';
import { comparisonText } from '../comparison-runs.ts';
import { createBars } from './bars.ts';

/** Between two looks at the trainings. */
const POLL_MS = 500;

/** The demo's comparison: three estimators with otherwise equal specs, the same seeds and the same rooms. */
export const COMPARISON: ComparisonPlan = {
  name: 'three estimators',
  spec: { engine: 'local', training: { steps: 25 }, evaluation: { games: 50 } },
  methods: [
    { name: 'GiGPO', set: { estimator: { name: 'gigpo' } } },
    { name: 'HGPO K=2', set: { estimator: { name: 'hgpo', historyLength: 2 } } },
    { name: 'GRPO', set: { estimator: { name: 'grpo' } } },
  ],
  baseline: 'GiGPO',
  seeds: [1, 2, 3, 4],
  panel: 'local-rooms',
  step: 25,
  replicates: 1,
  margin: 10,
  deviation: 8,
};

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

/** A training in the demo's report. */
interface DemoRow {
  name: string;
  estimator: string;
  state: string;
  steps: number;
  /** Share of the rooms that were solved at the end; null if it was not measured. */
  success: number | null;
  rows: number;
  exact: number;
  rounding: number;
  wrong: number;
}

/** The content of the file of `--report`. */
export interface DemoReport {
  experiments: DemoRow[];
  /** Each method against the baseline; empty if the results cannot be paired. */
  comparison: ComparisonDetail['results'];
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
  const { seeds, methods } = COMPARISON;
  output.line(
    `${styleText('bold', '1. Compare')}: ${methods.length} estimators with ${seeds.length} seeds each, by a plan that is stored before the first of them trains on the CPU of this machine.`,
  );
  const { comparison, trained } = await compareAll(client);
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
  const experiments = trained.map((experiment) => demoRow(experiment, comparison));
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  const report = { experiments, comparison: comparison.results, fault, stepFault, seconds };
  output.line(`\n${styleText('bold', '3. Results')}\n\n${summary(experiments)}\n`);
  output.line(comparisonText(comparison));
  output.line(
    '\nThis is a small game and a small policy: it shows how a comparison is judged, not which estimator is better for language models.',
  );
  if (reportFile) await writeFile(reportFile, `${json(report)}\n`);
  return report;
}

/** Runs the comparison to its end, and shows each of its trainings meanwhile. */
async function compareAll(client: Client): Promise<{ comparison: ComparisonDetail; trained: Experiment[] }> {
  const { id } = await client.post('/v1/comparisons', { body: COMPARISON });
  const read = () => client.get('/v1/comparisons/{id}', { path: { id } });
  const { runs } = await read();
  const bars = createBars(
    runs.map(({ method, seed }) => `${method}, seed ${seed}`),
    process.stderr,
  );
  const ended = new Map<string, Experiment>();
  try {
    for (;;) {
      const comparison = await read();
      for (const { experiment, state } of comparison.runs) {
        if (state === null || ended.has(experiment)) continue;
        const one = await client.get('/v1/experiments/{id}', { path: { id: experiment } });
        bars.update(one);
        if (isFinal(one.state) && one.verification.status === 'complete') ended.set(experiment, one);
      }
      if (ended.size === runs.length)
        return {
          comparison: await read(),
          trained: comparison.runs.map((run) => ended.get(run.experiment)!),
        };
      await delay(POLL_MS);
    }
  } finally {
    bars.stop();
  }
}

/** Follows the events of an experiment until it has ended and is verified. */
async function followToEnd(client: Client, id: string): Promise<Experiment> {
  const path = { id };
  const stop = new AbortController();
  for await (const { event } of client.events(id, { signal: stop.signal })) {
    if (event.type !== 'state' && event.type !== 'verification') continue;
    const experiment = await client.get('/v1/experiments/{id}', { path });
    if (isFinal(experiment.state) && experiment.verification.status === 'complete') break;
  }
  stop.abort();
  return client.get('/v1/experiments/{id}', { path });
}

async function showFault(
  client: Client,
  output: Output,
  { body, wrong: what }: { body: ExperimentSpec; wrong: string },
): Promise<DemoReport['fault']> {
  const { id } = await client.post('/v1/experiments', { body });
  const ended = await followToEnd(client, id);
  const { wrong, rowsSeen, signal } = ended.verification;
  const detected = signal === 'wrong';
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

function demoRow(experiment: Experiment, { runs }: ComparisonDetail): DemoRow {
  const { verification: checked } = experiment;
  return {
    name: experiment.name,
    estimator: experiment.fingerprint ?? '',
    state: experiment.state,
    steps: experiment.progress.step,
    success: runs.find((run) => run.experiment === experiment.id)?.success ?? null,
    rows: checked.rowsSeen,
    exact: checked.exact,
    rounding: checked.rounding,
    wrong: checked.wrong,
  };
}

/** The rows that were verified, by method. */
function summary(experiments: readonly DemoRow[]): string {
  const sum = (rows: readonly DemoRow[], of: (row: DemoRow) => number) =>
    rows.reduce((total, row) => total + of(row), 0);
  const cells = COMPARISON.methods.map(({ name }) => {
    const own = experiments.filter((row) => row.name.startsWith(`${name}, `));
    return [
      name,
      `${own.filter(({ state }) => state === 'succeeded').length}/${own.length}`,
      ...(['steps', 'rows', 'exact', 'rounding', 'wrong'] as const).map((field) =>
        sum(own, (row) => row[field]),
      ),
    ];
  });
  return table(['ESTIMATOR', 'SUCCEEDED', 'STEPS', 'ROWS', 'EXACT', 'ROUNDING', 'WRONG'], cells);
}
