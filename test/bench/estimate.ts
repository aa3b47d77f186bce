import { estimateStarts } from '../../src/scheduler/estimate.ts';
import { scheduleRound } from '../../src/scheduler/schedule.ts';
import { cluster, exactly, node, waits } from '../support/queue.ts';
import { afterWarmUp, optionsOf, say, setupOf, timed } from './harness.ts';

/*
 * The estimates of a long line, as a dispatcher makes them about once a second on the thread that also launches: 16 nodes
 * of 8 GPUs that are full, five projects, and experiments of 1 to 8 GPUs that wait.
 */

const NODES = 16;
const PROJECTS = 5;
const MINUTE = 60_000;

/** The schedule over this queue is timed as well. */
const LONG_QUEUE = 100_000;

/** `--queued N` (10000), `--rounds N` (9). */
export async function run(args: readonly string[]): Promise<void> {
  const { queued, rounds } = optionsOf(args, { queued: 10_000, rounds: 9 });
  const input = fullCluster(queued);
  const times = await afterWarmUp(rounds, () => {
    const start = performance.now();
    const schedule = scheduleRound(input);
    const chosen = performance.now();
    const found = estimateStarts(input, schedule);
    const over = performance.now();
    const known = [...found.values()].filter(({ at }) => at !== null);
    if (known.length !== input.queued.length) throw new Error(`only ${known.length} are estimated`);
    return { schedule: chosen - start, estimates: over - chosen };
  });
  const long = fullCluster(LONG_QUEUE);
  const longTimes = await afterWarmUp(rounds, () => timed(async () => scheduleRound(long)));
  const figure = (what: string, values: number[]) => ({ what, unit: 'ms', values });
  const [schedules, estimates] = (['schedule', 'estimates'] as const).map((of) =>
    times.map((one) => one[of]),
  );
  console.log(await setupOf());
  say(figure(`a scheduling round over ${queued} queued`, schedules!));
  say(figure(`a scheduling round over ${LONG_QUEUE} queued`, longTimes));
  say({ ...figure(`estimates of ${queued} queued`, estimates!), most: 100 });
}

/** A cluster on which one experiment of 8 GPUs runs on each node, and the line that waits for it. */
function fullCluster(count: number) {
  const nodes = Array.from({ length: NODES }, (_, at) => node(`n${at}`, 8, 64));
  const running = nodes.map(({ id }, at) => ({
    experiment: `r${at}`,
    node: id,
    gpus: 8,
    cpus: 8,
    project: `p${at % PROJECTS}`,
  }));
  const queued = Array.from({ length: count }, (_, at) =>
    waits(`w${at}`, 2 ** (at % 4), 1, { project: `p${at % PROJECTS}` }),
  );
  return {
    queued,
    clusters: [cluster('c', nodes)],
    allocations: new Map([['c', running]]),
    ends: new Map(running.map(({ experiment }, at) => [experiment, exactly((at + 1) * MINUTE)])),
    lengths: new Map(queued.map(({ experiment }, at) => [experiment, exactly((10 + (at % 50)) * MINUTE)])),
    now: 0,
  };
}
