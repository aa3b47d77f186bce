import { Redis } from 'ioredis';
import type { NumberedEvent } from '../../src/core/events.ts';
import { newExperimentId } from '../../src/core/ids.ts';
import type { Archive } from '../../src/store/archive/archive.ts';
import type { Lease } from '../../src/store/attempts/types.ts';
import type { SubmitInput } from '../../src/store/experiments/types.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { claim as claimOn } from '../support/claim.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { afterWarmUp, optionsOf, say, setupOf, timed } from './harness.ts';

/*
 * The store against the bare primitive, in one run and on one server, the arms in turn: what is said is a ratio.
 * Times are printed as information about the machine, never to be compared with those of another.
 */

const archive: Archive = {
  put: () => Promise.reject(new Error('nothing here is long')),
  get: () => Promise.reject(new Error('nothing here is long')),
  remove: () => Promise.reject(new Error('nothing here is long')),
};

/**
 * `--rounds`, `--events` (appended per round and arm), `--depths` (queued experiments, by comma), `--fsync`, `--only`
 * (`append` or `depth`).
 */
export async function run(args: readonly string[]): Promise<void> {
  const { rounds, events, depths, fsync, only } = optionsOf(args, {
    rounds: 9,
    events: 6400,
    depths: '1000,100000',
    fsync: 'always',
    only: '',
  });
  const appendfsync = fsync === 'everysec' ? 'everysec' : fsync === 'no' ? 'no' : 'always';
  const server = await startRedis({ appendfsync });
  const redis = new Redis(server.port, { maxRetriesPerRequest: null });
  try {
    console.log(`${await setupOf(redis)}, appendfsync ${appendfsync}`);
    if (only !== 'depth') await benchAppend(redis, { rounds, events });
    if (only !== 'append') await benchDepth(server, redis, { rounds, depths: depths.split(',').map(Number) });
  } finally {
    redis.disconnect();
    await server.stop();
  }
}

function logEvent(sequence: number): NumberedEvent {
  const lines = [`step ${sequence}: a line of a log as long as such lines are, about eighty letters in all`];
  return { sequence, at: 1_700_000_000_000, event: { type: 'log', source: 'stdout', lines, cutBytes: 0 } };
}

function metricsEvent(sequence: number): NumberedEvent {
  const values = Object.fromEntries(
    Array.from({ length: 40 }, (_v, at) => [`group/metric-${at}`, at / sequence]),
  );
  return { sequence, at: 1_700_000_000_000, event: { type: 'metrics', step: sequence, values } };
}

/** Append of the store, in calls of 128, against plain XADD of the same fields, pipelined in the same way. */
async function benchAppend(
  redis: Redis,
  { rounds, events }: { rounds: number; events: number },
): Promise<void> {
  const store = createStore({ redis, archive, prefix: 'bench-append' });
  for (const [name, make] of [
    ['log lines', logEvent],
    ['40 metrics', metricsEvent],
  ] as const) {
    const source = Array.from({ length: events }, (_v, at) => make(at + 1));
    const found = await afterWarmUp(rounds, async (round) => {
      const bareMs = await timed(() => plainXadd(redis, `{bench-append}:plain:${name}:${round}`, source));
      const lease = await runningLease(store);
      const storeMs = await timed(() => store.events.append(lease, source));
      return { ratio: bareMs / storeMs, rate: (events / storeMs) * 1000 };
    });
    const what = `append of ${name}`;
    say({ what, unit: 'events/s', values: found.map(({ rate }) => rate) });
    say({ what: `${what}, to plain XADD (rate)`, unit: '×', values: found.map(({ ratio }) => ratio) });
  }
  await store.close();
}

async function plainXadd(redis: Redis, key: string, source: readonly NumberedEvent[]): Promise<void> {
  for (let at = 0; at < source.length; at += 128) {
    const commands = redis.pipeline();
    for (const item of source.slice(at, at + 128)) {
      commands.xadd(key, '*', 't', item.event.type, 'a', String(item.at), 'd', JSON.stringify(item.event));
    }
    await commands.exec();
  }
}

/** Claim, page and position at several depths of the line, against the first depth. */
async function benchDepth(
  server: RedisServer,
  redis: Redis,
  { rounds, depths }: { rounds: number; depths: number[] },
): Promise<void> {
  const arms: { depth: number; store: Store; redis: Redis }[] = [];
  for (const depth of depths) {
    const own = new Redis(server.port, { maxRetriesPerRequest: null });
    const prefix = `bench-${depth}`;
    const store = createStore({ redis: own, archive, prefix, limits: { queuedOfProject: 1_000_000 } });
    const before = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
    const ms = await timed(() => submitMany(store, depth));
    const after = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
    say({
      what: `submissions to the store up to ${depth} queued`,
      unit: '/s',
      values: [(depth / ms) * 1000],
    });
    say({ what: `memory of each of ${depth} queued`, unit: 'B', values: [(after - before) / depth] });
    arms.push({ depth, store, redis: own });
  }
  const steps: [string, (store: Store) => Promise<unknown>][] = [
    ['claim and end', claimAndEnd],
    ['cancel', cancelOne],
    ['page of 50', (store) => store.experiments.list({ limit: 50 })],
    [
      'page of 50 of a state',
      (store) => store.experiments.list({ limit: 50, state: 'queued', project: 'default' }),
    ],
    ['position', async (store) => store.queue.position((await store.queue.ids(1))[0]!)],
  ];
  for (const [name, step] of steps) {
    const times = await afterWarmUp(rounds, async () => {
      const ms: number[] = [];
      for (const { store } of arms) ms.push(await timeThirty(() => step(store)));
      return ms;
    });
    for (const [index, { depth }] of arms.entries()) {
      if (index === 0) continue;
      const values = times.map((ms) => ms[index]! / ms[0]!);
      say({ what: `${name} at ${depth} queued, to ${depths[0]}`, unit: '×', values, most: 1.5 });
    }
  }
  for (const { store, redis: own } of arms) {
    await store.close();
    own.disconnect();
  }
}

/** Milliseconds of one of thirty. */
async function timeThirty(step: () => Promise<unknown>): Promise<number> {
  const ms = await timed(async () => {
    for (let at = 0; at < 30; at++) await step();
  });
  return ms / 30;
}

async function submitMany(store: Store, count: number): Promise<void> {
  for (let at = 0; at < count; at += 256) {
    await Promise.all(
      Array.from({ length: Math.min(256, count - at) }, () => store.experiments.submit(input())),
    );
  }
}

async function claimAndEnd(store: Store): Promise<void> {
  const [experiment] = await store.queue.ids(1);
  await store.attempts.end(await leaseOf(store, experiment!), { to: 'queued', reason: 'bench' });
}

async function cancelOne(store: Store): Promise<void> {
  const { id } = await store.experiments.submit(input());
  await store.experiments.cancel(id, 'bench');
}

async function runningLease(store: Store): Promise<Lease> {
  const { id } = await store.experiments.submit(input());
  const lease = await leaseOf(store, id);
  await store.attempts.confirm(lease);
  return lease;
}

async function leaseOf(store: Store, experiment: string): Promise<Lease> {
  const { version } = await store.clusters.allocations('c');
  const claim = await claimOn(store, {
    experiment,
    cluster: 'c',
    nodes: [{ id: 'n', gpus: 1, cpus: 1 }],
    allocationVersion: version,
    dispatcher: 'd',
    leaseMs: 600_000,
  });
  if (claim.outcome !== 'claimed') throw new Error(claim.outcome);
  return claim.lease;
}

function input(): SubmitInput {
  const spec = {
    engine: 'local',
    name: 'bench',
    estimator: { name: 'hgpo', historyLength: 2 },
    note: 'x'.repeat(300),
  };
  return {
    id: newExperimentId(),
    project: 'default',
    name: 'bench',
    priority: 0,
    cluster: null,
    gpus: 1,
    cpus: 1,
    submitted: spec,
    resolved: { ...spec, more: 'x'.repeat(700) },
    defaults: ['/more'],
    fingerprint: null,
    customCode: false,
  };
}
