import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { AttemptEvent } from '../../../../src/core/events.ts';
import type { Archive } from '../../../../src/store/archive/archive.ts';
import { createKeys } from '../../../../src/store/redis/keys.ts';
import { inKnownLayout } from '../../../../src/store/redis/layouts.ts';
import { loadSample, type Sample } from '../../../support/record-samples.ts';
import { clusterRecord, coded, type Scope, storeFor, submitInput } from '../../../support/store.ts';

/*
 * A sample is a whole Redis as a version of Echelon left it: one experiment that waits, one that runs and one that has
 * ended, a cluster, a command, a sweep. Every one of them must read right forever.
 */
const FOLDER = new URL('../../../golden/records/', import.meta.url);
const VERSIONS = readdirSync(FOLDER).filter((name) => name.startsWith('v'));
const keys = createKeys('echelon');
const [WAITING, RUNNING, DONE] = ['wait', '0run', 'done'].map((end) => `exp-0000000000000000${end}`) as [
  string,
  string,
  string,
];

async function load(t: Scope, version: string) {
  const read = (name: string) => JSON.parse(readFileSync(new URL(`${version}/${name}.json`, FOLDER), 'utf8'));
  const objects = existsSync(new URL(`${version}/archive.json`, FOLDER)) ? read('archive') : {};
  const archive: Archive = {
    put: async (owner, digest, bytes) => {
      objects[`${owner}/${digest}`] = Buffer.from(bytes).toString('base64');
    },
    get: async (owner, digest) => Buffer.from(objects[`${owner}/${digest}`], 'base64'),
    remove: async () => {},
  };
  const all = await storeFor(t, { archive });
  await loadSample(all.redis, read('store') as Sample);
  return all;
}

for (const version of VERSIONS) {
  describe(`records of ${version}`, () => {
    test('experiments, their streams and batches read as they were written', async (t) => {
      const { store } = await load(t, version);
      const waiting = await store.experiments.get(WAITING);
      assert.deepEqual([waiting?.state, waiting?.name, waiting?.priority], ['queued', 'waiting', 3]);
      assert.deepEqual(waiting?.submitted, { engine: 'replay' });
      assert.deepEqual([waiting?.rerunOf, waiting?.quarantined], [null, false]);
      assert.equal(
        (await store.queue.first(10)).find((one) => one.experiment === WAITING)?.reason,
        'needs 1 GPU',
      );
      assert.equal((await store.experiments.get(RUNNING))?.progress.step, 1);
      const done = await store.experiments.get(DONE);
      assert.deepEqual([done?.state, done?.fingerprint], ['succeeded', 'hgpo/1']);
      assert.deepEqual(done?.checkpoint, { step: 1, path: '/shared/c/1', attempt: 1 });
      assert.deepEqual([done?.verification.status, done?.verification.exact], ['complete', 2]);
      assert.deepEqual(done?.progress.metrics, { loss: 0.5, kl: 'NaN' });
      const entries = await store.events.read(DONE, undefined, 100);
      assert.deepEqual(
        entries.map(({ event }) => event.type),
        [
          'state',
          'state',
          'state',
          'stage',
          'log',
          'metrics',
          'batch',
          'checkpoint',
          'verification',
          'state',
        ],
      );
      const [batch] = await store.batches.list(DONE);
      assert.deepEqual(batch?.report, { ok: true, rows: 3 });
      assert.equal(Buffer.from(await store.batches.bytes(batch)).toString(), 'bytes of a batch');
    });

    test('clusters, commands and sweeps too', async (t) => {
      const { store } = await load(t, version);
      const [cluster] = await store.clusters.list();
      assert.deepEqual([cluster?.name, cluster?.nodes.length, cluster?.draining], ['lab', 1, true]);
      const command = await store.commands.get('cmd-0000000000000000aaaa');
      assert.deepEqual([command?.kind, command?.state], ['preflight', 'queued']);
      const sweep = await store.sweeps.get('swp-0000000000000000aaaa');
      assert.deepEqual([sweep?.name, sweep?.count, sweep?.expanded], ['a sweep', 3, 3]);
      assert.deepEqual((await store.projects.list()).map(({ name }) => name).includes('default'), true);
    });

    test('keys, projects and feeds too', async (t) => {
      const { store } = await load(t, version);
      const [key] = await store.access.keys();
      assert.deepEqual([key?.id, key?.scopes, key?.project], ['0123456789abcdef', ['read'], null]);
      assert.equal(key?.digest, 'd'.repeat(64));
      const vision = await store.projects.get('vision');
      assert.deepEqual([vision?.weight, vision?.gpuQuota], [2, null]);
      assert.equal(vision?.retention?.batchesDays, 3);
      const [first] = await store.feed.read(null, '0', 100);
      assert.deepEqual([first?.project, first?.experiment, first?.name], ['default', WAITING, 'waiting']);
      assert.equal(first?.event.type, 'state');
    });

    test('they continue: running experiments end, ended ones are archived, repeated requests are known', async (t) => {
      const { store, redis } = await load(t, version);
      const token = (await redis.hget(keys.experiment(RUNNING), 'token'))!;
      const lease = { experiment: RUNNING, attempt: 1, token };
      const event: AttemptEvent = { type: 'log', source: 'stdout', lines: ['more'], cutBytes: 0 };
      assert.equal(await store.events.append(lease, [{ sequence: 6, at: 60, event }]), 6);
      assert.equal(await store.attempts.end(lease, { to: 'succeeded', reason: 'exit code 0' }), 'succeeded');
      await store.rules.dropSignals(DONE);
      const before = await store.events.read(DONE, undefined, 100);
      assert.equal(await store.archive.archiveStream(DONE), 'archived');
      assert.deepEqual(await store.events.read(DONE, undefined, 100), before);
    });
  });
}

test('a layout that only a later version knows is refused in words, wherever it is met', async (t) => {
  assert.deepEqual(inKnownLayout('project', { name: 'a' }), { name: 'a' });
  assert.throws(() => inKnownLayout('key', { version: 99 }), coded('record-too-new'));
  assert.throws(() => inKnownLayout('key', { version: 'x' }), coded('record-too-new'));
  const { store, redis } = await load(t, 'v2');
  // Fails without `inKnownLayout` where the record is read.
  await redis.hset(keys.experiment(DONE), 'version', '99');
  await assert.rejects(store.experiments.get(DONE), /layout 99.*Upgrade this process/);
  await redis.hset('{echelon}:sweep:swp-0000000000000000aaaa', 'version', '99');
  await assert.rejects(store.sweeps.get('swp-0000000000000000aaaa'), coded('record-too-new'));
  await redis.hset('{echelon}:projects', 'later', JSON.stringify({ version: 99, name: 'later' }));
  await assert.rejects(store.projects.get('later'), coded('record-too-new'));
});

test('a dispatcher leaves an attempt to others whose record it cannot read', async (t) => {
  const { store, redis } = await storeFor(t);
  await store.clusters.put(clusterRecord());
  const given = { dispatcher: 'd', leaseMs: 60_000 };
  const later = async (id: string) => await redis.hset(keys.experiment(id), 'version', '99');
  const readable = async (id: string) => await redis.hset(keys.experiment(id), 'version', '1');
  const { id: experiment } = await store.experiments.submit(submitInput());
  const start = { experiment, project: 'default', cluster: 'local', nodes: [{ id: 'n', gpus: 0, cpus: 1 }] };
  assert.deepEqual(await store.attempts.allocate([{ ...start, allocationVersion: 0 }]), ['allocated']);
  const acquire = (token: string) => store.attempts.acquire({ experiment, token, ...given });
  await later(experiment);
  assert.equal((await acquire('a')).outcome, 'busy');
  await readable(experiment);
  const acquired = await acquire('b');
  assert.ok(acquired.outcome === 'acquired');
  await store.attempts.confirm(acquired.lease);
  await store.attempts.release([acquired.lease]);
  await later(experiment);
  assert.deepEqual(await store.attempts.takeOver({ ...given, limit: 9 }), []);
  await readable(experiment);
  assert.equal((await store.attempts.takeOver({ ...given, limit: 9 })).length, 1);
});

test('there is a sample of every layout', () => {
  assert.deepEqual(VERSIONS.sort(), ['v2', 'v3']);
  // A record has the lowest layout that says what it holds: that of a sweep's child is the highest.
  for (const [folder, experiment, layout] of [
    ['v2', DONE, '2'],
    ['v3', WAITING, '3'],
  ] as const) {
    const sample = JSON.parse(readFileSync(new URL(`${folder}/store.json`, FOLDER), 'utf8')) as Sample;
    const version = (sample[keys.experiment(experiment)] as { value: Record<string, string> }).value.version!;
    assert.equal(Buffer.from(version, 'base64').toString(), layout);
  }
});
