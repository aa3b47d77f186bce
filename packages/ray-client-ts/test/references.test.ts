import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idKey, ObjectRef, ReferenceTable } from '../src/references.ts';

function table() {
  const sent: string[][] = [];
  const references = new ReferenceTable(async (ids) => sent.push(ids.map(idKey)));
  const hold = (byte: number) => references.hold(new ObjectRef(Uint8Array.of(byte)), { collect: true });
  return { references, sent, hold };
}

test('an id is released with its last reference', async () => {
  const { references, sent, hold } = table();
  const [first, second] = [hold(1), hold(1)];
  references.release(first);
  references.release(first);
  await references.flush();
  assert.deepEqual(sent, []);
  references.release(second);
  await references.flush();
  assert.deepEqual(sent, [['01']]);
  assert.equal(references.size, 0);
});

test('releases go out together', async () => {
  const { references, sent, hold } = table();
  for (const ref of [1, 2, 3].map(hold)) references.release(ref);
  await references.flush();
  await references.flush();
  assert.deepEqual(sent, [['01', '02', '03']]);
});

test('releases that are awaited in one moment share a message', async () => {
  const { references, sent, hold } = table();
  const released = [1, 2, 3].map(hold).map((ref) => {
    references.release(ref);
    return references.flush();
  });
  await Promise.all(released);
  assert.deepEqual(sent, [['01', '02', '03']]);
});

test('many releases do not wait', () => {
  const { references, sent, hold } = table();
  for (let byte = 0; byte < 64; byte++) references.release(hold(byte));
  assert.equal(sent[0]?.length, 64);
});

test('a released or foreign reference may not be used', () => {
  const { references, hold } = table();
  const ref = hold(1);
  references.assertHeld(ref);
  assert.ok(references.has(ref));
  references.release(ref);
  assert.throws(() => references.assertHeld(ref), /released, or belongs to another connection/);
  assert.throws(() => references.assertHeld(new ObjectRef(Uint8Array.of(1))), /another connection/);
});

test('the garbage collector releases too', {
  skip: globalThis.gc === undefined && 'needs --expose-gc',
}, async () => {
  const released = Promise.withResolvers<string[]>();
  const references = new ReferenceTable(async (ids) => released.resolve(ids.map(idKey)));
  references.hold(new ObjectRef(Uint8Array.of(7)), { collect: true });
  const pulse = setInterval(() => globalThis.gc?.(), 5);
  assert.deepEqual(await released.promise, ['07']);
  clearInterval(pulse);
});

test('ids in hexadecimal', () => {
  assert.equal(new ObjectRef(Uint8Array.of(1, 255)).hex, '01ff');
});
