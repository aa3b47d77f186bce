import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secondsOf, wholeNumber } from '../src/arguments.ts';

test('a whole number is read within its bounds', () => {
  const read = wholeNumber(-5, 100);
  for (const [text, number] of [
    ['-5', -5],
    ['0', 0],
    ['007', 7],
    ['100', 100],
  ] as const)
    assert.equal(read(text), number);
  for (const text of ['-6', '101', '', ' 1', '1.5', '1e1', 'x', '0x1', '9999999999999999'])
    assert.throws(() => read(text), { code: 'commander.invalidArgument', message: /from -5 to 100/ }, text);
});

test('a time says its unit', () => {
  for (const [text, seconds] of [
    ['45s', 45],
    ['30min', 1800],
    ['12h', 43_200],
    ['90d', 7_776_000],
  ] as const)
    assert.equal(secondsOf(text), seconds);
  for (const text of ['45', '30m', '1.5h', '-1d', '1 d', '']) assert.equal(secondsOf(text), undefined, text);
});
