import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { EchelonError } from '../../../../src/core/errors.ts';
import { END_CAUSES, type EndCause, type Ended } from '../../../../src/core/events.ts';
import { createLaunches } from '../../../../src/dispatch/attempt/context.ts';
import {
  CAUSE_RULES,
  countFaults,
  decide,
  endInWords,
  lostAttempt,
  memoryAdvice,
} from '../../../../src/dispatch/attempt/decide.ts';
import { isLeaseLost, isRetryable, whyUnfollowable } from '../../../../src/dispatch/attempt/faults.ts';
import { RayWorkerError } from '../../../../src/rpc/status.ts';

function ended(cause: EndCause, more: Partial<Ended> = {}): Ended {
  return { ...lostAttempt(''), cause, ...more };
}

describe('decide', () => {
  test('each cause leads to its state while attempts are left', () => {
    const leads = Object.fromEntries(
      END_CAUSES.map((cause) => [
        cause,
        decide(ended(cause), { attempt: 1, maxAttempts: 3, maxClusterFaults: 20, cancelling: false }).to,
      ]),
    );
    assert.deepEqual(leads, {
      succeeded: 'succeeded',
      failed: 'failed',
      stopped: 'queued',
      killed: 'queued',
      'out-of-memory': 'failed',
      'supervisor-lost': 'queued',
      'not-started': 'queued',
      'node-lost': 'queued',
      'cluster-failed': 'queued',
      'gpus-short': 'queued',
      'disk-full': 'failed',
      'allocation-ended': 'queued',
      preempted: 'queued',
    });
  });

  test('after the last attempt, the experiment fails', () => {
    const faults = { program: 2, cluster: 0 };
    const decision = decide(ended('killed'), {
      attempt: 3,
      maxAttempts: 3,
      maxClusterFaults: 20,
      faults,
      cancelling: false,
    });
    assert.equal(decision.to, 'failed');
    assert.match(decision.reason, /^attempt 3, program fault 3 of at most 3: /);
  });

  test('an attempt that was stopped without a cancel is followed by another, after any number of attempts', () => {
    const decision = decide(ended('stopped'), {
      attempt: 3,
      maxAttempts: 3,
      maxClusterFaults: 20,
      cancelling: false,
    });
    assert.equal(decision.to, 'queued');
    assert.match(decision.reason, /was stopped; the next attempt follows/);
  });

  test('a cancelled experiment is cancelled however its driver ended', () => {
    for (const cause of END_CAUSES)
      assert.equal(
        decide(ended(cause), { attempt: 1, maxAttempts: 3, maxClusterFaults: 20, cancelling: true }).to,
        'cancelled',
      );
  });
});

test('the table of causes equals the table in docs/guides/runs.md', () => {
  const page = readFileSync(new URL('../../../../docs/guides/runs.md', import.meta.url), 'utf8');
  const rows = [
    ...page.matchAll(/^\| `([a-z-]+)` \|[^|]*\| (program|cluster|free|never)[^|]*\| (yes|no) \|/gm),
  ].map(([, cause, again, waits]) => [cause, { again, waits: waits === 'yes' }]);
  const rules = Object.entries(CAUSE_RULES).map(([cause, { again, waits }]) => [cause, { again, waits }]);
  assert.deepEqual(Object.fromEntries(rows), Object.fromEntries(rules));
});

test('a shortage of GPUs never uses up the attempts, and each one waits longer', () => {
  const wait = { firstMs: 1_000, longestMs: 9_000 };
  const decision = decide(ended('gpus-short'), {
    attempt: 4,
    faults: { program: 0, cluster: 2 },
    maxAttempts: 1,
    maxClusterFaults: 20,
    cancelling: false,
    wait,
  });
  assert.deepEqual(decision, {
    to: 'queued',
    waitMs: 2_000,
    waitsFor: 'the cluster had too few free GPUs for its last attempt',
    reason: 'the cluster had too few free GPUs; the next attempt follows in 2 s',
  });
});

test('the wait before the next attempt doubles with each fault of the same kind, and not with one of the other', () => {
  const wait = { firstMs: 1_000, longestMs: 3_000 };
  const known = { attempt: 9, maxAttempts: 9, maxClusterFaults: 20, cancelling: false, wait };
  const waits = (cause: EndCause, kind: 'program' | 'cluster') =>
    [0, 1, 2, 3].map((before) => {
      const faults = { program: 4, cluster: 4, [kind]: before };
      const decision = decide(ended(cause), { ...known, faults });
      return decision.to === 'queued' && decision.waitMs;
    });
  assert.deepEqual(waits('node-lost', 'cluster'), [1_000, 2_000, 3_000, 3_000]);
  assert.deepEqual(waits('killed', 'program'), [1_000, 2_000, 3_000, 3_000]);
});

test('each kind of fault has its own limit: the faults of the other kind do not count', () => {
  const known = { attempt: 9, maxAttempts: 2, maxClusterFaults: 3, cancelling: false };
  const to = (cause: EndCause, faults: { program: number; cluster: number }) =>
    decide(ended(cause), { ...known, faults }).to;
  assert.equal(to('killed', { program: 0, cluster: 8 }), 'queued');
  assert.equal(to('killed', { program: 1, cluster: 0 }), 'failed');
  assert.equal(to('cluster-failed', { program: 8, cluster: 2 }), 'queued');
  assert.equal(to('cluster-failed', { program: 0, cluster: 3 }), 'failed');
});

test('an experiment with a store for checkpoints is bound to no cluster', () => {
  const known = { attempt: 1, maxAttempts: 3, maxClusterFaults: 20, cancelling: false };
  for (const cause of ['node-lost', 'killed', 'gpus-short'] as const)
    for (const checkpointStore of [{ url: 's3://b/p' }, null]) {
      const decision = decide(ended(cause), { ...known, spec: { checkpointStore } });
      assert.equal(
        decision.to === 'queued' && decision.portable,
        checkpointStore === null ? undefined : true,
      );
    }
});

test('a wait reason names the fault and its count', () => {
  const known = { attempt: 4, maxAttempts: 3, maxClusterFaults: 20, cancelling: false };
  const decision = decide(ended('cluster-failed'), { ...known, faults: { program: 2, cluster: 1 } });
  assert.ok(decision.to === 'queued');
  assert.equal(decision.waitsFor, 'cluster fault 2 of at most 20 ended its last attempt');
  assert.match(
    decision.reason,
    /^attempt 4, cluster fault 2 of at most 20: a part of the cluster failed; it will/,
  );
});

test('orderly stops and shortages of GPUs are no faults; an attempt without an end is one', () => {
  const attempts = [
    { ended: ended('stopped') },
    { ended: ended('gpus-short') },
    { ended: null },
    { ended: ended('node-lost') },
    { ended: ended('killed') },
    { ended: ended('cluster-failed') },
  ];
  assert.deepEqual(countFaults(attempts), { program: 2, cluster: 2 });
});

test('the reason of an out-of-memory end names the settings that help', () => {
  const end = ended('out-of-memory', { message: 'a GPU ran out of memory' });
  const decision = decide(end, {
    attempt: 1,
    maxAttempts: 3,
    maxClusterFaults: 20,
    cancelling: false,
    engine: 'verl-agent',
  });
  assert.equal(decision.to, 'failed');
  assert.match(decision.reason, /lower \/training\/microBatchSizePerGpu/);
});

test('a limit fails the experiment, except after a success or a cancel', () => {
  const known = {
    attempt: 1,
    maxAttempts: 3,
    maxClusterFaults: 20,
    cancelling: false,
    limitReached: 'its deadline has passed',
  };
  assert.deepEqual(
    ['stopped', 'killed', 'succeeded'].map((cause) => decide(ended(cause as EndCause), known).to),
    ['failed', 'failed', 'succeeded'],
  );
  assert.equal(decide(ended('stopped'), { ...known, cancelling: true }).to, 'cancelled');
});

test('the third lost supervisor fails the experiment although attempts are left', () => {
  const known = { attempt: 3, maxAttempts: 20, maxClusterFaults: 20, cancelling: false };
  assert.equal(decide(ended('supervisor-lost'), { ...known, supervisorsLost: 1 }).to, 'queued');
  const decision = decide(ended('supervisor-lost'), { ...known, supervisorsLost: 2 });
  assert.ok(decision.to === 'failed' && decision.quarantined);
  assert.match(decision.reason, /^quarantined after 3 crashes/);
});

test('an experiment in quarantine fails, except after a success or a cancel', () => {
  const known = {
    attempt: 1,
    maxAttempts: 20,
    maxClusterFaults: 20,
    cancelling: false,
    quarantine: 'quarantined after 3 crashes: …',
  };
  for (const cause of ['killed', 'stopped', 'failed'] as const) {
    const decision = decide(ended(cause), known);
    assert.ok(decision.to === 'failed' && decision.quarantined);
    assert.match(decision.reason, /^quarantined after 3 crashes: …; the driver /);
  }
  const success = decide(ended('succeeded'), known);
  assert.equal(success.to, 'succeeded');
  assert.match(success.reason, /successfully; quarantined after 3 crashes: …$/);
  assert.equal(decide(ended('killed'), { ...known, cancelling: true }).to, 'cancelled');
});

test('the reason of an end has its exit code or signal', () => {
  assert.match(endInWords(ended('failed', { exitCode: 3 })), /failed \(exit code 3\)$/);
  assert.match(endInWords(ended('killed', { signal: 9, message: 'm' })), /\(signal 9\): m$/);
});

test("the reason has the number once although the ray-worker's message repeats it", () => {
  const failed = { exitCode: 1, message: 'exit code 1: ValueError: no games' };
  assert.equal(endInWords(ended('failed', failed)), 'the driver failed (exit code 1): ValueError: no games');
  const stopped = {
    exitCode: 143,
    signal: 15,
    message: 'stopped: the machine goes down (signal 15 (SIGTERM))',
  };
  assert.equal(
    endInWords(ended('stopped', stopped)),
    'the driver was stopped (signal 15): the machine goes down',
  );
});

test('a failure without a message is explained by the last error line of its output, or by the last line', () => {
  const failed = { exitCode: 1, message: 'exit code 1' };
  const lastLines = ['Traceback', 'OSError: no space', 'cleaning up', ''];
  assert.match(endInWords(ended('failed', { ...failed, lastLines })), /\(exit code 1\): OSError: no space$/);
  assert.match(endInWords(ended('failed', { ...failed, lastLines: ['out of luck', ' '] })), /: out of luck$/);
  // Neither a remark of the driver on the metrics, nor a colour.
  const remark = 'echelon: metrics.lines matched 0 of 1 printed lines';
  assert.match(
    endInWords(ended('failed', { ...failed, lastLines: ['\u001b[31mout of luck\u001b[0m', remark] })),
    /: out of luck$/,
  );
  const cause = 'echelon: likely cause: too many games';
  assert.match(endInWords(ended('failed', { ...failed, lastLines: ['bad', cause] })), /: too many games$/);
  assert.match(endInWords(ended('failed', failed)), /failed \(exit code 1\)$/);
  const long = endInWords(ended('failed', { ...failed, lastLines: ['x'.repeat(5000)] }));
  assert.ok(long.length < 400);
});

test('memory advice names the settings for the memory that ran out', () => {
  const gpu = memoryAdvice('verl-agent', 'a GPU ran out of memory (exit code 1)');
  for (const word of ['microBatchSizePerGpu', 'gpuMemoryUtilization', 'parameterOffload', 'to true'])
    assert.ok(gpu.includes(word), gpu);
  const host = memoryAdvice('verl-agent', 'killed by the kernel for memory');
  assert.match(host, /^lower \/rollout\/groups or .* to false$/);
  assert.equal(
    memoryAdvice('local', 'killed by the kernel for memory'),
    'lower /rollout/groups, /rollout/groupSize or /environment/maxSteps',
  );
  assert.equal(memoryAdvice('replay', 'x'), '');
  assert.equal(memoryAdvice('unknown', 'x'), '');
});

test('transient faults and a refused token are retryable', () => {
  for (const fault of ['unreachable', 'denied', 'exhausted'] as const)
    assert.ok(isRetryable(new RayWorkerError(fault, '')), fault);
  assert.ok(isRetryable(new EchelonError('store-unavailable', '')));
  for (const error of [
    new RayWorkerError('invalid', ''),
    new EchelonError('lease-lost', ''),
    new Error('x'),
    null,
  ])
    assert.ok(!isRetryable(error));
});

test('a lost lease is recognised by its error code', () => {
  assert.ok(isLeaseLost(new EchelonError('lease-lost', '')));
  assert.ok(!isLeaseLost(new Error('lease-lost')));
});

test('an attach that cannot succeed returns the reason', () => {
  for (const fault of ['unknown-attempt', 'ahead', 'damaged', 'invalid'] as const)
    assert.match(whyUnfollowable(new RayWorkerError(fault, 'detail')) ?? '', /detail/);
  assert.equal(whyUnfollowable(new RayWorkerError('unreachable', '')), null);
  assert.equal(whyUnfollowable(new Error('x')), null);
});

test('a launch is alone if no other launch on its cluster overlaps it, before or after its begin', () => {
  const launches = createLaunches();
  const first = launches.begin('a');
  const elsewhere = launches.begin('b');
  assert.deepEqual([first.isAlone(), elsewhere.isAlone()], [true, true]);
  const second = launches.begin('a');
  second.end();
  assert.deepEqual([first.isAlone(), second.isAlone()], [false, false]);
  first.end();
  assert.equal(launches.begin('a').isAlone(), true);
});
