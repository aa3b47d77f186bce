/**
 * CPU time per token of the verification of an optimizer step, by profile, and the memory of a process that verifies a file of
 * the wire: `npm run bench -- step`. `--tokens N`: tokens of the step. `--file`: verifies one file in a process of its own.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StepBatch, StepTokens } from 'echelon-verify/step/format/step-batch';
import { decodeStep, encodeStep } from 'echelon-verify/step/format/step-wire';
import { verifyStep } from 'echelon-verify/step/verify-step';
import { machine, quantile } from './harness.ts';

const ROUNDS = 11;
const LENGTH = 4096;
const TOKENS = 2 ** 21;
const LARGE = 10_000_000;
type Kind = 'minimal' | 'with KL and weights';

/** Prints a table. Arguments: `--tokens N`, `--file PATH`. */
export function run(args: readonly string[]): void {
  const at = args.indexOf('--file');
  if (at >= 0) {
    report(args[at + 1]!);
    return;
  }
  const stated = args.indexOf('--tokens');
  const tokens = stated < 0 ? TOKENS : Number(args[stated + 1]);
  console.log(`${machine()}\n${tokens} tokens in rows of ${LENGTH}, ${ROUNDS} rounds\n`);
  console.log('| profile | decode, ns per token | verify, ns per token: median (10 % to 90 %) |');
  console.log('| --- | --- | --- |');
  for (const kind of ['minimal', 'with KL and weights'] as const) console.log(measured(kind, tokens));
  console.log(`\n${memory()}`);
}

function measured(kind: Kind, tokens: number): string {
  const wire = encodeStep(stepOf(kind, tokens));
  const decode: number[] = [];
  const verify: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = cpu();
    const step = decodeStep(wire);
    const middle = cpu();
    const { ok } = verifyStep(step);
    if (!ok) throw new Error('the step of the bench is not ok');
    decode.push(((middle - start) * 1000) / tokens);
    verify.push(((cpu() - middle) * 1000) / tokens);
  }
  const show = (values: readonly number[], share: number): string => quantile(values, share).toFixed(1);
  const spread = `${show(verify, 0.5)} (${show(verify, 0.1)} to ${show(verify, 0.9)})`;
  return `| ${kind} | ${show(decode, 0.5)} | ${spread} |`;
}

/** Microseconds of this process's CPU. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
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
