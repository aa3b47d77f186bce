import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { FeedEntry } from '../../../../src/core/events.ts';
import type { StoreContext } from '../../../../src/store/context.ts';
import { createFeed } from '../../../../src/store/events/feed.ts';
import { coded, running, storeFor, submitInput } from '../../../support/store.ts';
import { expandedSweep } from '../../../support/sweep.ts';

const { store, redis } = await storeFor({ after });

const told = ({ event }: FeedEntry): string =>
  event.type === 'state' ? `${event.from}>${event.to}` : event.type;

/** Submits and cancels: two entries. */
async function come(project: string, name = 'a name'): Promise<string> {
  const { id } = await store.experiments.submit(submitInput({ project, name }));
  await store.experiments.cancel(id, 'enough');
  return id;
}

describe('the feeds', () => {
  test('tell each change of state once, in order, to its project and to all', async () => {
    const end = await store.feed.end(null);
    const lease = await running(store, { input: { project: 'alpha', name: 'first' } });
    const other = await come('beta');
    await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
    const alpha = await store.feed.read('alpha', '0', 100);
    assert.deepEqual(alpha.map(told), [
      'null>queued',
      'queued>launching',
      'launching>running',
      'running>succeeded',
    ]);
    assert.deepEqual(
      alpha.map(({ id }) => id),
      ['1', '2', '3', '4'],
    );
    assert.deepEqual(
      { ...alpha[3], at: 0 },
      {
        id: '4',
        at: 0,
        project: 'alpha',
        experiment: lease.experiment,
        name: 'first',
        sweep: null,
        event: { type: 'state', from: 'running', to: 'succeeded', attempt: 1, reason: 'done' },
      },
    );
    const states = (await store.events.read(lease.experiment, undefined, 100)).map(({ event }) => event);
    assert.deepEqual(
      alpha.map(({ event }) => event),
      states,
    );
    const all = await store.feed.read(null, end, 100);
    assert.deepEqual(
      all.map(({ project }) => project),
      ['alpha', 'alpha', 'alpha', 'beta', 'beta', 'alpha'],
    );
    assert.equal(all[4]?.experiment, other);
    assert.equal(await store.feed.end('alpha'), '4');
    assert.deepEqual(await store.feed.read('no-such-project', '0', 10), []);
  });

  test('the feeds are read after any entry; an id that the feed does not have is refused', async () => {
    for (let count = 0; count < 5; count++) await come('gamma');
    for (let number = 0; number <= 10; number++) {
      const rest = await store.feed.read('gamma', String(number), 3);
      assert.deepEqual(
        rest.map(({ id }) => Number(id)),
        [1, 2, 3].map((more) => number + more).filter((id) => id <= 10),
      );
    }
    await assert.rejects(store.feed.read('gamma', '11', 3), coded('invalid-cursor'));
  });

  test('retain a bounded number of entries; a read before the oldest is refused', async () => {
    await come('delta');
    // As after so many entries: the stream is cut from its beginning.
    const key = '{echelon}:feed:p:delta';
    for (let count = 0; count < 10; count++) await come('delta');
    await redis.xtrim(key, 'MAXLEN', 5);
    assert.deepEqual(
      (await store.feed.read('delta', '17', 100)).map(({ id }) => id),
      ['18', '19', '20', '21', '22'],
    );
    // Fails where entries are not numbered without a gap.
    for (const place of ['0', '16']) {
      await assert.rejects(store.feed.read('delta', place, 100), (error: unknown) => {
        assert.ok(coded('history-trimmed')(error));
        assert.match((error as Error).message, /oldest entry has the id 18/);
        return true;
      });
    }
    await redis.del(key);
    await assert.rejects(store.feed.read('delta', '21', 100), coded('history-trimmed'));
    assert.deepEqual(await store.feed.read('delta', '22', 100), []);
  });

  test('tell the counts of a sweep whenever a child of it has ended', async () => {
    const { id, children } = await expandedSweep(store, 3);
    for (const child of children) await store.experiments.cancel(child, 'enough');
    const entries = await store.feed.read('swept', '0', 100);
    const counts = entries.flatMap(({ event, experiment, sweep, name }) => {
      if (event.type !== 'sweep') return [];
      assert.deepEqual([experiment, sweep, name], [null, id, 'a sweep']);
      return [[event.state, event.counts.queued, event.counts.cancelled]];
    });
    assert.deepEqual(counts, [
      ['running', 2, 1],
      ['running', 1, 2],
      ['done', 0, 3],
    ]);
    assert.ok(entries.every(({ sweep }) => sweep === id));
  });

  test('survive a killed server, with everything that was recorded', async (t) => {
    const { store: mine, server } = await storeFor(t);
    const lease = await running(mine);
    const events = Array.from({ length: 500 }, (_, index) => ({
      sequence: index + 1,
      at: 0,
      event: { type: 'metrics', step: index, values: { x: index / 3 } } as const,
    }));
    await mine.events.append(lease, events);
    const look = async () => [
      await mine.feed.read('default', '0', 100),
      await mine.metrics.series(lease.experiment, { names: ['x'], resolution: 7 }),
      await mine.metrics.series(lease.experiment, { names: ['x'], resolution: 500 }),
    ];
    const before = await look();
    await server.restart();
    assert.deepEqual(await look(), before);
  });

  test('never grow beyond their length', { timeout: 120_000 }, async (t) => {
    const { store: busy, redis: connection } = await storeFor(t);
    const { id } = await busy.experiments.submit(submitInput());
    const entry = ['p', 'default', 'x', id, 'n', '', 's', '', 'a', '0', 'd', '{}'];
    const commands = connection.pipeline();
    for (let number = 2; number <= 6000; number++) {
      commands.xadd('{echelon}:feed:p:default', `${number}-0`, ...entry);
    }
    commands.hset('{echelon}:feeds', 'p:default', 6000);
    await commands.exec();
    await busy.experiments.cancel(id, 'enough');
    // Fails without MAXLEN: the server cuts whole nodes of 100 entries.
    const length = await connection.xlen('{echelon}:feed:p:default');
    assert.ok(length >= 4096 && length < 4096 + 100, `${length}`);
  });

  test('the feeds are followed as they grow, by project', async () => {
    const stop = new AbortController();
    // Without entries this ends the follower, and the read entries show which are missing.
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(20_000)]);
    const seen: string[] = [];
    const done = (async () => {
      for await (const entry of store.feed.follow('eps', '0', signal)) {
        seen.push(`${entry.id} ${told(entry)}`);
        if (seen.length === 4) return;
      }
    })();
    await come('eps');
    await come('other');
    await come('eps');
    await done;
    assert.deepEqual(seen, ['1 null>queued', '2 queued>cancelled', '3 null>queued', '4 queued>cancelled']);
    const ended = Array.fromAsync(store.feed.follow('eps', '4', signal));
    stop.abort();
    assert.deepEqual(await ended, []);
  });
});

test('a place that no feed gave out is refused before the server is asked', async () => {
  const feed = createFeed({ keys: {}, limits: {} } as StoreContext);
  for (const after of ['', '01', '-1', '1-0', 'x', '9'.repeat(16)]) {
    await assert.rejects(feed.read('default', after, 10), coded('invalid-cursor'), after);
  }
});
