import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RayPythonError } from '../src/errors.ts';
import { Exchange } from '../src/exchange.ts';

test('a large question goes in chunks under one id', () => {
  const exchange = new Exchange(7, { kind: 'put', data: Buffer.from('abcde') });
  assert.equal(exchange.messageCount(2), 3);
  const messages = [0, 1, 2].map((index) => exchange.message(index, 2));
  assert.deepEqual(
    messages.map(({ req_id, put }) => [
      req_id,
      String(put?.data),
      put?.chunk_id,
      put?.total_chunks,
      put?.total_size,
    ]),
    [
      [7, 'ab', 0, 3, 5],
      [7, 'cd', 1, 3, 5],
      [7, 'e', 2, 3, 5],
    ],
  );
});

test('a task is never without chunks, as Ray would not answer it', () => {
  const exchange = new Exchange(1, { kind: 'task', task: { name: 'm' }, data: Buffer.from('x') });
  assert.equal(exchange.message(0, 100).task?.total_chunks, 1);
  assert.equal(exchange.message(0, 100).task?.name, 'm');
});

test('every other question is one message', () => {
  const id = Buffer.from([1]);
  const of = (question: ConstructorParameters<typeof Exchange>[1]) =>
    new Exchange(1, question).message(0, 10);
  assert.ok(of({ kind: 'info' }).connection_info);
  assert.deepEqual(of({ kind: 'init', init: { reconnect_grace_period: 3 } }).init, {
    reconnect_grace_period: 3,
  });
  assert.deepEqual(of({ kind: 'release', ids: [id] }).release?.ids, [id]);
  assert.equal(of({ kind: 'actors', allNamespaces: true }).list_named_actors?.all_namespaces, true);
  assert.equal(of({ kind: 'terminate', terminate: { client_id: 'c' } }).terminate?.client_id, 'c');
  assert.equal(of({ kind: 'get', id }).get?.asynchronous, true);
});

test('a get continues at the next chunk', async () => {
  const exchange = new Exchange(1, { kind: 'get', id: Buffer.from([1]) });
  const chunk = (index: number) => ({
    get: { valid: true, data: Buffer.from([index]), chunk_id: index, total_chunks: 2, total_size: 2 },
  });
  assert.equal(exchange.isCached, false);
  assert.equal(exchange.accept(chunk(0)), false);
  assert.equal(exchange.message(0, 10).get?.start_chunk_id, 1);
  assert.equal(exchange.accept(chunk(1)), true);
  assert.deepEqual([...((await exchange.answer) as Uint8Array)], [0, 1]);
});

test('a failed get rejects with the Python exception, if it has one', async () => {
  // pickle.dumps(ValueError('bad'))
  const error = Buffer.from('80028c086275696c74696e738c0a56616c75654572726f72938c0362616485522e', 'hex');
  const failed = new Exchange(1, { kind: 'get', id: Buffer.from([1]) });
  assert.equal(failed.accept({ get: { valid: false, error } }), true);
  await assert.rejects(
    failed.answer,
    (reason) => reason instanceof RayPythonError && /bad/.test(reason.message),
  );
  const mute = new Exchange(2, { kind: 'get', id: Buffer.from([1]) });
  mute.accept({});
  await assert.rejects(mute.answer, /without a reason/);
  const broken = new Exchange(3, { kind: 'get', id: Buffer.from([1]) });
  broken.accept({ get: { valid: true, chunk_id: 1, total_chunks: 2, total_size: 2 } });
  await assert.rejects(broken.answer, /chunk 0 of 2 is missing/);
});
