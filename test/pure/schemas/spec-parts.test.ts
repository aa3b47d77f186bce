import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commonFields, Label, Name, Resources } from '../../../src/schemas/spec-parts.ts';

test('the schema of the resources is closed', () => {
  assert.equal((Resources as { additionalProperties?: boolean }).additionalProperties, false);
});

test('a label refuses control characters, and a name refuses anything unfit for a path', () => {
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
  // Some scripts and emoji need these two joining characters.
  assert.ok(patternOf(Label).test('می\u200cخواهم 👩\u200d🔬'));
  for (const blank of [' ', '   ', '\u00a0', '\u2003 ', '\u3000', ''])
    assert.ok(!patternOf(Label).test(blank), JSON.stringify(blank));
  for (const padded of [' a', 'a ', '\u3000a b ']) assert.ok(patternOf(Label).test(padded), padded);
  for (const bad of ['-a', 'a-', 'A', 'a/b', '..', '']) assert.ok(!patternOf(Name).test(bad), bad);
  assert.ok(patternOf(Name).test('a-1'));
});

test('the URL of a checkpoint store has a bucket and no credentials', () => {
  const { url } = (commonFields.checkpointStore as unknown as { properties: { url: object } }).properties;
  const fits = (text: string) => patternOf(url as never).test(text);
  for (const good of [
    's3://my-bucket',
    'gs://my-bucket/a/b',
    's3://b-1/a?region=eu-1&endpoint_override=minio:9000&scheme=http',
  ])
    assert.ok(fits(good), good);
  for (const bad of [
    's3://my-bucket/a/../b',
    's3://my-bucket/..',
    's3://my-bucket/./a?region=eu-1',
    '/shared',
    'file:///x',
    's3://id:key@b-1/a',
    's3://b-1/../a/ b',
    's3://b-1?access_key=x',
    'http://b-1',
  ])
    assert.ok(!fits(bad), bad);
});

test('a label of a million characters is checked in linear time', () => {
  const long = `${'a '.repeat(500_000)}\n`;
  const before = process.cpuUsage();
  assert.ok(!patternOf(Label).test(long));
  // If two parts of the pattern could match the same text, the time would be quadratic: minutes.
  assert.ok(process.cpuUsage(before).user < 5e6);
});

function patternOf(schema: object): RegExp {
  return new RegExp((schema as { pattern: string }).pattern);
}
