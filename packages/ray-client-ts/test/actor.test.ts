import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ActorCalls, ActorHandle, type MethodCall } from '../src/actor.ts';
import { ObjectRef } from '../src/references.ts';

test('a handle passes everything on to its connection', async () => {
  const seen: unknown[] = [];
  const calls: ActorCalls = {
    submit: async (actor, method, call: MethodCall) => {
      seen.push(['submit', actor.hex, method, call]);
      return Array.from(
        { length: call.options.numReturns ?? 1 },
        (_, index) => new ObjectRef(Uint8Array.of(index)),
      );
    },
    call: async (actor, method, call) => {
      seen.push(['call', actor.hex, method, call]);
      return 'value';
    },
    kill: async (_, noRestart) => void seen.push(['kill', noRestart]),
    release: async () => void seen.push(['release']),
  };
  const actor = new ActorHandle(Uint8Array.of(0xab), 'name', calls);
  assert.equal(await actor.call('m', [1], { kwargs: { k: 2 }, timeoutMs: 3 }), 'value');
  assert.equal((await actor.submit('s')).hex, '00');
  const several = await actor.submit('s', { numReturns: 2 });
  assert.deepEqual(
    several.map((ref) => ref.hex),
    ['00', '01'],
  );
  await actor.ready({ timeoutMs: 4 });
  await actor.kill();
  await actor.kill({ noRestart: false });
  await actor.release();
  assert.equal(actor.name, 'name');
  const none = { signal: undefined };
  const unlimited = { timeoutMs: undefined, ...none };
  assert.deepEqual(seen, [
    ['call', 'ab', 'm', { args: [1], kwargs: { k: 2 }, limits: { timeoutMs: 3, ...none }, options: {} }],
    ['submit', 'ab', 's', { args: [], kwargs: {}, limits: unlimited, options: {} }],
    ['submit', 'ab', 's', { args: [], kwargs: {}, limits: unlimited, options: { numReturns: 2 } }],
    ['call', 'ab', '__ray_ready__', { args: [], kwargs: {}, limits: { timeoutMs: 4 }, options: {} }],
    ['kill', true],
    ['kill', false],
    ['release'],
  ]);
});
