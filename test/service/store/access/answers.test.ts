import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { storeFor } from '../../../support/store.ts';

const { store, redis } = await storeFor({ after });
const claim = (name: string, digest = 'd', leaseMs = 60_000) =>
  store.answers.claim({ name, digest, leaseMs });
const ANSWER = { status: 202, headers: { location: '/x' }, body: '{"a":1}' };

test('one of many claims holds; the others learn of it, and later get its answer', async () => {
  const claims = await Promise.all(Array.from({ length: 20 }, () => claim('one')));
  const held = claims.filter((one) => one.outcome === 'claimed');
  assert.equal(held.length, 1);
  assert.equal(claims.filter(({ outcome }) => outcome === 'running').length, 19);
  await store.answers.keep({
    name: 'one',
    token: held[0]!.token,
    caller: 'c',
    answer: ANSWER,
    keepMs: 60_000,
  });
  assert.deepEqual(await claim('one'), { outcome: 'answered', answer: ANSWER });
  assert.deepEqual(await claim('one', 'other'), { outcome: 'conflict' });
  const left = await redis.pttl('{echelon}:answer:one');
  assert.ok(left > 0 && left <= 60_000);
});

test('a claim that is dropped, or ran out, is free again; a lost one changes nothing', async () => {
  const first = await claim('two');
  assert.ok(first.outcome === 'claimed');
  await store.answers.drop({ name: 'two', token: first.token });
  const second = await claim('two', 'another request');
  assert.ok(second.outcome === 'claimed');
  await store.answers.keep({ name: 'two', token: first.token, caller: 'c', answer: ANSWER, keepMs: 60_000 });
  await store.answers.drop({ name: 'two', token: first.token });
  assert.deepEqual(await claim('two', 'another request'), { outcome: 'running' });
  await redis.pexpire('{echelon}:answer:two', 0);
  assert.equal((await claim('two')).outcome, 'claimed');
});

// Fails without the look at whether the store takes new work.
test('a nearly full store keeps no new answers, and still knows those that it has', async (t) => {
  const { store: small, redis: own } = await storeFor(t, {
    limits: { acceptShare: 0.5, pressureMaxAgeMs: 0 },
  });
  const of = (name: string) => small.answers.claim({ name, digest: 'd', leaseMs: 60_000 });
  const first = await of('one');
  assert.ok(first.outcome === 'claimed');
  await own.config('SET', 'maxmemory', '1500000');
  assert.deepEqual(await of('two'), { outcome: 'full' });
  assert.deepEqual(await of('one'), { outcome: 'running' });
  await small.answers.keep({ name: 'one', token: first.token, caller: 'c', answer: ANSWER, keepMs: 60_000 });
  assert.deepEqual(await of('one'), { outcome: 'answered', answer: ANSWER });
});

test('of one caller the oldest answers go for new ones, by number and by bytes; those of others stay', async (t) => {
  const { store: bounded, redis: own } = await storeFor(t, {
    limits: { answersOfCaller: 3, answerBytesOfCaller: 1000 },
  });
  const keep = async (name: string, caller: string, bytes = 1) => {
    const first = await bounded.answers.claim({ name, digest: 'd', leaseMs: 60_000 });
    assert.ok(first.outcome === 'claimed');
    const answer = { status: 200, headers: {}, body: 'x'.repeat(bytes) };
    await bounded.answers.keep({ name, token: first.token, caller, answer, keepMs: 60_000 });
  };
  const kept = async () =>
    (await own.keys('{echelon}:answer:*')).map((key) => key.slice('{echelon}:answer:'.length));
  await keep('other', 'another caller');
  for (const name of ['a', 'b', 'c', 'd']) await keep(name, 'one');
  assert.deepEqual((await kept()).toSorted(), ['b', 'c', 'd', 'other']);
  await keep('large', 'one', 900);
  assert.deepEqual((await kept()).toSorted(), ['d', 'large', 'other'].toSorted());
  assert.ok((await own.pttl('{echelon}:answers:one')) > 0);
});
