import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archiveEnded, createSeeding, rollLong } from '../../../../src/dispatch/background/archiving.ts';
import { QUIET } from '../../../support/dispatch.ts';

const ROUND = { log: QUIET, stopped: () => false };
const DAY = 24 * 3600 * 1000;

test('the streams of all that ended are archived, step by step, also behind one that fails', async () => {
  const ended = Array.from({ length: 120 }, (_, at) => `exp-${at}`);
  const archived: string[] = [];
  const asked: object[] = [];
  const store = {
    async takeArchiving(options: { limit: number; leaseMs: number; afterMs: number }) {
      asked.push(options);
      return ended.splice(0, options.limit);
    },
    async archiveStream(id: string) {
      if (id === 'exp-7') throw new Error('broken');
      archived.push(id);
      return 'archived' as const;
    },
  };
  await archiveEnded({ ...ROUND, store }, { leaseMs: 4, afterMs: 3 });
  assert.equal(archived.length, 119);
  assert.deepEqual(asked, Array(3).fill({ limit: 50, leaseMs: 4, afterMs: 3 }));
});

test('of long streams the oldest is archived, also behind one that fails', async () => {
  const rolled: string[] = [];
  const store = {
    longStreams: async () => ['exp-a', 'exp-b', 'exp-c'],
    async rollStream(id: string) {
      if (id === 'exp-b') throw new Error('broken');
      return rolled.push(id);
    },
  };
  await rollLong({ ...ROUND, store });
  assert.deepEqual(rolled, ['exp-a', 'exp-c']);
});

// Fails where the day is counted from a walk that was broken off: the rest would wait for another day.
test('what earlier versions ended is looked for to the end of the list, once a day', async () => {
  let now = 0;
  let away = true;
  const cursors: (string | null)[] = [];
  const store = {
    async seedArchiving(cursor: string | null) {
      cursors.push(cursor);
      if (cursor !== null && away) throw new Error('away');
      return { added: 1, next: cursor === null ? 'x' : null };
    },
  };
  const seed = createSeeding({ ...ROUND, store, now: () => now });
  await assert.rejects(seed(), /away/);
  away = false;
  for (const at of [0, DAY - 1, DAY]) {
    now = at;
    await seed();
  }
  assert.deepEqual(cursors, [null, 'x', null, 'x', null, 'x']);
});
