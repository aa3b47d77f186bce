import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compactSeries } from '../../../../src/dispatch/background/archiving.ts';
import { QUIET } from '../../../support/dispatch.ts';
import { partialStore } from '../../../support/partial-store.ts';

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
