import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWrong, signalOf, wrongBecause } from '../../src/report/training-signal.ts';

test('a signal is wrong by its rows or by a contradiction, and not by a batch that could not be read', () => {
  const cases = [
    [0, [], []],
    [0, ['not-verifiable'], []],
    [3, ['wrong-rows'], ['3 wrong rows']],
    [1, ['wrong-rows', 'returns-mismatch'], ['1 wrong row', 'returns-mismatch']],
    [0, ['steps-out-of-order', 'group-size'], ['steps-out-of-order', 'group-size']],
  ] as const;
  for (const [wrong, errors, because] of cases) {
    assert.deepEqual(wrongBecause({ wrong, errors }), because);
    assert.equal(isWrong({ wrong, errors }), because.length > 0);
  }
});

test('the signal of several reports is that of the worst', () => {
  const none = { right: 0, wrong: 0, unverifiable: 0, errors: 0, unreadable: 0 };
  const cases = [
    [{}, null],
    [{ right: 4 }, 'right'],
    [{ right: 4, unverifiable: 1, errors: 1, unreadable: 1 }, 'unverified'],
    [{ right: 4, unverifiable: 1, errors: 2, unreadable: 1 }, 'wrong'],
    [{ right: 4, wrong: 1, errors: 1 }, 'wrong'],
  ] as const;
  for (const [counts, signal] of cases)
    assert.equal(signalOf({ ...none, ...counts }), signal, JSON.stringify(counts));
});
