import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChannel } from '../src/channel.ts';
import { createLogStream, toLog } from '../src/log-stream.ts';
import { startFakeRay } from './support/fake-ray.ts';

test('logs by level, without colours; empty ones are none', () => {
  assert.deepEqual(toLog({ msg: '\u001b[36m(f pid=1)\u001b[0m hi\n', level: -1 }), {
    kind: 'stdout',
    level: undefined,
    text: '(f pid=1) hi',
  });
  assert.equal(toLog({ msg: 'x', level: -2 })?.kind, 'stderr');
  assert.deepEqual(toLog({ msg: 'x', level: 30 }), { kind: 'ray', level: 30, text: 'x' });
  assert.equal(toLog({ msg: '\n', level: -1 }), undefined);
});

test('the stream opens with the first listener, and a removed listener hears no more', async () => {
  await using ray = await startFakeRay();
  const channel = createChannel({ address: ray.address });
  const logs = createLogStream(channel, 'c');
  const heard: string[] = [];
  const second = Promise.withResolvers<void>();
  const remove = logs.subscribe(({ text }) => heard.push(text));
  await ray.listening;
  const first = Promise.withResolvers<void>();
  logs.subscribe(({ text }) => (text === 'one' ? first.resolve() : second.resolve()));
  ray.log({ msg: 'one', level: -1 });
  await first.promise;
  remove();
  ray.log({ msg: 'two', level: -1 });
  await second.promise;
  assert.deepEqual(heard, ['one']);
  logs.close();
  channel.close();
});
