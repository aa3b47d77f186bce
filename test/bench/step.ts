/**
 * CPU time per token of the verification of an optimizer step, by profile, and the memory of a process that verifies a file of
 * the wire: `npm run bench -- step`.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StepBatch, StepTokens } from '../../packages/echelon-verify/src/format/step-batch.ts';
import { decodeStep, encodeStep } from '../../packages/echelon-verify/src/format/step-wire.ts';
import { verifyStep } from '../../packages/echelon-verify/src/step/verify-step.ts';
import { machine, markdownTable, optionsOf, timeInTurn } from './harness.ts';

const LENGTH = 4096;
const LARGE = 10_000_000;
type Kind = 'minimal' | 'with KL and weights';

/** Prints a table. Options: `--tokens`, `--rounds`; `--file PATH` verifies one file in a process of its own. */
export async function run(args: string[]): Promise<void> {
  const at = args.indexOf('--file');
  if (at >= 0) {
    report(args[at + 1]!);
    return;
  }
  const { tokens, rounds } = optionsOf(args, { tokens: 2 ** 20, rounds: 11 });
  const minimal = stepOf('minimal', tokens);
  const more = stepOf('with KL and weights', tokens);
  const wire = encodeStep(minimal);
  const times = await timeInTurn(
    {
      'exp of the log-ratios alone': { run: () => exponentials(minimal), steps: tokens },
      'decode, minimal profile': { run: () => decodeStep(wire), steps: tokens },
      'verify, minimal profile': { run: () => verified(minimal), steps: tokens },
      'verify, with KL, weights and clip sides': { run: () => verified(more), steps: tokens },
    },
    rounds,
  );
  const rows = Object.entries(times).map(([name, { best, median, worst }]) => [
    name,
    ...[best, median, worst].map((time) => time.toFixed(1)),
  ]);
  console.log(
    `${machine()}; ${tokens} tokens in rows of ${LENGTH}, ${rounds} rounds, CPU time of one process\n`,
  );
  console.log(markdownTable(['ns per token', 'best', 'median', 'worst'], rows));
  console.log(`\n${memory()}`);
}

function exponentials({ tokens: { logProb, oldLogProb } }: StepBatch): number {
  let sum = 0;
  for (let t = 0; t < logProb!.length; t++) sum += Math.exp(logProb![t]! - oldLogProb![t]!);
  return sum;
}

function verified(step: StepBatch): void {
  if (!verifyStep(step).ok) throw new Error('the step of the bench is not ok');
}

/** A step whose gradients are those of PPO clip, in float32. */
function stepOf(kind: Kind, tokens: number): StepBatch {
  const rows = Math.ceil(tokens / LENGTH);
  const offset = Int32Array.from({ length: rows + 1 }, (_, row) => Math.min(tokens, row * LENGTH));
  const float = (make: (t: number) => number) => {
    const column = new Float32Array(tokens);
    for (let t = 0; t < tokens; t++) column[t] = make(t);
    return column;
  };
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const oldLogProb = float(() => -0.01 - 3 * next() * next());
  const logProb = float((t) => Math.min(-0.001, oldLogProb[t]! + 0.3 * (next() - 0.5)));
  const reportedAdvantage = Float32Array.from({ length: rows }, () => 2 * next() - 1);
  const lossGradient = float((t) => {
    const advantage = reportedAdvantage[Math.floor(t / LENGTH)]!;
    const ratio = Math.fround(Math.exp(Math.fround(logProb[t]! - oldLogProb[t]!)));
    const isClipped = advantage > 0 ? ratio > 1.2 : ratio < 0.8;
    return isClipped ? 0 : Math.fround(-advantage * ratio) / tokens;
  });
  const columns: Partial<StepTokens> =
    kind === 'minimal'
      ? {}
      : {
          referenceLogProb: oldLogProb,
          rolloutLogProb: oldLogProb,
          reportedClipped: clippedOf(lossGradient),
        };
  return {
    name: kind,
    rows,
    step: {
      policyLoss: { name: 'ppo-clip', params: { clipLow: 0.2, clipHigh: 0.2 } },
      aggregation: { mode: 'token-mean', scope: 'global', counts: 'mask', rowCount: 'all' },
      microBatches: [{ rank: 0, index: 0, pass: 0 }],
      reported: {},
      ...(kind === 'minimal' ? {} : SETTINGS),
    },
    reportedAdvantage,
    tokens: { offset, mask: new Uint8Array(tokens).fill(1), logProb, oldLogProb, lossGradient, ...columns },
  };
}

/** A KL term too small to change the gradients above, and a weight of 1. */
const SETTINGS: Partial<StepBatch['step']> = {
  kl: { estimator: 'k3', coefficient: 1e-9, placement: 'loss', weight: 'none' },
  rolloutCorrection: {
    level: 'token',
    statistic: 'ratio',
    action: 'truncate',
    high: 2,
    appliesTo: 'policy',
    keptWeight: 'statistic',
  },
};

const clippedOf = (gradient: Float32Array): Uint8Array =>
  Uint8Array.from(gradient, (value) => (value === 0 ? 1 : 0));

function memory(): string {
  const folder = mkdtempSync(join(tmpdir(), 'echelon-step-bench-'));
  try {
    const file = join(folder, 'step.pb');
    writeFileSync(file, encodeStep(stepOf('minimal', LARGE)));
    const main = fileURLToPath(new URL('./main.ts', import.meta.url));
    const { stdout, status } = spawnSync(process.execPath, [main, 'step', '--file', file], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error('the process that verifies the file failed');
    return stdout.trim();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** In a process of its own: verifies a file and says how much memory that took. */
function report(file: string): void {
  const { tokens, ok } = verifyStep(decodeStep(readFileSync(file), file));
  const megabytes = Math.round(process.resourceUsage().maxRSS / 1024);
  console.log(
    `A file of ${tokens.toLocaleString('en-US')} tokens (minimal profile): ${ok ? 'ok' : 'NOT OK'}, at most ${megabytes} MB resident`,
  );
}
