import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FindRayWorker } from '../../../../src/dispatch/background/forget-experiments.ts';
import { createRetentionLoops } from '../../../../src/dispatch/background/retention.ts';
import { newProject } from '../../../../src/schemas/project.ts';
import type { RetentionStage } from '../../../../src/schemas/retention.ts';
import type { Cluster } from '../../../../src/store/clusters/types.ts';
import type { Store } from '../../../../src/store/store.ts';
import { QUIET, until } from '../../../support/dispatch.ts';
import { partialStore } from '../../../support/partial-store.ts';
import { clockAt } from '../../../support/store.ts';

const DAY = 24 * 3600 * 1000;
const NOW = 1000 * DAY;

/** A store of which only retention asks: what is due by stage and project, and what was done. */
function fakeStore(setup: {
  due?: Record<string, string[]>;
  finished?: string[];
  held?: boolean;
  holds?: [string, number][];
  broken?: string[];
  long?: string[];
  forgetting?: Awaited<ReturnType<Store['retention']['takeForgetting']>>;
}) {
  const { due = {}, finished = [], held = true, broken = [], long = [], forgetting = [] } = setup;
  const did: string[] = [];
  const asked: Record<string, number> = {};
  const swept: string[] = [];
  let rounds = 0;
  const store = partialStore({
    archive: {
      take: async ({ limit }) => finished.splice(0, limit),
      async archiveStream(id) {
        if (broken.includes(id)) throw new Error('broken');
        did.push(`archive ${id}`);
        return 'archived';
      },
      longStreams: async () => long,
      async rollStream(id) {
        if (broken.includes(id)) throw new Error('broken');
        did.push(`roll ${id}`);
        return 1;
      },
    },
    retention: {
      async hold(dispatcher, leaseMs) {
        setup.holds?.push([dispatcher, leaseMs]);
        return held;
      },
      async due(stage, project, { endedBefore, limit }) {
        asked[`${stage} ${project}`] = (NOW - endedBefore) / DAY;
        return (due[`${stage} ${project}`] ?? []).slice(0, limit);
      },
      async expire(stage: RetentionStage, id: string) {
        if (broken.includes(id)) throw new Error('broken');
        for (const ids of Object.values(due)) if (ids.includes(id)) ids.splice(ids.indexOf(id), 1);
        did.push(`${stage} ${id}`);
        return 'expired';
      },
      takeForgetting: async ({ limit }) => forgetting.splice(0, limit),
      async forgetLater(ids, { laterMs, afterMs }) {
        did.push(...ids.map((id) => `later ${id} ${laterMs / DAY} ${afterMs / DAY}`));
      },
      async forgotten(ids) {
        did.push(...ids.map((id) => `forgotten ${id}`));
      },
      async expireSweeps(project) {
        swept.push(project);
        return { deleted: 0, next: null };
      },
      async collectGarbage() {
        rounds += 1;
        return 0;
      },
    },
    projects: {
      list: async () => [
        newProject({ name: 'default', retention: { recordsDays: null } }, 0),
        newProject(
          {
            name: 'ever',
            retention: { eventLogsDays: null, batchesDays: null, streamsDays: null, recordsDays: null },
          },
          0,
        ),
        newProject({ name: 'short', retention: { batchesDays: 1, streamsDays: 2, recordsDays: 3 } }, 0),
      ],
    },
    clock: clockAt(NOW),
    clusters: { list: async () => [{ name: 'lab' }, { name: 'away' }, { name: 'old' }] as Cluster[] },
  });
  return { store, did, asked, swept, rounds: () => rounds };
}

async function once(
  fake: ReturnType<typeof fakeStore>,
  done: () => boolean,
  rayWorkerOf: FindRayWorker = () => Promise.reject(new Error('no ray-worker')),
) {
  const loop = createRetentionLoops({
    store: fake.store,
    dispatcher: 'one',
    everyMs: 3_600_000,
    archiveAfterMs: 0,
    log: QUIET,
    rayWorkerOf,
  });
  loop.start();
  await until(done, 'retention was applied');
  await loop.stop();
}

describe('retention', () => {
  test('each project is expired by its own policy, and data without expiry is never asked for', async () => {
    const fake = fakeStore({ due: { 'records short': ['exp-a'] } });
    await once(fake, () => fake.did.length === 1 && fake.swept.length > 0);
    assert.deepEqual(fake.swept, ['short']);
    assert.deepEqual(fake.asked, {
      'batches default': 30,
      'streams default': 90,
      'batches short': 1,
      'streams short': 2,
      'records short': 3,
    });
  });

  test('more than one step of experiments expires, and failures are skipped', async () => {
    const finished = Array.from({ length: 120 }, (_v, at) => `exp-${at}`);
    const ids = Array.from({ length: 130 }, (_v, at) => `exp-d${at}`);
    const fake = fakeStore({ due: { 'batches default': ids }, finished, broken: ['exp-7'] });
    await once(fake, () => fake.did.length === 119 + 130);
    assert.ok(!fake.did.includes('archive exp-7'));
  });

  /* Fails if a round deletes all that is due: a wrong time or policy could then not be corrected before everything is gone. */
  test('one round deletes a bounded number of experiments, and the next round continues', async () => {
    const ids = Array.from({ length: 700 }, (_v, at) => `exp-d${at}`);
    const fake = fakeStore({ due: { 'records short': ids } });
    await once(fake, () => fake.rounds() === 1);
    assert.equal(fake.did.length, 500);
    await once(fake, () => fake.rounds() === 2);
    assert.equal(fake.did.length, 700);
  });

  test('a step whose experiments all fail is not repeated forever', async () => {
    const ids = Array.from({ length: 60 }, (_v, at) => `exp-d${at}`);
    const fake = fakeStore({ due: { 'batches default': ids }, broken: ids });
    await once(fake, () => 'records short' in fake.asked);
    assert.deepEqual(fake.did, []);
  });

  // Fails where what is left in the archive goes first: Redis would fill up for as long as the archive refuses.
  test('records are deleted although the archive cannot remove earlier files', async () => {
    const fake = fakeStore({ due: { 'records short': ['exp-a'] } });
    fake.store.retention.collectGarbage = () => Promise.reject(new Error('forbidden'));
    await once(fake, () => fake.swept.length > 0);
    assert.deepEqual(fake.did, ['records exp-a']);
  });

  test('one round does all tasks', async () => {
    const forgetting = [{ id: 'exp-c', record: null }];
    const fake = fakeStore({ finished: ['exp-a'], long: ['exp-b'], forgetting });
    await once(
      fake,
      () => fake.rounds() > 0 && fake.did.length === 3,
      async () => ({ forget: async () => ({ forgotten: 1 }) }),
    );
    assert.deepEqual(fake.did.sort(), ['archive exp-a', 'forgotten exp-c', 'roll exp-b']);
    assert.equal(fake.rounds(), 1);
  });

  /* Fails with one loop for all: nothing is archived, rolled or deleted while a ray-worker hangs. */
  test('a ray-worker that hangs delays neither archiving nor deleting, and the lease is released', async () => {
    const finished = ['exp-a'];
    const long: string[] = [];
    const holds: [string, number][] = [];
    const due = { 'records short': ['exp-c'] };
    const fake = fakeStore({ finished, long, due, holds, forgetting: [{ id: 'exp-h', record: null }] });
    const hung = Promise.withResolvers<never>();
    const asked = Promise.withResolvers<void>();
    const loop = createRetentionLoops({
      store: fake.store,
      dispatcher: 'one',
      everyMs: 2,
      archiveAfterMs: 0,
      log: QUIET,
      async rayWorkerOf() {
        asked.resolve();
        return await hung.promise;
      },
    });
    loop.start();
    await asked.promise;
    finished.push('exp-d');
    long.push('exp-b');
    due['records short'].push('exp-e');
    const all = ['archive exp-a', 'archive exp-d', 'records exp-c', 'records exp-e', 'roll exp-b'];
    await until(() => all.every((one) => fake.did.includes(one)), 'the other tasks continue');
    const stopped = loop.stop();
    await until(() => holds.at(-1)?.[1] === 0, 'the hold is let go');
    hung.reject(new Error('away'));
    await stopped;
    assert.deepEqual(holds.at(-1), ['one', 0]);
  });

  /* Fails if the lease of retention is not checked. */
  test('a dispatcher archives but deletes nothing while another one applies retention', async () => {
    const fake = fakeStore({ due: { 'batches default': ['exp-a'] }, finished: ['exp-b'], held: false });
    await once(fake, () => fake.did.length > 0);
    assert.deepEqual([fake.did, fake.rounds()], [['archive exp-b'], 0]);
  });
});
