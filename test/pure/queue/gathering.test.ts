import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gathering } from '../../../src/queue/gathering.ts';

/** A sender whose calls the test ends. */
function held() {
  const calls: { items: number[]; end(error?: Error): void }[] = [];
  const send = (items: number[]) =>
    new Promise<void>((resolve, reject) => {
      calls.push({ items, end: (error) => (error ? reject(error) : resolve()) });
    });
  return { calls, send };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('items that are added during a call are sent in the next call, in order', async () => {
  const { calls, send } = held();
  const { add, idle } = gathering(send, 10);
  const first = add(1);
  await turn();
  const [second, third] = [add(2), add(3)];
  await turn();
  assert.deepEqual(
    calls.map(({ items }) => items),
    [[1]],
  );
  calls[0]!.end();
  await first;
  await turn();
  assert.deepEqual(calls[1]!.items, [2, 3]);
  calls[1]!.end();
  await Promise.all([second, third, idle()]);
});

test('a failed call rejects its own items only', async () => {
  const { calls, send } = held();
  const { add, idle } = gathering(send, 10);
  const failing = assert.rejects(add(1), /away/);
  await turn();
  const next = add(2);
  calls[0]!.end(new Error('away'));
  await failing;
  await turn();
  calls[1]!.end();
  await Promise.all([next, idle()]);
});

test('a call has at most the maximum number of items', async () => {
  const sizes: number[] = [];
  const { add } = gathering(async (items: number[]) => void sizes.push(items.length), 4);
  await Promise.all(Array.from({ length: 10 }, (_, at) => add(at)));
  assert.deepEqual(sizes, [4, 4, 2]);
});
