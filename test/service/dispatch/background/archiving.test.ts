import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archiveEnded, compactSeries, rollLong } from '../../../../src/dispatch/background/archiving.ts';
import { QUIET } from '../../../support/dispatch.ts';
import { partialStore } from '../../../support/partial-store.ts';

const ROUND = { log: QUIET, stopped: () => false };

test('all ended streams are archived step by step, although one fails', async () => {
  const ended = Array.from({ length: 120 }, (_, at) => `exp-${at}`);
  const archived: string[] = [];
  const asked: object[] = [];
  const archive = {
    async take(options: { limit: number; leaseMs: number; afterMs: number }) {
      asked.push(options);
      return ended.splice(0, options.limit);
    },
    async archiveStream(id: string) {
      if (id === 'exp-7') throw new Error('broken');
      archived.push(id);
      return 'archived' as const;
    },
  };
  await archiveEnded({ ...ROUND, store: partialStore({ archive }) }, { leaseMs: 4, afterMs: 3 });
  assert.equal(archived.length, 119);
  assert.deepEqual(asked, Array(3).fill({ limit: 50, leaseMs: 4, afterMs: 3 }));
});

test('the oldest events of long streams are archived, although one stream fails', async () => {
  const rolled: string[] = [];
  const archive = {
    longStreams: async () => ['exp-a', 'exp-b', 'exp-c'],
    async rollStream(id: string) {
      if (id === 'exp-b') throw new Error('broken');
      return rolled.push(id);
    },
  };
  await rollLong({ ...ROUND, store: partialStore({ archive }) });
  assert.deepEqual(rolled, ['exp-a', 'exp-c']);
});

test('all series that are due are compacted, although one fails', async () => {
  const due = Array.from({ length: 120 }, (_, at) => `exp-${at}`);
  const compacted: string[] = [];
  const metrics = {
    takeDue: async (limit: number) => due.splice(0, limit),
    async compact(id: string) {
      if (id === 'exp-7') throw new Error('broken');
      compacted.push(id);
      return true;
    },
  };
  await compactSeries({ log: QUIET, stopped: () => false, store: partialStore({ metrics }) });
  assert.deepEqual([compacted.length, due], [119, []]);
});
