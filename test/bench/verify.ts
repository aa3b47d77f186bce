/**
 * Time of a report: an ALFWorld-size batch and repetitions of it, and a batch of equal returns; K = 4, one thread. Prints ns per row and
 * whether the cost stays linear; `--json` for scripts.
 */

import type { Batch } from 'echelon-verify/format';
import { stepReturns } from 'echelon-verify/kernel';
import { verifyBatch } from '../../packages/echelon-verify/src/verify/verify-batch.ts';
import { goldenBatch } from '../../packages/echelon-verify/test/support/golden-batches.ts';
import { pick, reportBy } from '../../packages/echelon-verify/test/support/mutants/tools.ts';
import { randomFrom } from '../../packages/echelon-verify/test/support/random-batch.ts';
import { advantagesOn, randomMachine } from '../../packages/echelon-verify/test/support/recipe.ts';
import { restated } from '../../packages/echelon-verify/test/support/stated.ts';
import { machine, optionsOf, show, timeInTurn } from './harness.ts';
import { runDumps } from './verify-dumps.ts';

const ROUNDS = 9;
const SIZES = [6_400, 64_000, 256_000] as const;

/**
 * Runs the measurement. Arguments: `--json`; `--dumps [--rows N]` measures the dumps of other trainers instead.
 */
export async function run(args: readonly string[]): Promise<void> {
  const options = optionsOf(args, {
    dumps: false,
    rows: 16_000,
    json: false,
  });
  if (options.dumps) return await runDumps(options);
  const batches = [...SIZES.map((rows) => largeBatch(rows)), lateBatch()];
  const arms = Object.fromEntries(
    batches.map((batch, i) => [i, { run: () => verifyBatch(batch), steps: batch.rows }]),
  );
  const timing = await timeInTurn(arms, ROUNDS);
  const results = batches.map(({ rows }, i) => {
    const { best, median, worst } = timing[i]!;
    return {
      batch: i < SIZES.length ? 'as recorded' : 'late in training',
      rows,
      leastMs: round3((best * rows) / 1e6),
      medianMs: round3((median * rows) / 1e6),
      worstMs: round3((worst * rows) / 1e6),
      nsPerRow: Math.round(best),
    };
  });
  const scaling = round3(results[SIZES.length - 1]!.nsPerRow / results[0]!.nsPerRow);
  show({ results, scaling, rounds: ROUNDS, machine: machine() }, options.json, () => {
    for (const r of results) {
      console.log(
        `${r.rows} rows, ${r.batch}: ${r.leastMs} ms at best, ${r.medianMs} ms median, ${r.nsPerRow} ns per row`,
      );
    }
    console.log(`cost per row at ${SIZES.at(-1)} rows against ${SIZES[0]}: ${scaling}`);
    console.log(`CPU time, ${ROUNDS} rounds, ${machine()}`);
  });
}

/** The golden ALFWorld-size batch, repeated under new ids until it has `rows` rows; K = 4, reported anew. */
function largeBatch(rows: number): Batch {
  const one = goldenBatch('alfworld-scale');
  const copies = Math.ceil(rows / one.rows);
  const observations = one.observation!.reduce((most, id) => Math.max(most, id), 0) + 1;
  const many = pick(
    one,
    Array.from({ length: rows }, (_, i) => i % one.rows),
  );
  const shifted = (ids: Int32Array, by: number): Int32Array =>
    ids.map((id, i) => id + by * Math.floor(i / one.rows));
  const names = (list: readonly string[]): string[] =>
    Array.from({ length: copies }, (_, copy) => list.map((name) => `${copy}/${name}`)).flat();
  const batch: Batch = {
    ...many,
    estimator: restated(one, { historyLength: 4 }).estimator,
    group: shifted(many.group, one.groupNames.length),
    groupNames: names(one.groupNames),
    trajectory: shifted(many.trajectory, one.trajectoryNames.length),
    trajectoryNames: names(one.trajectoryNames),
    observation: shifted(many.observation!, observations),
  };
  return reportBy(batch);
}

/**
 * Late in training: all of 128 trajectories win after 50 steps, so that the returns of most clusters are equal, and
 * float32 has residues there. Groups of 7: no mean of seven equal numbers is surely theirs.
 */
function lateBatch(): Batch {
  const random = randomFrom(5);
  const [size, length] = [7, 50];
  const one = goldenBatch('alfworld-scale');
  const trajectories = Math.floor(128 / size) * size;
  const rows = Array.from({ length: trajectories * length }, (_, i) => i);
  const step = Int32Array.from(rows, (i) => i % length);
  const trajectory = Int32Array.from(rows, (i) => Math.floor(i / length));
  const group = trajectory.map((t) => Math.floor(t / size));
  const reward = Float64Array.from(step, (s) => (s === length - 1 ? 10 : 0));
  const names = (count: number): string[] => Array.from({ length: count }, (_, i) => String(i));
  const batch: Batch = {
    ...pick(
      one,
      rows.map(() => 0),
    ),
    estimator: restated(one, { historyLength: 4 }).estimator,
    step,
    trajectory,
    trajectoryNames: names(trajectories),
    group,
    groupNames: names(trajectories / size),
    observation: step.map((s, i) => 1000 * group[i]! + 2 * s + (random() < 0.2 ? 1 : 0)),
    reward,
    reportedStepReward: stepReturns({ trajectory, reward }, one.estimator).map(Math.fround),
  };
  return {
    ...batch,
    reportedAdvantage: Float64Array.from(advantagesOn(batch, randomMachine(random, Math.fround, 'recipe'))),
  };
}

function round3(x: number): number {
  return Number(x.toPrecision(3));
}
