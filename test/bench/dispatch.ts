import { setTimeout as delay } from 'node:timers/promises';
import { newExperimentId } from '../../src/core/ids.ts';
import { createLine } from '../../src/queue/line.ts';
import { startBench, until } from '../support/dispatch.ts';

/*
 * Latency from an accepted submission (record and place in line written) to the arrival of its Launch at an idle
 * ray-worker, beside BullMQ's own add → start on the same Redis, interleaved.
 */

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

function summary(name: string, ms: readonly number[]): string {
  const [p50, p99, max] = [0.5, 0.99, 1].map((q) => quantile(ms, q).toFixed(1));
  return `${name}: n=${ms.length} p50=${p50} ms p99=${p99} ms max=${max} ms`;
}

/** `--count N` submissions at `--rate R` per second (defaults 500 and 50). */
export async function run(args: readonly string[]): Promise<void> {
  const option = (name: string, otherwise: number) => {
    const at = args.indexOf(`--${name}`);
    return at < 0 ? otherwise : Number(args[at + 1]);
  };
  const count = option('count', 500);
  const everyMs = 1000 / option('rate', 50);
  const bench = await startBench({ cpus: 64 });
  const sent = new Map<string, number>();
  const launched: number[] = [];
  const bare: number[] = [];
  bench.rayWorker.onLaunch = async ({ experiment }) => {
    const at = sent.get(experiment);
    if (at !== undefined) launched.push(performance.now() - at);
  };
  const connected = bench.redis.duplicate();
  const plain = createLine({ redis: connected, prefix: '{bare}', onError: () => {} });
  const plainSent = new Map<string, number>();
  const serving = plain.serve(
    async (id) => {
      bare.push(performance.now() - (plainSent.get(id) ?? Number.NaN));
      return { done: true };
    },
    { concurrency: 64 },
  );
  await bench.dispatcher({ leaseMs: 15_000, lookMs: 1_000, refreshMs: 2_000, reconcileMs: 5_000 });
  await bench.reaches(await bench.submit({}), 'succeeded');
  for (let index = 0; index < count; index += 1) {
    const started = performance.now();
    const id = newExperimentId();
    if (index % 2 === 0) {
      // The clock starts before the record is written: the submission's own time is in it.
      const submitting = bench.submit({ steps: 1 }, { id });
      sent.set(id, performance.now());
      await submitting;
    } else {
      plainSent.set(id, performance.now());
      await plain.join(id, 0);
    }
    await delay(Math.max(0, everyMs - (performance.now() - started)));
  }
  await until(() => launched.length === count / 2, 'all are launched');
  console.log(summary('submit → Launch', launched));
  console.log(summary('bare add → start', bare));
  await serving.close(500);
  await plain.close();
  connected.disconnect();
  await bench.stop();
}

if (import.meta.main) await run(process.argv.slice(2));
