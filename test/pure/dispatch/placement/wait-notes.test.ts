import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RoundDecision } from '../../../../src/dispatch/placement/round-decision.ts';
import { createWaitNotes } from '../../../../src/dispatch/placement/wait-notes.ts';
import { type ScheduleInput, scheduleRound } from '../../../../src/scheduler/schedule.ts';
import type { WaitNote } from '../../../../src/store/queue/types.ts';
import { partialStore } from '../../../support/partial-store.ts';
import { cluster, exactly, node, waits } from '../../../support/queue.ts';

function bench() {
  const state = {
    now: 0,
    written: [] as [string, WaitNote][],
    queued: [waits('x', 8), waits('y', 8)],
    end: 100_000,
  };
  const note = createWaitNotes({
    elapsed: () => state.now,
    store: partialStore({
      queue: {
        async note(notes) {
          state.written.push(...notes);
          state.queued = state.queued.map((item) => ({ ...item, ...notes.get(item.experiment) }));
        },
      },
    }),
  });
  async function round(): Promise<[string, WaitNote][]> {
    state.written = [];
    const input: ScheduleInput = {
      queued: state.queued,
      clusters: [cluster('a', [node('n', 8, 64)])],
      allocations: new Map([['a', [{ experiment: 'o', project: 'default', node: 'n', gpus: 8, cpus: 1 }]]]),
      ends: new Map([['o', exactly(state.end)]]),
      now: state.now,
    };
    const look = { input, queued: state.queued, schedule: scheduleRound(input) };
    const versions = { versions: new Map(), projectVersions: new Map(), preemptions: 0 };
    await note({ ...look, ...versions } satisfies RoundDecision);
    return state.written;
  }
  return { state, round };
}

test('notes have the wait reason, the position, and the estimate or the reason why there is none', async () => {
  const { round } = bench();
  const [first, second] = await round();
  assert.deepEqual(first?.[1].estimate, { startAt: 100_000, earliest: 100_000, latest: 100_000 });
  assert.match(first?.[1].reason ?? '', /^needs 8 GPUs .*; node n has 8 GPUs free in about 2 min$/);
  assert.deepEqual([first?.[1].rank, second?.[1].rank], [1, 2]);
  assert.match(second?.[1].unknown ?? '', /the run time of x, .* is not known yet/);
});

test('only changed notes are written', async () => {
  const { state, round } = bench();
  await round();
  assert.deepEqual(await round(), []);
  state.now = 1_000;
  state.end = 104_000;
  assert.deepEqual(await round(), [], 'four seconds are none');
  state.now = 2_000;
  state.end = 110_000;
  const [moved, ...others] = await round();
  assert.deepEqual([moved?.[1].estimate?.startAt, others], [110_000, []]);
});

test('a note is written again if only its place has changed', async () => {
  const { state, round } = bench();
  await round();
  const [first] = state.queued;
  assert.deepEqual(first!.place, { cluster: 'a', nodes: ['n'], endAt: null, isHead: true });
  for (const place of [{ ...first!.place!, isHead: false }, { ...first!.place!, nodes: ['gone'] }, null]) {
    state.queued = state.queued.map((item) => (item.experiment === 'x' ? { ...item, place } : item));
    const [written, ...others] = await round();
    assert.deepEqual([written?.[0], written?.[1].place, others], ['x', first!.place, []]);
  }
});
