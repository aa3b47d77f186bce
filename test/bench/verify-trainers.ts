/**
 * What verification costs against the trainer's own function, on one batch in one run: CPU time per row of both, in turn.
 * `--trainers PYTHON` names the Python of an environment made from scripts/golden/functions.txt.
 */

import { spawnSync } from 'node:child_process';
import { batchOf, estimatorOfId } from '../../packages/echelon-verify/src/dumps/dump-batch.ts';
import { verifyBatch } from '../../packages/echelon-verify/src/verify/verify-batch.ts';
import { randomFrom } from '../../packages/echelon-verify/test/support/random-batch.ts';
import { afterWarmUp, cpuClock, machine, quantile, show } from './harness.ts';

const ROWS = 4096;
const SIZE = 8;
const ROUNDS = 15;

/** What the trainer's function took for one call, in seconds of CPU time, and gave. */
interface Cost {
  readonly seconds: number;
  readonly least: number;
  readonly most: number;
  readonly advantage: readonly number[];
}

/** Prints one line a function, or JSON. `trainers` is a Python. */
export async function runTrainers({ trainers, json }: { trainers: string; json: boolean }): Promise<void> {
  const random = randomFrom(1);
  const rewards = Float64Array.from({ length: ROWS }, () =>
    Math.fround([0, 0.1, 0.35, 1][Math.floor(4 * random())]!),
  );
  const costs = trainerCosts(trainers, rewards);
  const results: object[] = [];
  for (const [name, cost] of Object.entries(costs)) {
    const own = await verificationCost(name.split(',')[0]!, rewards, cost.advantage);
    const perRow = (seconds: number): number => Math.round((seconds / ROWS) * 1e9);
    results.push({
      function: name,
      'trainer, ns a row': perRow(cost.seconds),
      'least to most': `${perRow(cost.least)} to ${perRow(cost.most)}`,
      'verification, ns a row': perRow(own.seconds),
      'its least to most': `${perRow(own.least)} to ${perRow(own.most)}`,
      ratio: Number((own.seconds / cost.seconds).toFixed(3)),
      wrong: own.wrong,
    });
  }
  const setup = `${machine()}, ${ROWS} rows, ${ROUNDS} rounds`;
  show({ results, machine: setup }, json, () => {
    console.table(results);
    console.log(setup);
  });
}

function trainerCosts(python: string, rewards: Float64Array): Record<string, Cost> {
  const input = JSON.stringify({ rewards: [...rewards], size: SIZE, rounds: ROUNDS });
  const { status, stdout, stderr } = spawnSync(python, ['test/bench/trainer-cost.py'], {
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`${python} test/bench/trainer-cost.py failed: ${stderr.slice(-500)}`);
  // Libraries print before the results.
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n{') + 1)) as Record<string, Cost>;
}

/** CPU time of a report of the trainer's own values, the model and the bounds included. */
async function verificationCost(
  form: string,
  reward: Float64Array,
  advantage: readonly number[],
): Promise<{ seconds: number; least: number; most: number; wrong: number }> {
  const ids = Int32Array.from({ length: ROWS }, (_, row) => Math.floor(row / SIZE));
  const names = Array.from({ length: ROWS / SIZE }, (_, group) => `group ${group}`);
  const step = { name: form, file: form, group: { ids, names }, reward, findings: [] };
  const batch = batchOf({ ...step, advantage: Float64Array.from(advantage) }, estimatorOfId(form));
  for (let warming = 0; warming < 4; warming++) verifyBatch(batch);
  const times = await afterWarmUp(ROUNDS, () => {
    const cpu = cpuClock();
    verifyBatch(batch);
    return cpu() / 1e6;
  });
  return {
    seconds: quantile(times, 0.5),
    least: Math.min(...times),
    most: Math.max(...times),
    wrong: verifyBatch(batch).wrong,
  };
}
