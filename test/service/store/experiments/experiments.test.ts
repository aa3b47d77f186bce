import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { redisFor } from '../../../support/redis.ts';
import { claimed, coded, storeFor, submitInput } from '../../../support/store.ts';

describe('submit', () => {
  test('the same key and request give the same experiment, however many at once', async (t) => {
    const { store } = await storeFor(t);
    const idempotency = { name: 'a key\n with "any" text', digest: 'd1' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => store.experiments.submit(submitInput({ idempotency }))),
    );
    assert.equal(new Set(answers.map(({ id }) => id)).size, 1);
    assert.equal(answers.filter(({ created }) => created).length, 1);
    await assert.rejects(
      store.experiments.submit(submitInput({ idempotency: { ...idempotency, digest: 'd2' } })),
      coded('idempotency-conflict'),
    );
    assert.equal((await store.experiments.counts()).queued, 1);
  });

  test('the stream of a queued experiment takes the memory of its entry, not of the first 4 kB that Redis reserves', async (t) => {
    const { store, redis } = await storeFor(t);
    const { id } = await store.experiments.submit(submitInput());
    const bytes = await redis.call('MEMORY', 'USAGE', `{echelon}:x:${id}:events`);
    assert.ok(Number(bytes) < 1_000, `${bytes} bytes`);
    const [entry] = await store.events.tail(id, 1);
    assert.equal(entry?.event.type, 'state');
  });

  test('one that runs another again says so', async (t) => {
    const { store } = await storeFor(t);
    const first = await store.experiments.submit(submitInput());
    const { id } = await store.experiments.submit(submitInput({ rerunOf: first.id }));
    const record = await store.experiments.get(id);
    assert.deepEqual([record?.rerunOf, record?.reason], [first.id, 'run again']);
  });

  test('a submit that was sent twice by the client is one, and was created', async (t) => {
    const { store } = await storeFor(t);
    for (const input of [submitInput(), submitInput({ idempotency: { name: 'k', digest: 'd' } })]) {
      assert.deepEqual(await store.experiments.submit(input), { id: input.id, created: true });
      assert.deepEqual(await store.experiments.submit(input), { id: input.id, created: true });
      assert.equal((await store.events.read(input.id, undefined, 10)).length, 1);
    }
    assert.equal((await store.queue.position('')).length, 2);
  });

  test('what was submitted is what is stored, to the last digit', async (t) => {
    const server = await redisFor(t, { appendfsync: 'no' });
    const { store } = await storeFor(t, { server });
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.string({ unit: 'grapheme' }), async (spec, name) => {
        const input = submitInput({ submitted: spec, resolved: { deep: [spec] }, name, fingerprint: 'f' });
        await store.experiments.submit(input);
        const record = await store.experiments.get(input.id);
        const plain = JSON.parse(JSON.stringify(spec));
        assert.deepEqual(
          [record?.submitted, record?.resolved, record?.name],
          [plain, { deep: [plain] }, name],
        );
      }),
      { numRuns: 50 },
    );
  });

  test('a new record has no history', async (t) => {
    const { store } = await storeFor(t);
    const input = submitInput({ cluster: 'wanted', priority: -3 });
    await store.experiments.submit(input);
    const record = await store.experiments.get(input.id);
    assert.deepEqual(record, {
      version: 1,
      id: input.id,
      name: 'a name',
      project: 'default',
      owner: null,
      note: '',
      tags: [],
      state: 'queued',
      reason: 'submitted',
      attempt: 0,
      cluster: null,
      priority: -3,
      priorityClass: 'normal',
      gpus: 0,
      submittedAt: record!.submittedAt,
      startedAt: null,
      endedAt: null,
      submitted: input.submitted,
      resolved: input.resolved,
      defaults: input.defaults,
      fingerprint: null,
      progress: { stage: '', step: 0, steps: 0, metrics: {} },
      verification: {
        status: 'pending',
        batches: 0,
        batchesVerified: 0,
        rowsSeen: 0,
        rowsVerified: 0,
        signal: null,
        exact: 0,
        rounding: 0,
        wrong: 0,
        unverifiable: 0,
        errors: 0,
        dropped: 0,
      },
      customCode: false,
      quarantined: false,
      expired: { batchesAt: null, streamAt: null },
      rerunOf: null,
      rules: [],
      marks: 0,
      stoppedBy: null,
      sweep: null,
      sweepIndex: null,
      checkpoint: null,
    });
    assert.equal(await store.experiments.get('exp-00000000000000000000'), undefined);
    assert.deepEqual(await store.attempts.list(input.id), []);
    assert.equal((await store.queue.first(1))[0]?.cluster, 'wanted');
    assert.equal(await store.experiments.cancel('exp-00000000000000000000', ''), 'not-found');
  });
});

describe('list', () => {
  test('pages through everything once, the newest first, while more arrive', async (t) => {
    const { store } = await storeFor(t);
    const ids: string[] = [];
    for (let n = 0; n < 25; n++) {
      const input = submitInput({ project: n % 2 ? 'odd' : 'even', priority: n % 3 });
      ids.unshift(input.id);
      await store.experiments.submit(input);
    }
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await store.experiments.list({ limit: 10, ...(cursor ? { before: cursor } : {}) });
      pages.push(page.items.map((item) => item.id));
      cursor = page.next ?? undefined;
      await store.experiments.submit(submitInput());
    } while (cursor);
    assert.deepEqual(
      pages.map((page) => page.length),
      [10, 10, 5],
    );
    assert.deepEqual(pages.flat(), ids);

    const odd = await store.experiments.list({ limit: 50, project: 'odd' });
    assert.deepEqual(
      odd.items.map((item) => item.id),
      ids.filter((_id, at) => at % 2 === 1),
    );
    assert.equal(odd.next, null);
    const taken = odd.items[3]!.id;
    await claimed(store, taken);
    for (const filter of [{ state: 'launching' }, { state: 'launching', project: 'odd' }] as const) {
      assert.deepEqual(
        (await store.experiments.list({ limit: 5, ...filter })).items.map((item) => item.id),
        [taken],
      );
    }
    assert.deepEqual(
      (await store.experiments.list({ limit: 5, state: 'launching', project: 'even' })).items,
      [],
    );
    assert.equal(
      (await store.experiments.list({ limit: 50, state: 'queued', project: 'odd' })).items.length,
      11,
    );
  });

  test('a cursor that no list gave out is refused', async (t) => {
    const { store } = await storeFor(t);
    for (let n = 0; n < 3; n++) await store.experiments.submit(submitInput());
    const { next } = await store.experiments.list({ limit: 1 });
    assert.equal((await store.experiments.list({ limit: 5, before: next! })).items.length, 2);
    const made = (text: string) => Buffer.from(text).toString('base64url');
    for (const bad of ['', 'x', '3', `${next}=`, made('after -1'), made('after +inf'), made('after 1 2')]) {
      await assert.rejects(store.experiments.list({ limit: 1, before: bad }), coded('invalid-cursor'), bad);
    }
  });
});
