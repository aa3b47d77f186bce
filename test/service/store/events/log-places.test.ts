import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { AttemptEvent, NumberedEvent } from '../../../../src/core/events.ts';
import { entryId } from '../../../../src/core/ids.ts';
import { running, storeFor } from '../../../support/store.ts';

const { store, redis } = await storeFor({ after });

const log = (sequence: number, lines: number): NumberedEvent => {
  const event: AttemptEvent = { type: 'log', source: 'stdout', lines: Array(lines).fill('é'), cutBytes: 0 };
  return { sequence, at: 0, event };
};

test('the index finds an event near every line and before every event', async () => {
  const lease = await running(store);
  const id = lease.experiment;
  assert.deepEqual(await store.events.logPosition(id, { line: 1 }), {
    entry: null,
    before: 0,
    lines: 0,
    bytes: 0,
  });
  const events = Array.from({ length: 3000 }, (_, index) => log(index + 1, 1 + (index % 3)));
  await store.events.append(lease, events);
  // Again, as after a redelivery: nothing is counted twice.
  await store.events.append(lease, events.slice(-200));
  const before = [0];
  for (const { event } of events) {
    before.push(before.at(-1)! + (event.type === 'log' ? event.lines.length : 0));
  }
  const total = before.at(-1)!;
  for (let line = 1; line <= total; line += 137) {
    const place = await store.events.logPosition(id, { line });
    assert.deepEqual([place.lines, place.bytes], [total, total * 3]);
    assert.ok(place.before < line && place.before > line - 1 - 256 - 3, `${line}: ${place.before}`);
    const index = before.indexOf(place.before);
    assert.equal(place.entry, entryId(1, index + 1));
  }
  for (const sequence of [1, 2, 999, 1500, 3000]) {
    const place = await store.events.logPosition(id, { entry: entryId(1, sequence) });
    const found = before.indexOf(place.before) + 1;
    assert.equal(place.entry, entryId(1, found));
    assert.ok(found <= sequence && before[sequence - 1]! - place.before < 256 + 3);
  }
  assert.deepEqual((await store.events.logPosition(id, { entry: '0-5' })).entry, null);
  const size = await redis.zcard(`{echelon}:x:${id}:lines`);
  assert.ok(size >= total / 260 && size <= total / 256 + 1, `${size}`);
});

test('events without lines do not make the way long', async () => {
  const lease = await running(store);
  const events: NumberedEvent[] = [log(1, 1)];
  for (let sequence = 2; sequence < 3000; sequence++) {
    events.push({ sequence, at: 0, event: { type: 'stage', name: 'x', step: sequence, steps: 1 } });
  }
  events.push(log(3000, 1), log(3001, 1));
  await store.events.append(lease, events);
  const place = await store.events.logPosition(lease.experiment, { line: 2 });
  // Fails where only lines are counted.
  assert.deepEqual([place.entry, place.before], [entryId(1, 3000), 1]);
});
