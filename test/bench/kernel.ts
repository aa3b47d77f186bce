import { loadavg } from 'node:os';
import { hgpo } from 'echelon-verify/kernel/index';
import { orderRows } from 'echelon-verify/kernel/order';
import { machine, optionsOf, round, show, type Timing, timeInTurn, writePage } from './harness.ts';
import { buildC } from './kernel-c.ts';
import type { BenchBatch } from './kernel-data.ts';
import { benchBatch } from './kernel-data.ts';
import { describe, kernelPage } from './kernel-page.ts';
import { compareRecipe } from './kernel-recipe.ts';
import { splitBatch } from './kernel-threads.ts';

const SMALL = 10_000;

/**
 * What the kernel costs: `--steps N` (1000000), `--history K` (4), `--mode`, `--rounds`, `--json`, `--write`
 * (docs/evidence/kernel.md), `--recipe DIR` (a checkout of verl-agent, run beside it with `--python`).
 *
 * All arms run in one process in turn. The figures are CPU time of the process (wall clock for two threads), the
 * best round of each, since the machine may have other users; the wall clock, median and worst stand beside it.
 * Ratios within a run are what can be compared with another machine's.
 */
export async function run(args: readonly string[]): Promise<void> {
  const values = optionsOf(args, {
    steps: 1_000_000,
    history: 4,
    mode: 'mean_std_norm',
    rounds: 11,
    json: false,
    write: false,
    recipe: '',
    python: '.venv/bin/python',
  });
  const plan = {
    steps: positive('--steps', values.steps),
    historyLength: values.history,
    mode: values.mode === 'mean_norm' ? ('mean_norm' as const) : ('mean_std_norm' as const),
    rounds: positive('--rounds', values.rounds),
  };
  // First, since it may lack what it needs.
  const beside = values.recipe === '' ? {} : await recipeOf(values.recipe, values.python, plan);
  if (beside instanceof Error) {
    console.error(beside.message);
    process.exitCode = 2;
    return;
  }
  const report = { ...(await measure(plan)), ...beside };
  show(report, values.json, () => console.log(describe(report)));
  if (values.write) writePage('evidence/kernel', () => kernelPage(report, ['kernel', ...args]));
}

interface Plan {
  readonly steps: number;
  readonly historyLength: number;
  readonly mode: 'mean_std_norm' | 'mean_norm';
  readonly rounds: number;
}

async function measure(plan: Plan) {
  const { steps, historyLength, mode, rounds } = plan;
  const large = benchBatch(steps);
  const small = benchBatch(Math.min(SMALL, steps));
  const parameters = { historyLength, mode };
  const repeats = Math.max(1, Math.round(steps / small.steps.rows));
  const ids = (batch: BenchBatch, p = parameters) => hgpo(batch.steps, batch.stepReturn, p);
  const copy = new Uint8Array(375 * 100_000);
  const copied = new Uint8Array(copy.length);
  const timing = await timeInTurn(
    {
      small: { run: () => repeat(repeats, () => ids(small)), steps: repeats * small.steps.rows },
      large: { run: () => ids(large), steps },
      order: { run: () => repeat(50, () => orderRows(large.steps)), steps: 50 * steps },
      levelZero: { run: () => ids(large, { ...parameters, historyLength: 0 }), steps },
      // What a perfect cache would leave: 75 bytes read and written per step and level, at the speed of a copy.
      bandwidth: {
        run: () => repeat(10, () => copied.set(copy)),
        steps: (10 * 2 * copy.length) / (75 * (historyLength + 1)),
      },
    },
    rounds,
  );
  const threads = await measureThreads(large, plan);
  return {
    nsPerStep: timing.large.best,
    clock: 'CPU time of the process, best round',
    steps,
    historyLength,
    mode,
    spread: timing.large,
    scaling: {
      from: small.steps.rows,
      to: steps,
      small: timing.small,
      ratio: round(timing.large.best / timing.small.best),
    },
    twoThreads: threads,
    breakdown: breakdownOf(timing, historyLength),
    c: measureC(large, plan, timing.large.best),
    machine: machine(),
    load: round(loadavg()[0]!),
    date: new Date().toISOString(),
  };
}

/** All that one run found. */
export type Report = Awaited<ReturnType<typeof measure>> & {
  recipe?: Awaited<ReturnType<typeof compareRecipe>>;
};

function breakdownOf(
  timing: Record<'large' | 'order' | 'levelZero' | 'bandwidth', Timing>,
  historyLength: number,
) {
  const { large, order, levelZero, bandwidth } = timing;
  return {
    orderNs: order.best,
    loadAndLevelZeroNs: round(levelZero.best - order.best),
    perFurtherLevelNs: historyLength === 0 ? 0 : round((large.best - levelZero.best) / historyLength),
    bandwidthFloorNs: bandwidth.best,
  };
}

/** By the wall clock, and often, since both threads must have a processor to themselves to show it. */
async function measureThreads(batch: BenchBatch, plan: Plan) {
  const { historyLength, mode, steps, rounds } = plan;
  await using halves = await splitBatch(batch, { historyLength, mode }, 2);
  const { one, two } = await timeInTurn(
    {
      one: { run: () => halves.runOne(), steps: halves.rowsOfOne, clock: 'wall' },
      two: { run: () => halves.runAll(), steps, clock: 'wall' },
    },
    4 * rounds,
  );
  return { one, two, ratio: round(one.best / two.best) };
}

function measureC(batch: BenchBatch, plan: Plan, nsPerStep: number) {
  if (plan.mode !== 'mean_std_norm') return null;
  using program = buildC(batch, plan.historyLength);
  if (program === undefined) return null;
  const c = program.run(5);
  const { historyLength } = plan;
  const total = hgpo(batch.steps, batch.stepReturn, { historyLength }).reduce(
    (sum, a) => sum + Math.abs(a),
    0,
  );
  if (Math.abs(c.total - total) > 1e-6 * total)
    throw new Error(`C gives Σ|A| = ${c.total}, the kernel ${total}`);
  return { nsPerStep: round(c.nsPerStep), timesFaster: round(c.nsPerStep / nsPerStep) };
}

async function recipeOf(checkout: string, python: string, plan: Plan) {
  try {
    const { historyLength } = plan;
    return { recipe: await compareRecipe({ checkout, python, historyLength, rounds: 3 }) };
  } catch (error) {
    return error as Error;
  }
}

function repeat(times: number, work: () => unknown): void {
  for (let round = 0; round < times; round++) work();
}

function positive(option: string, value: number): number {
  if (!Number.isInteger(value) || value <= 0)
    throw new Error(`${option} takes a positive integer, not ${value}`);
  return value;
}
