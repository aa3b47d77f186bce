import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { AttemptEvent, StreamEntry } from '../../../../../src/core/events.ts';
import { entryId } from '../../../../../src/core/ids.ts';
import {
  linesOf,
  logText,
  numberedEntries,
  readLastLines,
  readLines,
} from '../../../../../src/http/resources/experiments/log-lines.ts';
import { partialStore } from '../../../../support/partial-store.ts';
import { running, storeFor } from '../../../../support/store.ts';

const { store, redis } = await storeFor({ after });

test('linesOf ignores entries that are not logs, and returns gaps under every filter', () => {
  const metrics = { id: '1-1048576', at: 0, event: { type: 'metrics', step: 0, values: {} } } as const;
  assert.deepEqual(linesOf({ entry: metrics, before: 3 }), []);
  const gap: AttemptEvent = {
    type: 'gap',
    kind: 'logs',
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

test('a page of log lines ends at its size limit, and the next page starts with the next entry', async () => {
  const lease = await running(store);
  const text = 'x'.repeat(16_000);
  const events = Array.from({ length: 300 }, (_, index) => {
    const event: AttemptEvent = { type: 'log', source: 'stdout', lines: [text], cutBytes: 0 };
    return { sequence: index + 1, at: 0, event };
  });
  await store.events.append(lease, events);
  const page = await readLines(store, { id: lease.experiment, filter: {} });
  assert.equal(page.more, true);
  assert.ok(page.lines.length * text.length < 2.2 * 1024 * 1024);
  const rest = await readLines(store, { id: lease.experiment, filter: {}, after: page.after! });
  assert.equal(rest.lines[0]?.line, page.lines.length + 1);
});

test('logs recorded before lines were numbered can still be read', async () => {
  const lease = await running(store);
  const events = Array.from({ length: 5 }, (_, index) => {
    const event: AttemptEvent = { type: 'log', source: 'stdout', lines: [`${index}`], cutBytes: 0 };
    return { sequence: index + 1, at: 0, event };
  });
  await store.events.append(lease, events);
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

test('a download ends at the last line that was recorded when it began', async () => {
  const lease = await running(store);
  let sequence = 0;
  const append = async (text: string) => {
    const event: AttemptEvent = { type: 'log', source: 'stdout', lines: [text], cutBytes: 0 };
    await store.events.append(lease, [{ sequence: ++sequence, at: 0, event }]);
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

test('the last lines are read with a bounded number of entries, even if other events lie between them', async () => {
  const lease = await running(store);
  const id = lease.experiment;
  const events: AttemptEvent[] = [];
  const log = (text: string) => events.push({ type: 'log', source: 'stdout', lines: [text], cutBytes: 0 });
  const silence = (count: number) => {
    for (let step = 0; step < count; step++) events.push({ type: 'stage', name: 'x', step, steps: 1 });
  };
  log('rare');
  for (let line = 2; line <= 3000; line++) log(`line ${line}`);
  silence(11_000);
  log('line 3001');
  log('line 3002');
  silence(2000);
  await store.events.append(
    lease,
    events.map((event, index) => ({ sequence: index + 1, at: 0, event })),
  );
  let longest = 0;
  const observed = {
    logPosition: store.events.logPosition,
    page: store.events.page,
    tail: (of: string, limit: number) => {
      longest = Math.max(longest, limit);
      return store.events.tail(of, limit);
    },
  };
  const last = async (tail: number, filter = {}) =>
    (await readLastLines(partialStore({ events: observed }), { id, tail, filter })).lines.map(
      ({ line, text }) => `${line} ${text}`,
    );
  assert.deepEqual(await last(1), ['3002 line 3002']);
  assert.deepEqual(await last(2), ['3001 line 3001', '3002 line 3002']);
  // The search does not reach 11,000 events back.
  assert.deepEqual((await last(100)).slice(-1), ['3002 line 3002']);
  assert.deepEqual(await last(5, { contains: 'rare' }), []);
  // Fails if a read asks for all entries at once.
  assert.ok(longest <= 256, `${longest}`);
});

test('the last lines have a limit on their total size', async () => {
  const lease = await running(store);
  const events = Array.from({ length: 400 }, (_, index) => {
    const event: AttemptEvent = { type: 'log', source: 'stdout', lines: ['y'.repeat(16_000)], cutBytes: 0 };
    return { sequence: index + 1, at: 0, event };
  });
  await store.events.append(lease, events);
  const { lines } = await readLastLines(store, { id: lease.experiment, tail: 10_000, filter: {} });
  assert.ok(lines.length < 140 && lines.length > 100, `${lines.length}`);
  assert.equal(lines.at(-1)?.line, 400);
  const far = await readLastLines(store, { id: lease.experiment, tail: 2, filter: { source: 'stderr' } });
  assert.deepEqual(far.lines, []);
});
