import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Label, Name, Resources } from '../../../src/schemas/spec-parts.ts';

test('the resources are a closed object', () => {
  assert.equal((Resources as { additionalProperties?: boolean }).additionalProperties, false);
});

test('a label has no control characters, a name is fit for a path', () => {
  assert.ok(patternOf(Label).test('HGPO, K=2 – größer'));
  for (const bad of [
    '\n',
    '\u0085',
    '\u009b',
    '\u061c',
    '\u200b',
    '\u200f',
    '\u2028',
    '\u202e',
    '\u2066',
    '\ufeff',
  ])
    assert.ok(!patternOf(Label).test(`a${bad}b`), JSON.stringify(bad));
  // Joined letters and joined signs are written with these two.
  assert.ok(patternOf(Label).test('می\u200cخواهم 👩\u200d🔬'));
  for (const blank of [' ', '   ', '\u00a0', '\u2003 ', '\u3000', ''])
    assert.ok(!patternOf(Label).test(blank), JSON.stringify(blank));
  for (const padded of [' a', 'a ', '\u3000a b ']) assert.ok(patternOf(Label).test(padded), padded);
  for (const bad of ['-a', 'a-', 'A', 'a/b', '..', '']) assert.ok(!patternOf(Name).test(bad), bad);
  assert.ok(patternOf(Name).test('a-1'));
});

test('a long text is held against the pattern of a label once', () => {
  const long = `${'a '.repeat(500_000)}\n`;
  const before = process.cpuUsage();
  assert.ok(!patternOf(Label).test(long));
  // Twice the length would take four times as long where two parts of the pattern could share it: minutes.
  assert.ok(process.cpuUsage(before).user < 5e6);
});

function patternOf(schema: object): RegExp {
  return new RegExp((schema as { pattern: string }).pattern);
}
