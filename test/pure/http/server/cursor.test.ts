import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createCursors } from '../../../../src/http/server/cursor.ts';

const cursors = createCursors('s'.repeat(32));

test('a cursor opens in the scope in which it was sealed and in no other', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (scope, other, place) => {
      const cursor = cursors.seal(scope, place);
      assert.equal(cursors.open(scope, cursor), Buffer.from(place).toString());
      assert.match(cursor, /^[\w.-]*$/);
      if (other !== scope) assert.throws(() => cursors.open(other, cursor), { code: 'invalid-cursor' });
    }),
  );
});

test('a text that was not sealed as a cursor is refused', () => {
  const cursor = cursors.seal('list', 'place');
  const another = createCursors('t'.repeat(32)).seal('list', 'place');
  for (const forged of ['', '.', 'x', cursor.slice(0, -1), `${cursor.split('.')[0]}.`, another]) {
    assert.throws(() => cursors.open('list', forged), { code: 'invalid-cursor' }, forged);
  }
  fc.assert(
    fc.property(fc.string(), (forged) => {
      assert.throws(() => cursors.open('list', forged), { code: 'invalid-cursor' });
    }),
  );
});
