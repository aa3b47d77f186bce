import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enqueue, removeJobs } from '../../../../src/http/resources/experiments/enqueue.ts';
import { estimateFields } from '../../../../src/http/resources/queues/estimate-fields.ts';
import type { RouteDeps } from '../../../../src/http/server/deps.ts';

const away = async () => {
  throw new Error('away');
};

test('an unreachable job queue is logged and fails no request', async () => {
  const logged: object[] = [];
  const deps = {
    queue: { enqueue: away, remove: away },
    log: { warn: (what: object) => void logged.push(what) },
  } as unknown as RouteDeps;
  enqueue(deps, [{ experiment: 'exp-a' }, { experiment: 'exp-b' }]);
  removeJobs(deps, ['exp-c']);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    logged.map((what) => ({ ...what, err: undefined })),
    [
      { err: undefined, experiments: ['exp-a', 'exp-b'], of: 2 },
      { err: undefined, of: 1 },
    ],
  );
});

test('a queued experiment shows its estimated start, or why it has none', () => {
  const estimate = { startAt: 3, earliest: 2, latest: 4 };
  assert.deepEqual(estimateFields({ reason: 'r', estimate }), { estimate, noEstimate: null });
  assert.equal(estimateFields({ reason: 'r', unknown: 'who knows' }).noEstimate, 'who knows');
  assert.match(estimateFields({ reason: null }).noEstimate ?? '', /no scheduling round has read/);
  assert.match(estimateFields({ reason: 'r' }).noEstimate ?? '', /found no estimate/);
});
