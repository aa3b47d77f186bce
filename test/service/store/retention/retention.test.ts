import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import type { NumberedEvent } from '../../../../src/core/events.ts';
import type { Archive } from '../../../../src/store/archive/archive.ts';
import type { BatchRecord } from '../../../../src/store/batches/types.ts';
import { createKeys } from '../../../../src/store/redis/keys.ts';
import type { Store } from '../../../../src/store/store.ts';
import { allBatches } from '../../../support/batches.ts';
import { archiveFor, coded, running, type Scope, storeFor } from '../../../support/store.ts';
import { expandAll, sweepInput, sweepRequest } from '../../../support/sweep.ts';

const REPORT = {
  ...{ name: 'step 1', rows: 3, exact: 3, rounding: 0, wrong: 0, unverifiable: 0, ok: true },
  ...{ fingerprint: 'hgpo()', wrongRows: [], roundingRows: [], findings: [] },
};

const keys = createKeys('echelon');
const LATER = Date.now() + 1_000_000;
const SHORT = Buffer.from('short');
const LONG = Buffer.alloc(400, 'long ');

function batchOf(sequence: number, batch: number, data: Buffer): NumberedEvent {
  const digest = createHash('sha256').update(data).digest('hex');
  const event = {
    type: 'batch',
    step: 1,
    batch,
    index: 0,
    count: 1,
    rows: 3,
    digest,
    bytes: data.length,
  } as const;
  return { sequence, at: 0, event, data };
}

/** An archived experiment with a short and a long batch, each with its report. */
async function archived(store: Store): Promise<{ id: string; records: BatchRecord[] }> {
  const lease = await running(store);
  await store.events.append(lease, [
    batchOf(1, 1, SHORT),
    batchOf(2, 2, LONG),
    batchOf(3, 3, Buffer.from('third')),
  ]);
  await store.attempts.end(lease, { to: 'succeeded', reason: 'exit code 0' });
  const id = lease.experiment;
  for (const record of await store.batches.takePending(5, { holder: 'verifier-1', leaseMs: 60_000 })) {
    const counts = { rows: 3, exact: 3, rounding: 0, wrong: 0, unverifiable: 0, errors: [], ok: true };
    await store.batches.report(
      record,
      { type: 'verification', attempt: 1, batch: record.batch, step: 1, ...counts },
      REPORT,
    );
  }
  await store.rules.dropSignals(id);
  assert.equal(await store.archive.archiveStream(id), 'archived');
  return { id, records: await allBatches(store, id) };
}

/** An archive that tells what it has, and may lose its power before a removal. */
async function watched(t: Scope) {
  const directory = await archiveFor(t);
  const has = new Map<string, Set<string>>();
  const power = { on: true };
  const archive: Archive = {
    async put(owner, digest, bytes) {
      has.set(owner, (has.get(owner) ?? new Set()).add(digest));
      await directory.put(owner, digest, bytes);
    },
    get: directory.get,
    async remove(owner, except = new Set()) {
      if (!power.on) throw new Error('the power is off');
      for (const digest of has.get(owner) ?? []) if (!except.has(digest)) has.get(owner)?.delete(digest);
      await directory.remove(owner, except);
    },
  };
  return { ...(await storeFor(t, { archive, limits: { inlineBytes: 256 } })), has, power };
}

const dueAt = async (store: Store) =>
  await Promise.all(
    (['batches', 'streams', 'records'] as const).map((stage) =>
      store.retention.due(stage, 'default', { endedBefore: LATER, limit: 10 }),
    ),
  );

describe('retention', () => {
  test('batches go first, then the stream, then the record', async (t) => {
    const { store, has, redis } = await watched(t);
    const { id, records } = await archived(store);
    const events = await store.events.read(id, undefined, 100);
    assert.deepEqual(await dueAt(store), [[id], [], []]);
    assert.deepEqual(await store.retention.due('batches', 'default', { endedBefore: 1, limit: 10 }), []);
    const figures = await store.retention.dueFigures('records', 'default', LATER);
    assert.deepEqual([figures.experiments, figures.first, figures.complete], [1, [id], true]);
    assert.ok((await store.retention.dueFigures('batches', 'default', LATER)).bytes > LONG.length);

    assert.equal(await store.retention.expire('batches', id), 'expired');
    assert.deepEqual(await dueAt(store), [[], [id], []]);
    assert.deepEqual(await store.events.read(id, undefined, 100), events);
    for (const record of records) await assert.rejects(store.batches.bytes(record), coded('expired'));
    assert.equal(has.get(id)?.size, 1);
    assert.equal((await store.retention.dueFigures('batches', 'default', LATER)).bytes, 0);

    assert.equal(await store.retention.expire('streams', id), 'expired');
    assert.deepEqual(await dueAt(store), [[], [], [id]]);
    assert.deepEqual(await store.events.read(id, undefined, 100), []);
    assert.deepEqual(await allBatches(store, id), []);
    assert.equal(has.get(id)?.size, 0);
    const record = await store.experiments.get(id);
    assert.ok(record?.expired.batchesAt && record.expired.streamAt);
    assert.equal(record.verification.batchesVerified, 3);

    assert.equal(await store.retention.expire('records', id), 'expired');
    assert.equal(await store.experiments.get(id), undefined);
    assert.equal(await store.retention.collectGarbage(10), 1);
    assert.equal(await store.retention.collectGarbage(10), 0);
    const left = await redis.keys('*');
    assert.deepEqual(
      left.filter((key) => key.includes(id)),
      [],
    );
    assert.deepEqual(await dueAt(store), [[], [], []]);
  });

  /* Fails without keepWhole. */
  test('a batch that a rule keeps stays, with its report and its record', async (t) => {
    const { store, redis } = await watched(t);
    const { id, records } = await archived(store);
    await redis.sadd(`${keys.experiment(id)}:kept`, '1:1', '1:2', '1:99');
    assert.equal((await store.retention.dueFigures('batches', 'default', LATER)).kept, 3);
    for (const stage of ['batches', 'streams', 'records'] as const) {
      assert.equal(await store.retention.expire(stage, id), 'expired');
      assert.deepEqual(Buffer.from(await store.batches.bytes(records[0]!)), SHORT);
      assert.deepEqual(Buffer.from(await store.batches.bytes(records[1]!)), LONG);
      await assert.rejects(store.batches.bytes(records[2]!), coded('expired'));
    }
    assert.deepEqual(
      (await allBatches(store, id)).map(({ batch, report }) => [batch, report]),
      [
        [1, REPORT],
        [2, REPORT],
      ],
    );
    assert.deepEqual(await dueAt(store), [[], [], []]);
  });

  /* Fails without the comparison of what is kept in mark-expired.lua. */
  test('a batch that a rule keeps while others are deleted stays too', async (t) => {
    const directory = await archiveFor(t);
    let meanwhile = false;
    const archive: Archive = {
      ...directory,
      async put(owner, digest, bytes) {
        await directory.put(owner, digest, bytes);
        if (meanwhile) await redis.sadd(`${keys.experiment(owner)}:kept`, '1:1');
      },
    };
    const { store, redis } = await storeFor(t, { archive, limits: { inlineBytes: 256 } });
    const { id, records } = await archived(store);
    await redis.sadd(`${keys.experiment(id)}:kept`, '1:2');
    meanwhile = true;
    assert.equal(await store.retention.expire('batches', id), 'expired');
    assert.deepEqual(Buffer.from(await store.batches.bytes(records[0]!)), SHORT);
    await assert.rejects(store.batches.bytes(records[2]!), coded('expired'));
  });

  test('a crash on the way leaves the experiment due, and a repetition finishes', async (t) => {
    const { store, has, power } = await watched(t);
    const { id, records } = await archived(store);
    power.on = false;
    await assert.rejects(store.retention.expire('batches', id));
    assert.deepEqual(await dueAt(store), [[id], [], []]);
    power.on = true;
    assert.equal(await store.retention.expire('batches', id), 'expired');
    assert.deepEqual(await dueAt(store), [[], [id], []]);
    assert.equal(has.get(id)?.size, 1);
    await assert.rejects(store.batches.bytes(records[0]!), coded('expired'));
  });

  test('nothing of what has not ended, or is not archived, goes', async (t) => {
    const { store } = await watched(t);
    const lease = await running(store);
    await store.events.append(lease, [batchOf(1, 1, SHORT)]);
    for (const stage of ['batches', 'streams', 'records'] as const) {
      assert.equal(await store.retention.expire(stage, lease.experiment), 'waiting');
    }
    await store.attempts.end(lease, { to: 'failed', reason: 'exit code 1' });
    assert.equal(await store.retention.expire('batches', lease.experiment), 'waiting');
    assert.equal((await store.batches.bytes((await allBatches(store, lease.experiment))[0]!)).byteLength, 5);
    assert.equal(await store.retention.expire('streams', 'exp-00000000000000000000'), 'gone');
  });

  test('an experiment that is deleted while it is archived leaves no objects', async (t) => {
    const { store, has } = await watched(t);
    const { id } = await archived(store);
    assert.equal(await store.experiments.delete(id), 'deleted');
    assert.equal(await store.retention.collectGarbage(10), 1);
    assert.equal(has.get(id)?.size, 0);
    assert.equal(await store.archive.archiveStream(id), 'gone');
  });
});

describe('sweeps', () => {
  /* Fails without the look at the children in expire-sweeps.lua. */
  test('go once none of their children is there, in the time of records', async (t) => {
    const { store, redis } = await storeFor(t);
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) {
      const input = sweepInput(sweepRequest(2));
      ids.push(input.id);
      await store.sweeps.create(input);
      const children = await expandAll(store, input.id);
      if (count === 2) continue;
      for (const id of children) await store.experiments.cancel(id, 'not needed');
      if (count === 0) for (const id of children) assert.equal(await store.experiments.delete(id), 'deleted');
    }
    const expire = async (endedBefore: number) => {
      let deleted = 0;
      for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
        const step = await store.retention.expireSweeps('swept', { endedBefore, limit: 1, cursor });
        deleted += step.deleted;
        cursor = step.next;
      }
      return deleted;
    };
    assert.equal(await expire(1), 0);
    assert.equal(await expire(LATER), 1);
    const sweeps = await Promise.all(ids.map((id) => store.sweeps.get(id)));
    assert.deepEqual(
      sweeps.map((sweep) => sweep !== undefined),
      [false, true, true],
    );
    assert.deepEqual(await redis.keys(`*${ids[0]}*`), []);
  });
});

describe('who applies retention', () => {
  test('one dispatcher at a time, until it has been silent', async (t) => {
    const { store, redis } = await storeFor(t);
    assert.equal(await store.retention.hold('one', 60_000), true);
    assert.equal(await store.retention.hold('two', 60_000), false);
    assert.equal(await store.retention.hold('one', 60_000), true);
    await redis.del('{echelon}:retention'); // as the server does when the time is over
    assert.equal(await store.retention.hold('two', 60_000), true);
    assert.equal(await store.retention.hold('one', 0), false, 'another one cannot let go of it');
    await store.retention.hold('two', 0);
    assert.equal(await store.retention.hold('one', 60_000), true);
  });
});

describe('what clusters keep', () => {
  test('what clusters keep is due again later under a longer retention, and is counted by project', async (t) => {
    const { store } = await watched(t);
    const { id } = await archived(store);
    const now = { limit: 10, leaseMs: 60_000, afterMs: 0 };
    const [taken] = await store.retention.takeForgetting(now);
    assert.equal(taken?.id, id);
    assert.equal(taken.record?.project, 'default');
    assert.deepEqual([...taken.record.attempts], [['local', 1]]);
    await store.retention.forgetLater([id, 'exp-00000000000000000000'], { laterMs: 3_600_000, afterMs: 0 });
    assert.deepEqual(await store.retention.takeForgetting({ ...now, afterMs: -1_800_000 }), []);
    assert.deepEqual(await store.retention.forgettingFigures('default', LATER), {
      experiments: 1,
      complete: true,
    });
    assert.equal((await store.retention.forgettingFigures('default', 1)).experiments, 0);
    assert.equal((await store.retention.forgettingFigures('other', LATER)).experiments, 0);
    await store.retention.forgetLater([id], { laterMs: -60_000, afterMs: 0 });
    assert.deepEqual((await store.retention.takeForgetting(now)).length, 1);
    await store.retention.forgotten([id]);
    await store.retention.forgetLater([id], { laterMs: -60_000, afterMs: 0 });
    assert.deepEqual(await store.retention.takeForgetting(now), [], 'what is forgotten does not come back');
  });
});
