import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { scheduleRound } from '../../../src/scheduler/schedule.ts';
import { JOB_LABEL, slurmWait } from '../../../src/scheduler/slurm-words.ts';
import { untilSaved } from '../../../src/scheduler/spans.ts';
import type { Cluster, SlurmJob } from '../../../src/store/clusters/types.ts';
import { cluster, node, waits } from '../../support/queue.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 0, 2, 12);
const END = NOW + 30 * MINUTE;

/** A cluster of one node of two GPUs that Slurm gives until {@link END}, and may give for an hour. */
function fromSlurm() {
  const job = {
    ...{ endedAt: null, cancelled: null },
    job: '7',
    role: 'node',
    node: 'n',
    endsAt: END,
    state: 'RUNNING',
  };
  const known = { slurm: { minutes: 60 }, slurmState: { jobs: [job as SlurmJob], problem: null } };
  const nodes = [node('n', 2, 2, { labels: { [JOB_LABEL]: '7' } })];
  return cluster('fleet', nodes, {
    nodeTypes: [{ gpus: 2, cpus: 2, max: 2 }],
    slurm: slurmWait({ ...known, nodes } as unknown as Cluster),
  });
}

function round(saves: number | undefined) {
  const map = new Map(saves === undefined ? [] : [['x', saves * MINUTE]]);
  const found = scheduleRound({
    ...{ queued: [waits('x', 1)], clusters: [fromSlurm()], allocations: new Map(), saves: map, now: NOW },
  });
  const asked = found.asks.get('fleet')?.nodes.reduce((sum, { count }) => sum + count, 0) ?? 0;
  return { starts: found.start.length, reason: found.reasons.get('x') ?? '', asked };
}

describe('a node that leaves at a known time', () => {
  test('takes an experiment that saves its work before, and one of which nothing is known', () => {
    assert.equal(round(30).starts, 1);
    assert.equal(round(undefined).starts, 1);
  });

  test('takes none that would lose its work, and another node is asked for', () => {
    const { starts, reason, asked } = round(31);
    assert.deepEqual([starts, asked], [0, 1]);
    assert.match(reason, /node n leaves at 12:30 UTC, before the work of this experiment would be saved/);
    assert.match(reason, /asked Slurm for 1 node/);
  });

  test('an experiment that saves more rarely than any allocation lasts waits with that reason, and nothing is asked for', () => {
    const { starts, reason, asked } = round(61);
    assert.deepEqual([starts, asked], [0, 0]);
    assert.match(reason, /saves its work every 61 min, but a node of fleet lasts 60 min: save more often/);
  });
});

test('work is saved at the next checkpoint or at the end, by the measured steps; unmeasured, nothing is known', () => {
  const pace = {
    ...{ attempt: 1, startedAt: 0, steps: 10, step: null, kept: 0, sweep: null, timeoutMs: 50, timeoutAt: 9 },
    perStep: { count: 1e9, meanMs: 100, deviationMs: 0 },
    saveEvery: 4,
  };
  assert.equal(untilSaved(pace), 420);
  assert.equal(untilSaved({ ...pace, saveEvery: 40 }), 1_050);
  assert.equal(untilSaved({ ...pace, saveEvery: null }), 1_050);
  assert.equal(untilSaved({ ...pace, perStep: null }), null);
});
