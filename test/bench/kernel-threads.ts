import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { HgpoParameters } from 'echelon-verify/kernel/index';
import type { BenchBatch } from './kernel-data.ts';

/** Worker threads that hold one part of a batch each; groups are never split, so nothing is shared but inputs. */
export interface SplitBatch extends AsyncDisposable {
  /** All parts at the same time; resolves when the last is done. */
  runAll(): Promise<void>;
  /** One part alone, the others idle. */
  runOne(): Promise<void>;
  /** Rows of the part that `runOne` runs. */
  readonly rowsOfOne: number;
}

/** Splits a batch between `threads` worker threads, at the borders of groups. */
export async function splitBatch(
  batch: BenchBatch,
  parameters: Partial<HgpoParameters>,
  threads: number,
): Promise<SplitBatch> {
  const borders = bordersOf(batch.steps.group, threads);
  const workers = borders.slice(1).map((to, part) => {
    const from = borders[part]!;
    const cut = <T extends Int32Array | Float64Array>(column: T) => column.subarray(from, to) as T;
    const { group, trajectory, observation } = batch.steps;
    return new Worker(new URL('./kernel-thread.ts', import.meta.url), {
      workerData: {
        steps: {
          rows: to - from,
          group: cut(group),
          trajectory: cut(trajectory),
          observation: cut(observation),
        },
        stepReturn: cut(batch.stepReturn),
        parameters,
      },
    });
  });
  await Promise.all(workers.map((worker) => once(worker, 'online')));
  const run = async (which: Worker[]) => {
    const done = which.map((worker) => once(worker, 'message'));
    for (const worker of which) worker.postMessage('go');
    await Promise.all(done);
  };
  return {
    runAll: () => run(workers),
    runOne: () => run(workers.slice(0, 1)),
    rowsOfOne: borders[1]!,
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

function bordersOf(group: Int32Array, parts: number): number[] {
  const borders = [0];
  for (let part = 1; part < parts; part++) {
    let row = Math.floor((group.length * part) / parts);
    while (row < group.length && group[row] === group[row - 1]) row++;
    borders.push(row);
  }
  return [...borders, group.length];
}
