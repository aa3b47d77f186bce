import type { Redis } from 'ioredis';
import type { NumberedEvent } from '../../src/core/events.ts';
import { createKeys } from '../../src/store/redis/keys.ts';
import type { Store } from '../../src/store/store.ts';
import { startRedis } from '../support/redis.ts';
import { running, storeFor } from '../support/store.ts';
import { afterWarmUp, optionsOf, say, setupOf, timed } from './harness.ts';

/*
 * Metrics in the store: bytes of Redis for each recorded value, beside an entry of a stream for each value and one of
 * JSON for each step; and what a chart of 500 points costs by the length of the run.
 */

/** `--steps` (lengths of the run, by comma), `--wide` (metrics and steps of the run whose bytes are counted, by x). */
export async function run(args: readonly string[]): Promise<void> {
  const values = optionsOf(args, {
    steps: '100,1000,10000,100000',
    wide: '1x5000,40x3000,200x160,200x2000',
  });
  const server = await startRedis({ appendfsync: 'no' });
  const releases: (() => Promise<void>)[] = [];
  const scope = { after: (release: () => Promise<void>) => void releases.push(release) };
  try {
    const { store, redis } = await storeFor(scope, { server });
    console.log(await setupOf(redis));
    for (const size of values.wide.split(',')) {
      const [metrics, steps] = size.split('x').map(Number) as [number, number];
      await countBytes(store, redis, { metrics, steps });
    }
    for (const steps of values.steps.split(',').map(Number)) await timeChart(store, redis, steps);
  } finally {
    for (const release of releases.reverse()) await release();
    await server.stop();
  }
}

function event(step: number, metrics: number): NumberedEvent {
  const values = Object.fromEntries(
    Array.from({ length: metrics }, (_v, at) => [
      `actor/metric_${at}`,
      Math.sin(step * (at + 1) + 0.1) * 1e-3,
    ]),
  );
  return { sequence: step + 1, at: 1_700_000_000_000, event: { type: 'metrics', step, values } };
}

async function record(store: Store, steps: number, metrics: number): Promise<string> {
  const lease = await running(store);
  for (let first = 0; first < steps; first += 128) {
    const length = Math.min(128, steps - first);
    await store.events.append(
      lease,
      Array.from({ length }, (_v, at) => event(first + at, metrics)),
    );
    for (const id of await store.metrics.takeDue(10)) await store.metrics.compact(id);
  }
  return lease.experiment;
}

async function bytesOf(redis: Redis, ...names: string[]): Promise<number> {
  let bytes = 0;
  for (const name of names) {
    bytes += Number((await redis.call('MEMORY', 'USAGE', name, 'SAMPLES', '0')) ?? 0);
  }
  return bytes;
}

async function countBytes(
  store: Store,
  redis: Redis,
  { metrics, steps }: { metrics: number; steps: number },
): Promise<void> {
  const keys = createKeys('echelon');
  const count = metrics * steps;
  const id = await record(store, steps, metrics);
  const series = `${keys.experiment(id)}:series`;
  const [stream, pyramid] = [
    await bytesOf(redis, keys.events(id)),
    await bytesOf(redis, series, `${series}:names`, `${series}:rows`),
  ];
  const [perValue, perStep] = ['bench:value', 'bench:step'];
  for (let step = 0; step < steps; step++) {
    const { values } = event(step, metrics).event as { values: Record<string, number> };
    const commands = redis.pipeline();
    for (const [name, value] of Object.entries(values))
      commands.xadd(perValue, '*', 'n', name, 's', step, 'v', value);
    commands.xadd(perStep, '*', 'd', JSON.stringify({ type: 'metrics', step, values }));
    await commands.exec();
  }
  const each = {
    'an entry a value': await bytesOf(redis, perValue),
    'JSON a step': await bytesOf(redis, perStep),
  };
  for (const [where, bytes] of Object.entries({ 'the stream': stream, 'the series': pyramid, ...each }))
    say({
      what: `a value of ${metrics} metrics, ${steps} steps, in ${where}`,
      unit: 'B',
      values: [bytes / count],
    });
  await redis.del(perValue, perStep);
}

/** What a chart of 500 points costs. */
async function timeChart(store: Store, redis: Redis, steps: number): Promise<void> {
  const id = await record(store, steps, 1);
  const sent = async () => Number(/total_net_output_bytes:(\d+)/.exec(await redis.info('stats'))![1]);
  const before = await sent();
  const series = () => store.metrics.series(id, { names: ['actor/metric_0'], resolution: 500 });
  const values = await afterWarmUp(20, () => timed(series));
  say({ what: `a chart of ${steps} steps`, unit: 'ms', values });
  say({ what: `bytes read for it`, unit: 'kB', values: [((await sent()) - before) / 21 / 1000] });
}
