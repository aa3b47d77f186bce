import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ActorHandle } from '../src/actor.ts';
import { actorClass, functionRef } from '../src/code.ts';
import type { RayConnection } from '../src/connection.ts';
import type { ObjectRef } from '../src/references.ts';
import { readCall } from '../src/signatures.ts';

test('a call is arguments, then options; either can be omitted', () => {
  const limits = { timeoutMs: undefined, signal: undefined };
  assert.deepEqual(readCall([]), { args: [], kwargs: {}, limits, options: {} });
  assert.deepEqual(readCall([[1]]), { args: [1], kwargs: {}, limits, options: {} });
  const { signal } = new AbortController();
  const options = { kwargs: { b: 2 }, timeoutMs: 3, signal, numCpus: 0 };
  const read = { kwargs: { b: 2 }, limits: { timeoutMs: 3, signal }, options: { numCpus: 0 } };
  assert.deepEqual(readCall([options]), { args: [], ...read });
  assert.deepEqual(readCall([[1], options]), { args: [1], ...read });
  assert.deepEqual(readCall([undefined, options]), { args: [], ...read });
});

test('a call with anything else is refused, keyword arguments in a place of their own among it', () => {
  for (const call of [[[], {}, {}], [{}, {}], [1], [[], []], [[], null], ['text']]) {
    assert.throws(() => readCall(call), TypeError);
  }
});

interface Counter {
  add(by?: number): number;
  slow(): Promise<string>;
  pair(): [number, string];
}

/** Never run: it compiles, or the types are wrong. */
export async function types(ray: RayConnection): Promise<void> {
  const add = functionRef<(a: number, b?: number) => number>('m:add');
  const sum: number = await ray.call(add, [1, 2], { numCpus: 0 });
  const ref: ObjectRef<number> = await ray.task(add, [1]);
  const chained: number = await ray.call(add, [ref, sum]);
  // @ts-expect-error: an argument of another type
  await ray.call(add, ['1']);
  // @ts-expect-error: a required argument is missing
  await ray.call(add);
  // @ts-expect-error: options of an actor
  await ray.task(add, [1], { maxRestarts: 1 });
  const cls = actorClass<Counter, [start?: number]>('m:Counter');
  const counter: ActorHandle<Counter> = await ray.createActor(cls, { name: 'c' });
  await ray.createActor(cls, [1]);
  // @ts-expect-error: an argument of another type
  await ray.createActor(cls, ['1']);
  const value: number = await counter.call('add', [chained]);
  const text: string = await counter.call('slow', { timeoutMs: 1 });
  const later: ObjectRef<number> = await counter.submit('add');
  const [first, second]: [ObjectRef<number>, ObjectRef<string>] = await counter.submit('pair', {
    numReturns: 2,
  });
  // @ts-expect-error: a method that does not exist
  await counter.call('subtract');
  // @ts-expect-error: the value is a number
  const wrong: string = await counter.call('add');
  const found = await ray.getActor<Counter>('c');
  const untyped: unknown = await (await ray.getActor('c')).call('anything', [1, 'x']);
  const passed: unknown = await ray.call(functionRef('m:f'), [found, value, text, later, first, second]);
  assert.ok([wrong, untyped, passed]);
}
