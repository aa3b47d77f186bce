import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { AttemptEvent, StreamEntry } from '../../../src/core/events.ts';
import { entryId } from '../../../src/core/ids.ts';
import { linesOf, logText, numberedEntries, readLines } from '../../../src/http/log-lines.ts';
import { running, storeFor } from '../../support/store.ts';

const { store, redis } = await storeFor({ after });

test('linesOf passes over what is no log, and shows gaps whatever is looked for', () => {
  const metrics = { id: '1-1048576', at: 0, event: { type: 'metrics', step: 0, values: {} } } as const;
  assert.deepEqual(linesOf({ entry: metrics, before: 3 }), []);
  const gap: AttemptEvent = {
    type: 'gap',
    what: 'logs',
    step: 0,
    count: 1,
    bytes: 2,
    rows: 0,
    reason: 'full',
  };
  const entry: StreamEntry = { id: entryId(2, 1), at: 5, event: gap };
  const [line] = linesOf({ entry, before: 3 }, { source: 'stderr', contains: 'zzz' });
  assert.deepEqual([line?.line, line?.source, line?.attempt], [4, 'gap', 2]);
  assert.deepEqual(linesOf({ entry, before: null }, { attempt: 1 }), []);
});

test('a page ends where it is large, and one entry more is not lost', async () => {
  const lease = await running(store);
  const text = 'x'.repeat(16_000);
  const events = Array.from({ length: 300 }, (_, index) => {
    const event: AttemptEvent = { type: 'log', source: 'stdout', lines: [text], cutBytes: 0 };
    return { sequence: index + 1, at: 0, event };
  });
  await store.append(lease, events);
  const page = await readLines(store, { id: lease.experiment, filter: {} });
  assert.equal(page.more, true);
  assert.ok(page.lines.length * text.length < 2.2 * 1024 * 1024);
  const rest = await readLines(store, { id: lease.experiment, filter: {}, after: page.after! });
  assert.equal(rest.lines[0]?.line, page.lines.length + 1);
});

test('what was recorded before lines were counted is read all the same', async () => {
  const lease = await running(store);
  const events = Array.from({ length: 5 }, (_, index) => {
    const event: AttemptEvent = { type: 'log', source: 'stdout', lines: [`${index}`], cutBytes: 0 };
    return { sequence: index + 1, at: 0, event };
  });
  await store.append(lease, events);
  await redis.del(`{echelon}:x:${lease.experiment}:lines`, `{echelon}:x:${lease.experiment}:lines:sums`);
  const id = lease.experiment;
  const all = await readLines(store, { id, filter: {} });
  assert.deepEqual(
    all.lines.map(({ line }) => line),
    [1, 2, 3, 4, 5],
  );
  const some = await readLines(store, { id, filter: {}, after: entryId(1, 3) });
  assert.deepEqual(
    some.lines.map(({ line, text }) => [line, text]),
    [
      [null, '3'],
      [null, '4'],
    ],
  );
  const [first] = await Array.fromAsync(numberedEntries(store, { id, after: undefined }));
  assert.equal(first?.[0]?.before, 0);
});

test('a download ends with what was recorded when it began', async () => {
  const lease = await running(store);
  let sequence = 0;
  const append = async (text: string) => {
    const event: AttemptEvent = { type: 'log', source: 'stdout', lines: [text], cutBytes: 0 };
    await store.append(lease, [{ sequence: ++sequence, at: 0, event }]);
  };
  for (let line = 0; line < 300; line++) await append(`line ${line}`);
  let text = '';
  for await (const part of logText(store, { id: lease.experiment, filter: {} })) {
    text += part;
    for (let more = 0; more < 300; more++) await append('later');
  }
  assert.ok(text.includes('line 299\n'));
  assert.ok(text.split('later').length < 600);
});
