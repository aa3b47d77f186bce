import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnsOf, shortened, wrapped } from '../src/width.ts';

const FAMILY = '👨‍👩‍👧‍👦';

test('a text takes the columns that a terminal gives to its characters', () => {
  const cases = [
    ['hgpo', 4],
    ['学習率', 6],
    ['ｈｇ', 4],
    ['가나', 4],
    ['e\u0301', 1],
    ['🇯🇵', 2],
    ['✔️', 2],
    [FAMILY, 2],
    ['\u001b[31mred\u001b[39m', 3],
  ] as const;
  for (const [text, columns] of cases) assert.equal(columnsOf(text), columns, text);
});

test('a text that fits stays as it is', () => {
  for (const text of ['', 'hgpo', 'x'.repeat(9), '学習率 x']) assert.equal(shortened(text, 9), text);
});

test('a longer text loses its middle and fills the columns', () => {
  assert.equal(shortened('estimator=hgpo, seed=1', 11), 'estim…eed=1');
  assert.equal(shortened('estimator=hgpo, seed=2', 10), 'estim…ed=2');
  assert.equal(shortened('abcd', 3), 'a…d');
  assert.equal(shortened('実験の学習率を比較', 11), '実験の…比較');
});

test('no character is cut in two', () => {
  assert.equal(shortened('😀😀😀😀😀', 5), '😀…😀');
  assert.equal(shortened(FAMILY.repeat(5), 6), `${FAMILY}…${FAMILY}`);
  assert.equal(shortened('e\u0301'.repeat(5), 3), 'e\u0301…e\u0301');
});

test('a text without blanks is broken between wide characters, and never within a word of others', () => {
  assert.equal(wrapped('学習率を比較', 8), '学習率を\n比較');
  assert.equal(wrapped('a-long-identifier', 8), 'a-long-identifier');
});
