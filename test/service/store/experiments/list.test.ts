import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { newExperimentId, newSweepId } from '../../../../src/core/ids.ts';
import type { State } from '../../../../src/core/states.ts';
import type { ExperimentFilter, ExperimentOrder } from '../../../../src/store/experiments/types.ts';
import { claimed, storeFor, submitInput } from '../../../support/store.ts';

const { store, redis } = await storeFor({ after });

/** All pages of a list, as ids; the pages themselves are bounded. */
async function idsOf(filter: ExperimentFilter, limit = 3, order?: ExperimentOrder): Promise<string[]> {
  const ids: string[] = [];
  let before: string | undefined;
  for (let pages = 0; pages < 500; pages++) {
    const input = { ...filter, limit, ...(before !== undefined && { before }) };
    const page = await store.experiments.list(input, order);
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
  await store.experiments.submit(input);
  const cancelled = count % 4 === 0;
  if (cancelled) await store.experiments.cancel(input.id, 'not wanted');
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
  test('filtered by the start of an id holds the experiments whose ids begin so', async () => {
    const { id, project } = made[5]!;
    assert.deepEqual(await idsOf({ idPrefix: id }), [id]);
    assert.deepEqual(
      await idsOf({ idPrefix: id.slice(0, 20) }),
      idsWhere((one) => one.id.startsWith(id.slice(0, 20))),
    );
    assert.deepEqual(
      await idsOf({ idPrefix: 'exp-', project }),
      idsWhere((one) => one.project === project),
    );
    assert.deepEqual(await idsOf({ idPrefix: 'exp-zzzz' }), []);
    assert.deepEqual(await idsOf({ idPrefix: id, state: 'failed' }), []);
  });

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

  test('a list finds names by what they begin with, to the letter', async () => {
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

  test('a list finds experiments with rows of an outcome, and those of an estimator', async (t) => {
    const { store, redis } = await storeFor(t);
    const submit = async (fingerprint: string | null, fields: Record<string, number> = {}) => {
      const { id } = await store.experiments.submit(submitInput({ fingerprint }));
      for (const [field, count] of Object.entries(fields))
        await redis.hset(`{echelon}:x:${id}`, field, count);
      return id;
    };
    await submit(null);
    const wrong = await submit('hgpo(K=2)', { vWrong: 3, vUnverifiable: 0 });
    const both = await submit('gigpo(w=1)', { vWrong: 1, vUnverifiable: 5 });
    const found = async (filter: ExperimentFilter) =>
      (await store.experiments.list({ ...filter, limit: 9 })).items.map(({ id }) => id);
    assert.deepEqual(await found({ outcome: 'wrong' }), [both, wrong]);
    assert.deepEqual(await found({ outcome: 'unverifiable' }), [both]);
    assert.deepEqual(await found({ outcome: 'rounding' }), []);
    assert.deepEqual(await found({ fingerprintPrefix: 'hgpo(' }), [wrong]);
    assert.deepEqual(await found({ fingerprintPrefix: 'hgpo(', outcome: 'unverifiable' }), []);
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

  test('a list says that there is no more exactly at the end', async () => {
    assert.equal((await store.experiments.list({ limit: 24 })).next, null);
    assert.notEqual((await store.experiments.list({ limit: 23 })).next, null);
    assert.equal((await store.experiments.list({ limit: 8, namePrefix: 'seed' })).next, null);
    assert.notEqual((await store.experiments.list({ limit: 7, namePrefix: 'seed' })).next, null);
  });
});

test('a text is found in names, notes and tags whatever its case, and a tag only as a whole', async () => {
  const [first, second] = made as [(typeof made)[0], (typeof made)[0]];
  assert.equal(await store.experiments.annotate(first.id, { note: 'Diverged at STEP 40' }), 'changed');
  await store.experiments.annotate(second.id, { tags: ['paper', 'ablation'] });
  const { note, tags } = (await store.experiments.get(second.id))!;
  assert.deepEqual([note, tags], ['', ['paper', 'ablation']]);
  assert.deepEqual(
    await idsOf({ search: 'eed 1' }),
    idsWhere(({ name }) => name.includes('eed 1')),
  );
  assert.deepEqual(
    await idsOf({ search: 'OTHER 2' }),
    idsWhere(({ name }) => name.startsWith('other 2')),
  );
  assert.deepEqual(await idsOf({ search: 'at step 40' }), [first.id]);
  assert.deepEqual(await idsOf({ search: 'blat' }), [second.id]);
  assert.deepEqual(await idsOf({ tag: 'ablation' }), [second.id]);
  assert.deepEqual(await idsOf({ tag: 'abl' }), []);
  await store.experiments.annotate(second.id, { tags: [] });
  assert.deepEqual(await idsOf({ tag: 'ablation' }), []);
});

describe('an order of the list', async () => {
  const ids = idsWhere(() => true);
  const values = ids.map((_id, at) => (at % 5 === 0 ? null : (at * 7) % 4));
  for (const [at, id] of ids.entries())
    if (values[at] !== null) await redis.hset(`{echelon}:x:${id}:metrics`, 'a/b', String(values[at]));

  test('by a metric holds each experiment once, and those without the metric last in either direction', async () => {
    for (const isDescending of [true, false]) {
      const sorted = await idsOf({}, 5, { by: 'metric:a/b', isDescending });
      const all = sorted.map((id) => values[ids.indexOf(id)] ?? null);
      const known = all.filter((value) => value !== null);
      assert.deepEqual(
        known,
        known.toSorted((a, b) => (isDescending ? b - a : a - b)),
      );
      assert.deepEqual(all.slice(known.length), all.slice(known.length).fill(null));
      assert.deepEqual(sorted.toSorted(), ids.toSorted());
    }
  });

  test('by name or by time of submission is total, and states how many experiments it sorted', async () => {
    const oldest = await idsOf({ project: 'p1' }, 4, { by: 'submitted', isDescending: false });
    assert.deepEqual(oldest, idsWhere(({ project }) => project === 'p1').reverse());
    const page = await store.experiments.list({ limit: 2 }, { by: 'name', isDescending: false });
    assert.deepEqual(
      [page.items.map(({ name }) => name), page.sorted],
      [['other 1', 'other 10'], made.length],
    );
  });

  test('by activity lists queued experiments before ended ones, on every page and under every filter', async () => {
    const active = { by: 'active', isDescending: false } as const;
    const expected = [...idsWhere(({ cancelled }) => !cancelled), ...idsWhere(({ cancelled }) => cancelled)];
    for (const limit of [1, 5, 18, 19, 100]) assert.deepEqual(await idsOf({}, limit, active), expected);
    assert.deepEqual(
      await idsOf({ state: 'cancelled' }, 4, active),
      idsWhere(({ cancelled }) => cancelled),
    );
  });
});

test('the experiments of a sweep are listed, to those alone who see its project', async () => {
  const sweep = newSweepId();
  await store.sweeps.create({
    id: sweep,
    project: 'swept',
    name: 'a sweep',
    method: 'list',
    seed: null,
    spec: {},
    axes: [],
    entries: [[], [], []],
    fingerprints: [null, null, null],
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
    customCode: false,
  };
  const { made: children } = await store.sweeps.expand(sweep, () => child);
  const ids = children.map(({ experiment }) => experiment).reverse();
  assert.equal(ids.length, 3);
  await store.experiments.cancel(ids[0]!, 'not wanted');
  assert.deepEqual(await idsOf({ sweep }, 2), ids);
  assert.deepEqual(await idsOf({ sweep, state: ['cancelled', 'failed'] }), [ids[0]]);
  assert.deepEqual(await idsOf({ sweep, project: 'swept' }), ids);
  assert.deepEqual(await idsOf({ sweep, project: 'p0' }), []);
  assert.deepEqual(await idsOf({ sweep: newSweepId() }), []);
});

/** Experiments as if submitted in this order, each in its state; only ids, states and names are their own. */
async function fill(project: string, ones: readonly { state: State; name: string }[]): Promise<string[]> {
  const { id } = await store.experiments.submit(submitInput({ project: 'sample' }));
  const sample = Object.entries(await redis.hgetall(`{echelon}:x:${id}`)).flat();
  const pipeline = redis.pipeline();
  const ids = ones.map(({ state, name }, at) => {
    const one = newExperimentId();
    pipeline.hset(`{echelon}:x:${one}`, ...sample, 'id', one, 'state', state, 'name', name);
    for (const index of [`project:${project}`, `project-state:${state}:${project}`])
      pipeline.zadd(`{echelon}:${index}`, 1_000_000 + at, one);
    return one;
  });
  await pipeline.exec();
  return ids;
}

// Fails where what lies below the end of an index that was cut is not left for the next time.
test('states of which each holds more than is read at once are merged in order, each one once', async () => {
  // Runs of one state, longer and shorter than what is read, then all in turn.
  const states = ['queued', 'failed', 'cancelled'] as const;
  const runs = [7, 450, 90, 250, 20, 201].flatMap((length, run) => Array(length).fill(states[run % 3]!));
  const ones = [...runs, ...Array.from({ length: 600 }, (_, at) => states[at % 3]!)].map(
    (state: State, at) => ({ state, name: at % 7 === 0 ? 'wanted' : 'other' }),
  );
  const ids = await fill('cut', ones);
  for (const some of [states, states.slice(0, 2), states.slice(1)]) {
    const filter = { project: 'cut', state: some };
    const all = ids.filter((_id, at) => some.includes(ones[at]!.state as 'queued')).reverse();
    const wanted = all.filter((id) => ones[ids.indexOf(id)]!.name === 'wanted');
    for (const limit of [20, 200])
      assert.deepEqual(await idsOf({ ...filter, namePrefix: 'wanted' }, limit), wanted);
    for (const limit of [70, 200]) assert.deepEqual(await idsOf(filter, limit), all);
  }
});

/** How often the server has carried the command out, within scripts too. */
async function calls(command: string): Promise<number> {
  const found = new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(await redis.info('commandstats'));
  return Number(found?.[1] ?? 0);
}

test('a filter that fits nothing costs a bounded look in a step and in a call, and the list still ends', async () => {
  // As many as a few calls look at, and some more.
  const ids = await fill('full', Array(6_100).fill({ state: 'queued', name: 'filler' }));
  const [looks, steps] = [await calls('hmget'), await calls('evalsha')];
  const page = await store.experiments.list({ project: 'full', namePrefix: 'none', limit: 5 });
  const looked = (await calls('hmget')) - looks;
  assert.deepEqual(page.items, []);
  assert.notEqual(page.next, null);
  assert.equal(looked, 2_500);
  // Redis does nothing else during a step.
  assert.equal(looked / ((await calls('evalsha')) - steps), 250);
  assert.deepEqual(await idsOf({ project: 'full', namePrefix: 'none' }), []);
  assert.deepEqual((await idsOf({ project: 'full', namePrefix: 'fill' }, 200)).length, ids.length);
});

describe('a list whose experiments change between its pages', async () => {
  const world = await storeFor({ after });
  const orders = ['active', 'duration', 'progress', 'wrong', 'metric:a/b', 'name', 'submitted'] as const;
  const ids: string[] = [];
  const submit = async (): Promise<void> => {
    const { id } = await world.store.experiments.submit(submitInput({ name: `n${ids.length}` }));
    ids.push(id);
  };
  for (let count = 0; count < 20; count++) await submit();

  /** One change that moves experiments in some order. */
  async function change(random: () => number): Promise<void> {
    const id = ids[Math.floor(random() * ids.length)]!;
    const record = `{echelon}:x:${id}`;
    const now = Math.floor(random() * 1e6);
    const changes = [
      () => world.redis.hset(record, { startedAt: now, endedAt: now + Math.floor(random() * 1e6) }),
      () => world.redis.hset(record, { startedAt: Date.now() - now }),
      () => world.redis.hset(record, { step: Math.floor(random() * 9), steps: 9, vWrong: now % 5 }),
      () => world.redis.hset(`${record}:metrics`, 'a/b', String(random())),
      () => world.store.experiments.cancel(id, 'not wanted'),
      () => claimed(world.store, id).catch(() => undefined), // it is not queued any more
      () => (ids.length < 40 ? submit() : undefined),
    ];
    await changes[Math.floor(random() * changes.length)]!();
  }

  for (const by of orders)
    test(`by ${by} has each experiment that existed throughout on one page, and ends`, async () => {
      for (let seed = 1; seed <= 4; seed++) {
        const random = randomFrom(seed);
        const throughout = [...ids];
        const seen: string[] = [];
        let before: string | undefined;
        for (let pages = 0; ; pages++) {
          assert.ok(pages < 2 * throughout.length + 20, 'the list does not end');
          const input = { limit: 1 + (seed % 3), ...(before !== undefined && { before }) };
          const page = await world.store.experiments.list(input, { by, isDescending: seed % 2 === 0 });
          seen.push(...page.items.map(({ id }) => id));
          if (page.next === null) break;
          before = page.next;
          await change(random);
        }
        assert.equal(new Set(seen).size, seen.length, `seed ${seed}: one is on two pages`);
        assert.deepEqual(
          throughout.filter((id) => !seen.includes(id)),
          [],
          `seed ${seed}`,
        );
      }
    });
});

/** Numbers from 0 to 1 that a seed repeats. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

test('a cursor belongs to its reader, and ends when eight further lists were begun', async () => {
  const order = { by: 'name', isDescending: false } as const;
  const first = await store.experiments.list({ limit: 2, reader: 'me' }, order);
  const further = { limit: 2, before: first.next! };
  assert.equal((await store.experiments.list({ ...further, reader: 'me' }, order)).items.length, 2);
  const refused = { code: 'invalid-cursor' };
  await assert.rejects(store.experiments.list({ ...further, reader: 'another' }, order), refused);
  for (let count = 0; count < 8; count++) await store.experiments.list({ limit: 2, reader: 'me' }, order);
  await assert.rejects(store.experiments.list({ ...further, reader: 'me' }, order), refused);
});
