import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { newSweepId } from '../../../src/core/sweep-ids.ts';
import type { ExperimentFilter } from '../../../src/store/records-store.ts';
import { storeFor, submitInput } from '../../support/store.ts';

const { store, redis } = await storeFor({ after });

/** All pages of a list, as ids; the pages themselves are bounded. */
async function idsOf(filter: ExperimentFilter, limit = 3): Promise<string[]> {
  const ids: string[] = [];
  let before: string | undefined;
  for (let pages = 0; pages < 500; pages++) {
    const page = await store.list({ ...filter, limit, ...(before !== undefined && { before }) });
    assert.ok(page.items.length <= limit);
    ids.push(...page.items.map(({ id }) => id));
    if (page.next === null) return ids;
    before = page.next;
  }
  throw new Error('the list does not end');
}

const made: { id: string; name: string; project: string; cancelled: boolean; at: number }[] = [];
for (let count = 0; count < 24; count++) {
  const input = submitInput({
    name: `${count % 3 === 0 ? 'seed' : 'other'} ${count}`,
    project: `p${count % 2}`,
  });
  await store.submit(input);
  const cancelled = count % 4 === 0;
  if (cancelled) await store.cancel(input.id, 'not wanted');
  // As if they had been submitted a second apart.
  await redis.hset(`{echelon}:x:${input.id}`, 'submittedAt', 1_000_000 + count * 1000);
  made.unshift({
    id: input.id,
    name: input.name,
    project: input.project,
    cancelled,
    at: 1_000_000 + count * 1000,
  });
}
const idsWhere = (wanted: (one: (typeof made)[number]) => boolean) => made.filter(wanted).map(({ id }) => id);

describe('a list', () => {
  test('merges several states in order', async () => {
    assert.deepEqual(
      await idsOf({ state: ['queued', 'cancelled'] }),
      idsWhere(() => true),
    );
    assert.deepEqual(
      await idsOf({ state: ['cancelled', 'failed'] }),
      idsWhere(({ cancelled }) => cancelled),
    );
    assert.deepEqual(
      await idsOf({ state: ['queued', 'cancelled'], project: 'p1' }),
      idsWhere(({ project }) => project === 'p1'),
    );
  });

  test('finds names by what they begin with, to the letter', async () => {
    assert.deepEqual(
      await idsOf({ namePrefix: 'seed' }),
      idsWhere(({ name }) => name.startsWith('seed')),
    );
    assert.deepEqual(await idsOf({ namePrefix: 'seed', state: 'cancelled', project: 'p0' }), [
      ...idsWhere(({ name, cancelled, project }) => name.startsWith('seed') && cancelled && project === 'p0'),
    ]);
    for (const pattern of ['Seed', 'se*', 's?ed', '%', '(a+)+$', 'seed .*', 'eed']) {
      assert.deepEqual(await idsOf({ namePrefix: pattern }), [], pattern);
    }
  });

  test('knows times of submission, the first included and the last not', async () => {
    const [from, before] = [1_005_000, 1_011_000];
    assert.deepEqual(
      await idsOf({ submittedFrom: from, submittedBefore: before }),
      idsWhere(({ at }) => at >= from && at < before),
    );
    assert.deepEqual(await idsOf({ submittedFrom: 1_023_001 }), []);
    assert.deepEqual(await idsOf({ submittedBefore: 1_000_000 }), []);
    assert.deepEqual(await idsOf({ submittedFrom: 1_022_500 }), [made[0]!.id]);
    assert.equal((await idsOf({ submittedBefore: 9e12 })).length, made.length);
  });

  test('says that there is no more exactly at the end', async () => {
    assert.equal((await store.list({ limit: 24 })).next, null);
    assert.notEqual((await store.list({ limit: 23 })).next, null);
    assert.equal((await store.list({ limit: 8, namePrefix: 'seed' })).next, null);
    assert.notEqual((await store.list({ limit: 7, namePrefix: 'seed' })).next, null);
  });
});

test('the experiments of a sweep are listed, to those alone who see its project', async () => {
  const sweep = newSweepId();
  await store.createSweep({
    ...{ id: sweep, project: 'swept', name: 'a sweep', method: 'list', seed: null, spec: {} },
    ...{ axes: [], entries: [[], [], []], fingerprints: [null, null, null] },
  });
  const child = {
    name: 'child',
    priority: 0,
    cluster: null,
    gpus: 0,
    cpus: 1,
    submitted: {},
    resolved: {},
    defaults: [],
  };
  const { made: children } = await store.expandSweep(sweep, () => child);
  const ids = children.map(({ experiment }) => experiment).reverse();
  assert.equal(ids.length, 3);
  await store.cancel(ids[0]!, 'not wanted');
  assert.deepEqual(await idsOf({ sweep }, 2), ids);
  assert.deepEqual(await idsOf({ sweep, state: ['cancelled', 'failed'] }), [ids[0]]);
  assert.deepEqual(await idsOf({ sweep, project: 'swept' }), ids);
  assert.deepEqual(await idsOf({ sweep, project: 'p0' }), []);
  // As a sweep that was made before there were indexes of sweeps.
  await redis.del(`{echelon}:sweep:${sweep}:experiments`);
  assert.deepEqual(await idsOf({ sweep }, 2), ids);
  assert.deepEqual(await idsOf({ sweep: newSweepId() }), []);
});

test('a filter that fits nothing costs a bounded look, and the list still ends', async () => {
  // As many as one call looks at, and some more; copied, since it is only their number that matters.
  const pipeline = redis.pipeline();
  for (let count = 0; count < 10_500; count++) {
    pipeline.hset(
      `{echelon}:x:filler-${count}`,
      'state',
      'queued',
      'name',
      'filler',
      'submittedAt',
      5_000_000,
    );
    pipeline.zadd('{echelon}:project:full', 1_000_000 + count, `filler-${count}`);
  }
  await pipeline.exec();
  const page = await store.list({ project: 'full', namePrefix: 'none', limit: 5 });
  assert.deepEqual(page.items, []);
  assert.notEqual(page.next, null);
  assert.deepEqual(await idsOf({ project: 'full', namePrefix: 'none' }), []);
});
