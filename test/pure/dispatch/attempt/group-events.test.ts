import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { NumberedEvent } from '../../../../src/core/events.ts';
import { groupEvents } from '../../../../src/dispatch/attempt/group-events.ts';

function stage(sequence: number): NumberedEvent {
  return { sequence, at: 0, event: { type: 'stage', name: 's', step: 0, steps: 0 } };
}

function part(sequence: number, bytes: number): NumberedEvent {
  const event = { type: 'batch', step: 1, batch: 1, index: 0, count: 1, rows: 1, digest: '', bytes } as const;
  return { sequence, at: 0, event, data: new Uint8Array(bytes) };
}

const END: NumberedEvent['event'] = {
  type: 'ended',
  cause: 'succeeded',
  exitCode: 0,
  signal: 0,
  message: '',
  lastLines: [],
};

async function* from(events: NumberedEvent[], error?: Error): AsyncGenerator<NumberedEvent> {
  yield* events;
  if (error) throw error;
}

async function groups(source: AsyncIterable<NumberedEvent>, limits = { events: 4, bytes: 1000, waitMs: 5 }) {
  const all: NumberedEvent[][] = [];
  for await (const group of groupEvents(source, limits)) all.push(group);
  return all;
}

describe('groupEvents', () => {
  test('groups contain every event once and in order, within the limits', async () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(sizes, async (list) => {
        const events = list.map((bytes, index) => part(index + 1, bytes));
        const all = await groups(from(events));
        assert.deepEqual(all.flat(), events);
        for (const group of all) {
          assert.ok(group.length >= 1 && group.length <= 4);
          const butLast = group.slice(0, -1).reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
          assert.ok(butLast < 1000, 'it was closed when it was full');
        }
      }),
    );
  });

  test('a group is yielded after its wait although the source is silent', async () => {
    const release = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<NumberedEvent> {
      yield stage(1);
      yield stage(2);
      await release.promise;
      yield stage(3);
    }
    const iterator = groupEvents(slow(), { events: 100, bytes: 1e6, waitMs: 5 });
    const first = await iterator.next();
    assert.deepEqual(first.value, [stage(1), stage(2)]);
    release.resolve();
    assert.deepEqual((await iterator.next()).value, [stage(3)]);
  });

  test('the end of an attempt is yielded at once', async () => {
    const ended = { sequence: 2, at: 0, event: END };
    async function* source(): AsyncGenerator<NumberedEvent> {
      yield stage(1);
      yield ended;
      await new Promise(() => {});
    }
    const iterator = groupEvents(source(), { events: 100, bytes: 1e6, waitMs: 2 ** 30 });
    assert.deepEqual((await iterator.next()).value, [stage(1), ended]);
  });

  test('events before an error are yielded before the error is thrown', async () => {
    const seen: number[] = [];
    await assert.rejects(async () => {
      for await (const group of groupEvents(from([stage(1), stage(2)], new Error('cut'))))
        seen.push(...group.map(({ sequence }) => sequence));
    }, /cut/);
    assert.deepEqual(seen, [1, 2]);
  });

  test('the consumer can return while the source is silent', async () => {
    async function* source(): AsyncGenerator<NumberedEvent> {
      yield stage(1);
      await new Promise(() => {});
    }
    for await (const group of groupEvents(source(), { events: 2, bytes: 1e6, waitMs: 1 })) {
      assert.equal(group.length, 1);
      break;
    }
  });
});
