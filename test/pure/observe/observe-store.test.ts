import assert from 'node:assert/strict';
import { test } from 'node:test';
import { observeStore } from '../../../src/observe/observe-store.ts';

function counted(changes: Record<string, object> = {}) {
  const seen: unknown[][] = [];
  const note = (name: string) => (value?: unknown) => void seen.push([name, value]);
  const store = {
    other: () => 'kept',
    attempts: {
      acquire: async () => ({ outcome: 'acquired' }),
      takeOver: async () => [1, 2],
      end: async () => 'failed',
      preempt: async () => 3,
    },
    events: {
      append: async (_lease: unknown, events: readonly { event: { type: string } }[]) => events.length,
    },
    batches: { report: async (_record: unknown, _event: unknown, _report: unknown) => 'stored' },
    rules: { advance: async (_advance: unknown) => ({ outcome: 'ok', recorded: ['a'], stopped: true }) },
  };
  const metrics = {
    claimed: note('claimed'),
    takenOver: note('takenOver'),
    appended: note('appended'),
    ended: note('ended'),
    preempted: note('preempted'),
    reported: note('reported'),
    spent: note('spent'),
    ruled: note('ruled'),
  };
  for (const [part, methods] of Object.entries(changes)) Object.assign(store[part as 'rules'], methods);
  return { seen, store: observeStore(store, metrics as Parameters<typeof observeStore>[1]) };
}

test('answers as the store does and counts it', async () => {
  const { seen, store } = counted();
  assert.equal(store.other(), 'kept');
  assert.deepEqual(await store.attempts.acquire(), { outcome: 'acquired' });
  assert.deepEqual(await store.attempts.takeOver(), [1, 2]);
  assert.equal(await store.attempts.end(), 'failed');
  await store.batches.report({ gpuMs: 1500 }, { ok: true }, { rows: 4, unverifiable: 4 });
  const fired = [
    { rule: 'a', do: 'stop' },
    { rule: 'b', do: 'mark' },
  ];
  await store.rules.advance({ fired });
  assert.deepEqual(seen, [
    ['claimed', undefined],
    ['takenOver', 2],
    ['ended', 'failed'],
    ['reported', { ok: true }],
    ['spent', { gpuSeconds: 1.5, signal: 'unknown' }],
    ['ruled', { actions: ['stop'], stopped: true }],
  ]);
});

test('a batch has signal where a true advantage is not 0', async () => {
  const signalOf = async (unverifiable: number, zero: number) => {
    const { seen, store } = counted();
    await store.batches.report(
      { gpuMs: 0 },
      {},
      { rows: 4, unverifiable, diagnosis: { zero: { rows: zero } } },
    );
    return (seen[1]![1] as { signal: string }).signal;
  };
  assert.deepEqual(await Promise.all([signalOf(0, 3), signalOf(0, 4), signalOf(2, 1), signalOf(2, 2)]), [
    'with',
    'without',
    'with',
    'unknown',
  ]);
});

test('rows of dropped batches are counted, dropped lines are not', async () => {
  const { seen, store } = counted();
  const gap = (kind: string) => ({ event: { type: 'gap', kind, rows: 8 } });
  assert.equal(await store.events.append({}, [gap('batch'), gap('logs'), { event: { type: 'log' } }]), 3);
  const { events, droppedRows, ok } = seen[0]![1] as Record<string, unknown>;
  assert.deepEqual([events, droppedRows, ok], [3, 8, true]);
});

test('a failure is counted and passed on; an attempt that is not acquired and a second report are not counted', async () => {
  const { seen, store } = counted({
    events: { append: () => Promise.reject(new Error('away')) },
    attempts: { acquire: async () => ({ outcome: 'over' }) },
    batches: { report: async () => 'known' },
  });
  await assert.rejects(store.events.append({}, []), /away/);
  await store.attempts.acquire();
  await store.batches.report({}, {}, {});
  assert.equal(seen.length, 1);
  assert.equal((seen[0]![1] as { ok: boolean }).ok, false);
});

test('a report that replaces another one is counted, the GPU time of its batch is not counted again', async () => {
  const { seen, store } = counted({ batches: { report: async () => 'replaced' } });
  await store.batches.report({ gpuMs: 1500 }, { ok: true }, { rows: 4, unverifiable: 0 });
  assert.deepEqual(seen, [['reported', { ok: true }]]);
});
