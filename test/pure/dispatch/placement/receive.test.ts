import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReceive } from '../../../../src/dispatch/placement/receive.ts';
import type { Acquired } from '../../../../src/store/attempts/types.ts';
import { partialStore } from '../../../support/partial-store.ts';

/** A receiver whose store answers `answers` in turn; an error is thrown. */
function bench(...answers: (Acquired | Error)[]) {
  const tokens: string[] = [];
  const begun: string[] = [];
  const placed = Promise.withResolvers<void>();
  const runs = new Map();
  const state = { stopping: false };
  const receive = createReceive({
    store: partialStore({
      attempts: {
        async acquire({ token }) {
          tokens.push(token);
          const answer = answers.shift()!;
          if (answer instanceof Error) throw answer;
          return answer;
        },
      },
    }),
    leased: {
      runs,
      begin({ lease, cluster }) {
        begun.push(`${lease.experiment} on ${cluster}`);
        runs.set(lease.experiment, { placed: placed.promise });
      },
    },
    dispatcher: 'd',
    leaseMs: 1_000,
    retry: { firstMs: 1, longestMs: 1 },
    stopping: () => state.stopping,
    cutOff: () => new Set<string>(),
  });
  return { receive, tokens, begun, placed, state };
}

const ACQUIRED: Acquired = {
  outcome: 'acquired',
  lease: { experiment: 'a', attempt: 1, token: 't' },
  cluster: 'c',
};

test('an acquired attempt begins, and its job is completed once the launch is confirmed', async () => {
  const { receive, begun, placed } = bench(ACQUIRED);
  let served: string | undefined;
  const serving = receive('a').then((answer) => {
    served = answer;
  });
  await new Promise(setImmediate);
  assert.deepEqual([begun, served], [['a on c'], undefined]);
  placed.resolve();
  await serving;
  assert.equal(served, 'complete');
});

test('each outcome of an acquisition decides what happens to the job', async () => {
  for (const [outcome, served] of [
    ['busy', 'soon'],
    ['queued', 'queued'],
    ['over', 'complete'],
  ] as const) {
    const { receive, begun } = bench({ outcome });
    assert.equal(await receive('a'), served);
    assert.deepEqual(begun, []);
  }
});

// Fails with a new token for each call: no dispatcher would use the first lease, and the attempt would be given up.
test('a call whose answer is lost is repeated under the same token', async () => {
  const { receive, tokens, placed } = bench(new Error('away'), new Error('away'), ACQUIRED);
  placed.resolve();
  assert.equal(await receive('a'), 'complete');
  assert.deepEqual([tokens.length, new Set(tokens).size], [3, 1]);
});

test('a dispatcher that stops acquires nothing', async () => {
  const { receive, tokens, state } = bench();
  state.stopping = true;
  assert.deepEqual([await receive('a'), tokens], ['soon', []]);
});
