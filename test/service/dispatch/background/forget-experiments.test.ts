import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type FindRayWorker,
  forgetExperiments,
} from '../../../../src/dispatch/background/forget-experiments.ts';
import { RayWorkerError } from '../../../../src/rpc/status.ts';
import { newProject } from '../../../../src/schemas/project.ts';
import type { Cluster } from '../../../../src/store/clusters/types.ts';
import type { Forgetting } from '../../../../src/store/retention/retention.ts';
import { QUIET } from '../../../support/dispatch.ts';
import { partialStore } from '../../../support/partial-store.ts';
import { clockAt } from '../../../support/store.ts';

const DAY = 24 * 3600 * 1000;
const NOW = 1000 * DAY;
const KEPT = { batchesDays: null, streamsDays: null, recordsDays: null };

/** What is done about these, with the clusters lab, away and old. */
async function forgetting(
  forgettable: Forgetting[],
  rayWorkerOf: FindRayWorker = async () => ({ forget: async () => ({ forgotten: 1 }) }),
): Promise<string[]> {
  const did: string[] = [];
  const left = [...forgettable];
  const store = partialStore({
    clock: clockAt(NOW),
    retention: {
      takeForgetting: async ({ limit }) => left.splice(0, limit),
      async forgetLater(ids, { laterMs, afterMs }) {
        did.push(...ids.map((id) => `later ${id} ${laterMs / DAY} ${afterMs / DAY}`));
      },
      async forgotten(ids) {
        did.push(...ids.map((id) => `forgotten ${id}`));
      },
    },
    clusters: { list: async () => [{ name: 'lab' }, { name: 'away' }, { name: 'old' }] as Cluster[] },
    projects: {
      list: async () => [
        newProject({ name: 'default' }, 0),
        newProject({ name: 'long', retention: { eventLogsDays: 30, ...KEPT } }, 0),
        newProject({ name: 'ever', retention: { eventLogsDays: null, ...KEPT } }, 0),
        newProject({ name: 'short', retention: { batchesDays: 1, streamsDays: 2, recordsDays: 3 } }, 0),
      ],
    },
  });
  await forgetExperiments({ store, rayWorkerOf, log: QUIET, stopped: () => false });
  return did;
}

function ended(id: string, attempts: [string, number][], place: { project?: string; daysAgo?: number } = {}) {
  const { project = 'default', daysAgo = 8 } = place;
  return { id, record: { project, endedAt: NOW - daysAgo * DAY, attempts: new Map(attempts) } };
}

test('an experiment is forgotten by each known cluster until each has answered', async () => {
  const asked: string[] = [];
  const did = await forgetting(
    [
      ended('exp-a', [['lab', 2]]),
      ended('exp-b', [
        ['lab', 1],
        ['away', 3],
      ]),
      ended('exp-c', [
        ['gone', 1],
        ['old', 4],
      ]),
      { id: 'exp-d', record: null },
    ],
    async (cluster) => ({
      async forget(id, attempt) {
        if (cluster === 'away' && id === 'exp-b') throw new RayWorkerError('unreachable', 'no answer');
        if (cluster === 'old') throw new RayWorkerError('invalid', 'it does not know the call');
        asked.push(`${cluster} ${id} ${attempt}`);
        return { forgotten: 1 };
      },
    }),
  );
  assert.deepEqual(did, ['forgotten exp-a', 'forgotten exp-c', 'forgotten exp-d']);
  const every = 2 ** 32 - 1;
  assert.deepEqual(asked, ['lab exp-a 2', 'lab exp-b 1', `lab exp-d ${every}`, `away exp-d ${every}`]);
});

// Fails without the look at the project.
test("event logs are retained for as long as the project's policy says", async () => {
  const did = await forgetting([
    ended('exp-a', [['lab', 1]]),
    ended('exp-b', [['lab', 1]], { project: 'long', daysAgo: 29 }),
    ended('exp-c', [['lab', 1]], { project: 'long', daysAgo: 31 }),
    ended('exp-d', [['lab', 1]], { project: 'ever', daysAgo: 900 }),
    ended('exp-e', [['lab', 1]], { project: 'short' }),
    { id: 'exp-f', record: null },
  ]);
  assert.deepEqual(did, [
    'later exp-b 1 7',
    'later exp-d 1 7',
    ...['exp-a', 'exp-c', 'exp-e', 'exp-f'].map((id) => `forgotten ${id}`),
  ]);
});

test('all due experiments are forgotten in one call', async () => {
  const many = Array.from({ length: 101 }, (_, at) => ended(`exp-${at}`, [['lab', 1]]));
  assert.equal((await forgetting(many)).length, 101);
});

/* Fails where each experiment waits for its own answer: a hung ray-worker then costs the time of all of them. */
test('a silent cluster is asked once per round, and other clusters continue', async () => {
  const asked: string[] = [];
  const away = Array.from({ length: 30 }, (_, at) => ended(`exp-a${at}`, [['away', 1]]));
  const did = await forgetting([...away, ended('exp-l', [['lab', 1]])], async (cluster) => {
    asked.push(cluster);
    if (cluster === 'away') throw new Error('no answer');
    return { forget: async () => ({ forgotten: 1 }) };
  });
  assert.deepEqual(
    did.filter((one) => one.startsWith('forgotten')),
    ['forgotten exp-l'],
  );
  assert.ok(asked.filter((cluster) => cluster === 'away').length <= 8, 'those under way, and no more');
});
