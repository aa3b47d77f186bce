import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAsker } from '../../src/app/asker.ts';

/** An asker whose requests the test answers. */
function scene() {
  const requests: (PromiseWithResolvers<string> & { signal: AbortSignal })[] = [];
  const reported: unknown[] = [];
  const asker = createAsker(
    (signal) => {
      const request = { ...Promise.withResolvers<string>(), signal };
      requests.push(request);
      return request.promise;
    },
    { data: (data) => reported.push(data), failure: (error) => reported.push(error) },
  );
  return { asker, requests, reported };
}
const turn = () => new Promise(setImmediate);

test('requests that come faster than the answers abort none, and the answer is followed by one more request', async () => {
  const { asker, requests, reported } = scene();
  for (let times = 0; times < 5; times += 1) asker.ask();
  await turn();
  // Fails if a reload aborts the request under way: with five reloads there would be five requests and no answer.
  assert.deepEqual([requests.length, requests[0]!.signal.aborted], [1, false]);
  requests[0]!.resolve('first');
  await turn();
  assert.deepEqual([reported, requests.length], [['first'], 2]);
  requests[1]!.resolve('second');
  await turn();
  assert.deepEqual([reported, requests.length], [['first', 'second'], 2]);
});

test('after a failure the next request is asked and answered', async () => {
  const { asker, requests, reported } = scene();
  asker.ask();
  const error = new Error('away');
  requests[0]!.reject(error);
  await turn();
  asker.ask();
  requests[1]!.resolve('there');
  await turn();
  assert.deepEqual(reported, [error, 'there']);
});

test('a stopped asker aborts its request, reports no late answer and asks no more', async () => {
  const { asker, requests, reported } = scene();
  asker.ask();
  asker.ask();
  asker.stop();
  assert.ok(requests[0]!.signal.aborted);
  // Fails if the late answer for an old filter is shown.
  requests[0]!.resolve('late');
  await turn();
  assert.deepEqual([reported, requests.length], [[], 1]);
});
