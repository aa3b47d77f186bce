import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  allowedInWords,
  changeParameters,
  completeParameters,
  isAllowed,
  type ParameterRules,
} from '../../../src/kernel/estimators/parameters.ts';

const RULES = {
  depth: { kind: 'number', default: 2, least: 0, most: 8, integer: true, doc: '' },
  epsilon: { kind: 'number', default: 1e-6, least: 0, doc: '' },
  other: { kind: 'number', default: 1e-6, sameAs: 'epsilon', doc: '' },
  divide: { kind: 'flag', default: true, doc: '' },
  over: { kind: 'choice', choices: ['rows', 'groups'], default: 'rows', alias: 'statistics', doc: '' },
} as const satisfies ParameterRules;

test('omitted parameters have their defaults, or the value of the parameter that they follow', () => {
  assert.deepEqual(completeParameters(RULES), {
    depth: 2,
    epsilon: 1e-6,
    other: 1e-6,
    divide: true,
    over: 'rows',
  });
  assert.equal(completeParameters(RULES, { epsilon: 0.1 }).other, 0.1);
  assert.equal(completeParameters(RULES, { epsilon: 0.1, other: 0 }).other, 0);
});

test('a changed parameter takes along those that had its value, and unknown changes are ignored', () => {
  const before = completeParameters(RULES);
  assert.deepEqual(changeParameters(RULES, before, { epsilon: 0.5, unknown: 1 }), {
    ...before,
    epsilon: 0.5,
    other: 0.5,
  });
  assert.equal(changeParameters(RULES, { ...before, other: 0 }, { epsilon: 0.5 }).other, 0);
  assert.equal(changeParameters(RULES, before, { statistics: 'groups' }).over, 'groups');
});

test('a rule allows its kind, range and choices, and says so', () => {
  const allowed: [keyof typeof RULES, unknown[], unknown[], string][] = [
    ['depth', [0, 8], [-1, 9, 1.5, '1', Number.NaN], 'an integer from 0 to 8'],
    ['epsilon', [0, 1e300], [-1, Number.POSITIVE_INFINITY, null], 'a number of 0 or more'],
    ['other', [-1], [true], 'a number'],
    ['divide', [true, false], [0, 'true'], 'true or false'],
    ['over', ['rows', 'groups'], ['row', 1], 'one of rows, groups'],
  ];
  for (const [key, good, bad, words] of allowed) {
    for (const value of good) assert.ok(isAllowed(RULES[key], value), `${key} ${value}`);
    for (const value of bad) assert.ok(!isAllowed(RULES[key], value), `${key} ${value}`);
    assert.equal(allowedInWords(RULES[key]), words);
  }
});
