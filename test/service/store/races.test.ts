import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Redis } from 'ioredis';
import { EchelonError } from '../../../src/core/errors.ts';
import type { ExperimentEvent } from '../../../src/core/events.ts';
import { isFinal, isHeld, STATES, type State, TRANSITIONS } from '../../../src/core/states.ts';
import type { Lease } from '../../../src/store/attempts/types.ts';
import { createKeys } from '../../../src/store/redis/keys.ts';
import type { Store } from '../../../src/store/store.ts';
import { claim as claimOn } from '../../support/claim.ts';
import { newSeed } from '../../support/random.ts';
import { redisFor } from '../../support/redis.ts';
import { storeFor, submitInput } from '../../support/store.ts';

const keys = createKeys('echelon');
const EXPERIMENTS = 12;
const ROUNDS = 125;
const RACERS = 8;

/** What one racer did, as far as it matters to what must hold. */
type Outcome =
  | { did: 'claim' | 'take'; lease: Lease }
  | { did: 'confirm'; lease: Lease; state: State }
  | { did: 'append'; lease: Lease; sequence: number }
  | { did: 'end'; lease: Lease; asked: State; state: State }
  | { did: 'cancel'; experiment: string; answer: string }
  | { did: 'nothing' };

/*
 * 1,000 operations of eight racers at a time over two connections. Seen to fail where claim.lua does not look at the
 * state or at the version of the allocations, where end.lua or confirm.lua do not compare the token, where cancel.lua
 * keeps the queue position, and where take-over.lua keeps the old token.
 */
test('claims, cancels, takeovers and ends race to legal outcomes only', async (t) => {
  const server = await redisFor(t, { appendfsync: 'no' });
  const clients = [await storeFor(t, { server }), await storeFor(t, { server })];
  const stores = clients.map((client) => client.store);
  const redis = clients[0]!.redis;
  const seed = newSeed();
  t.diagnostic(`ECHELON_SEED=${seed}`);
  const random = mulberry32(seed);
  const ids: string[] = [];
  const leases: Lease[] = [];
  const history: Outcome[] = [];

  for (let round = 0; round < ROUNDS; round++) {
    while ((await stores[0]!.queue.ids(100)).length < EXPERIMENTS / 2) {
      const input = submitInput({ priority: Math.floor(random() * 3) });
      ids.push(input.id);
      await stores[0]!.experiments.submit(input);
    }
    // Some leases run out, by the server's clock; others have not.
    for (const id of await redis.zrange(keys.leases, '0', '-1')) {
      if (random() < 0.3) await redis.zadd(keys.leases, 1, id);
    }
    const racing = Array.from({ length: RACERS }, (_v, racer) =>
      race({ store: stores[racer % 2]!, random, ids, leases, racer }),
    );
    for (const outcome of await Promise.all(racing)) {
      history.push(outcome);
      if (outcome.did === 'claim' || outcome.did === 'take') leases.push(outcome.lease);
    }
    assert.ok(
      (await stores[0]!.clusters.allocations('local')).items.length <= 2,
      'more was allocated than there is',
    );
  }

  assert.equal(history.length, ROUNDS * RACERS);
  for (const did of ['claim', 'take', 'confirm', 'append', 'end', 'cancel'] as const) {
    assert.ok(history.filter((outcome) => outcome.did === did).length > 5, `too few: ${did}`);
  }
  checkGrants(history);
  for (const id of ids) await checkExperiment(stores[0]!, history, id);
  await checkIndexes(stores[0]!, redis, ids);
});

interface Racer {
  store: Store;
  random: () => number;
  ids: readonly string[];
  leases: readonly Lease[];
  racer: number;
}

async function race(racer: Racer): Promise<Outcome> {
  const { store, random, ids, leases } = racer;
  const lease = leases[Math.floor(leases.length * (1 - random() ** 3))];
  const dice = random();
  try {
    if (dice < 0.3 || !lease) return await claimAny(racer);
    if (dice < 0.45) {
      const [taken] = await store.attempts.takeOver({
        dispatcher: `d${racer.racer}`,
        leaseMs: 60_000,
        limit: 1,
        suspects: true,
      });
      return taken ? { did: 'take', lease: taken.lease } : { did: 'nothing' };
    }
    if (dice < 0.6) return { did: 'confirm', lease, state: await store.attempts.confirm(lease) };
    if (dice < 0.75) {
      const sequence = (await store.events.append(lease, [])) + 1;
      const event = { type: 'stage', name: lease.token, step: sequence, steps: 9 } as const;
      await store.events.append(lease, [{ sequence, at: 0, event }]);
      return { did: 'append', lease, sequence };
    }
    if (dice < 0.9) {
      const asked = (['queued', 'succeeded', 'failed', 'cancelled'] as const)[Math.floor(random() * 4)]!;
      return {
        did: 'end',
        lease,
        asked,
        state: await store.attempts.end(lease, { to: asked, reason: 'over' }),
      };
    }
    const head = random() < 0.6 ? await store.queue.ids(3) : ids;
    const experiment = head[Math.floor(head.length * random())] ?? ids[0]!;
    return { did: 'cancel', experiment, answer: await store.experiments.cancel(experiment, 'a race') };
  } catch (error) {
    assert.ok(error instanceof EchelonError, String(error));
    const illegal = error.code === 'internal' && error.message.includes('cannot become');
    assert.ok(illegal || ['lease-lost', 'sequence-gap'].includes(error.code), error.message);
    return { did: 'nothing' };
  }
}

async function claimAny({ store, random, racer }: Racer): Promise<Outcome> {
  const waiting = await store.queue.ids(3);
  const experiment = waiting[Math.floor(random() * waiting.length)];
  if (!experiment) return { did: 'nothing' };
  const { version, items } = await store.clusters.allocations('local');
  // Two GPUs in all: the model of the choice, which relies on the version being that of what was read.
  if (items.length >= 2) return { did: 'nothing' };
  const claim = await claimOn(store, {
    experiment,
    cluster: 'local',
    nodes: [{ id: 'n', gpus: 1, cpus: 1 }],
    allocationVersion: version,
    dispatcher: `d${racer}`,
    leaseMs: 60_000,
  });
  return claim.outcome === 'claimed' ? { did: 'claim', lease: claim.lease } : { did: 'nothing' };
}

/** No attempt is claimed twice, and each grant names another token. */
function checkGrants(history: readonly Outcome[]): void {
  const claims = history.flatMap((outcome) => (outcome.did === 'claim' ? [outcome.lease] : []));
  const attempts = claims.map((lease) => `${lease.experiment} ${lease.attempt}`);
  assert.equal(new Set(attempts).size, attempts.length, 'an attempt was claimed twice');
  const grants = history.flatMap((outcome) =>
    outcome.did === 'claim' || outcome.did === 'take' ? [outcome.lease.token] : [],
  );
  assert.equal(new Set(grants).size, grants.length, 'a token was granted twice');
}

/** The stream folds to the record along the table, and holds exactly what was acknowledged. */
async function checkExperiment(store: Store, history: readonly Outcome[], id: string): Promise<void> {
  const record = await store.experiments.get(id);
  assert.ok(record);
  const entries = await store.events.read(id, undefined, 10_000);
  let state: State | null = null;
  let attempt = 0;
  let finals = 0;
  for (const { event } of entries) {
    if (event.type !== 'state') continue;
    assert.equal(event.from, state);
    const legal: readonly State[] = event.from === null ? ['queued'] : TRANSITIONS[event.from];
    assert.ok(legal.includes(event.to), `${event.from} → ${event.to}`);
    assert.equal(event.attempt, event.to === 'launching' ? attempt + 1 : attempt);
    attempt = event.attempt;
    state = event.to;
    if (isFinal(state)) finals++;
  }
  assert.equal(state, record.state);
  assert.equal(attempt, record.attempt);
  assert.equal(finals, isFinal(record.state) ? 1 : 0);

  const stages = entries.flatMap(({ event }) => (event.type === 'stage' ? [stageOf(event)] : []));
  const acknowledged = history.flatMap((outcome) =>
    outcome.did === 'append' && outcome.lease.experiment === id
      ? [`${outcome.lease.token} ${outcome.sequence}`]
      : [],
  );
  for (const one of acknowledged) assert.ok(stages.includes(one), 'an acknowledged event is missing');
  for (const one of stages) assert.ok(acknowledged.includes(one), 'every recorded event was acknowledged');
  const cancels = history.filter(
    (o) => o.did === 'cancel' && o.experiment === id && o.answer === 'cancelled',
  );
  assert.ok(cancels.length <= 1);
  if (cancels.length === 1) assert.equal(record.state, 'cancelled');
  for (const outcome of history) {
    if (outcome.did !== 'cancel' || outcome.experiment !== id || outcome.answer !== 'cancelling') continue;
    assert.ok(['cancelling', 'cancelled'].includes(record.state), 'a cancel was acknowledged and forgotten');
  }
}

function stageOf(event: Extract<ExperimentEvent, { type: 'stage' }>): string {
  return `${event.name} ${event.step}`;
}

/** Line, leases, allocations and counts say the same as the records. */
async function checkIndexes(store: Store, redis: Redis, ids: readonly string[]): Promise<void> {
  const records = await Promise.all(ids.map(async (id) => (await store.experiments.get(id))!));
  const sorted = (list: readonly string[]) => [...list].sort();
  const held = sorted(records.filter((r) => isHeld(r.state)).map((r) => r.id));
  assert.deepEqual(sorted(await redis.zrange(keys.leases, '0', '-1')), held);
  assert.deepEqual(
    sorted((await store.clusters.allocations('local')).items.map((item) => item.experiment)),
    held,
  );
  const queued = records.filter((r) => r.state === 'queued');
  queued.sort((a, b) => b.priority - a.priority || ids.indexOf(a.id) - ids.indexOf(b.id));
  assert.deepEqual(
    await store.queue.ids(1000),
    queued.map((r) => r.id),
  );
  const counts = await store.experiments.counts();
  for (const state of STATES) assert.equal(counts[state], records.filter((r) => r.state === state).length);
}

function mulberry32(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
