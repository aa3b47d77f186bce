import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServerClock } from '../src/server-clock.ts';

const answerAt = (ms: number) => new Response('', { headers: { date: new Date(ms).toUTCString() } });

test('the time is that of the server whose clock is an hour ahead, and the own one if the two hardly differ', () => {
  const clock = createServerClock();
  assert.equal(clock.isKnown, false);
  clock.hear(answerAt(Date.now() + 3_600_000));
  assert.ok(clock.isKnown);
  assert.ok(Math.abs(clock.now() - Date.now() - 3_600_000) < 2_000);
  clock.hear(answerAt(Date.now() + 600));
  assert.ok(Math.abs(clock.now() - Date.now()) < 100);
  clock.hear(new Response(''));
  assert.ok(Math.abs(clock.now() - Date.now()) < 100);
});
