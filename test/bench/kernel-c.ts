import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchBatch } from './kernel-data.ts';

/** A C program built for one bench run. */
export interface CProgram extends Disposable {
  /** Nanoseconds per step of the best of `rounds`, and the sum of the absolute advantages. */
  run(rounds: number): { nsPerStep: number; total: number };
}

/** Compiles kernel.c with -O3 and hands it the batch. Undefined without `cc`. */
export function buildC(batch: BenchBatch, historyLength: number): CProgram | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'kernel-c-'));
  const dispose = () => rmSync(directory, { recursive: true, force: true });
  const [program, data] = [join(directory, 'kernel'), join(directory, 'batch')];
  try {
    const source = new URL('./kernel.c', import.meta.url).pathname;
    execFileSync('cc', ['-O3', '-o', program, source, '-lm'], { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch {
    dispose();
    return undefined;
  }
  const { steps, stepReturn } = batch;
  const columns = [
    Int32Array.of(steps.rows, historyLength),
    steps.group,
    steps.trajectory,
    steps.observation,
    stepReturn,
  ];
  writeFileSync(data, Buffer.concat(columns.map((c) => Buffer.from(c.buffer, c.byteOffset, c.byteLength))));
  return {
    run(rounds) {
      const out = execFileSync(program, [data, String(rounds)], { encoding: 'utf8' })
        .trim()
        .split(' ');
      return { nsPerStep: Number(out[0]), total: Number(out[1]) };
    },
    [Symbol.dispose]: dispose,
  };
}
