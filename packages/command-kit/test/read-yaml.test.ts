import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readYaml } from '../src/read-yaml.ts';

const YAML = '# a comment\nname: x\ntraining:\n  steps: 3\n  logger: [console,\n    wandb]\n';

/** The lines of these pointers in a text without a fault. */
function linesOf(text: string, ...pointers: string[]): number[] {
  const read = readYaml(text);
  assert.ok('value' in read);
  return pointers.map(read.lineOf);
}

test('a field has its line in YAML and in JSON, and an absent field that of its parent', () => {
  const pointers = ['/name', '/training/steps', '/training/logger/1', '/training/absent', '/absent'];
  assert.deepEqual(linesOf(YAML, ...pointers), [2, 4, 6, 3, 2]);
  assert.deepEqual(linesOf('{\n "a": {\n  "b/c": 1}}', '/a', '/a/b~1c', ''), [2, 3, 1]);
});

test('a text is read as its value, and a text that is no YAML names line and column', () => {
  const read = readYaml(YAML);
  assert.ok('value' in read);
  assert.deepEqual(read.value, { name: 'x', training: { steps: 3, logger: ['console', 'wandb'] } });
  for (const [text, line, message] of [
    ['a: 1\na: 2\n', 2, /unique/],
    ['a: [1,\nb: 2', 2, /./],
    ['a: *b', undefined, /b/],
    ['a: 1\n---\nb: 2\n', 2, /second document/],
    ['a: 1\nb: [.nan]\n', 2, /NaN is no number/],
    ['b: -.inf', 1, /Infinity is no number/],
    ['a: !env HOME', 1, /!env/],
    ['a:\n  b: !!set {x}\n', 2, /no form in JSON/],
    ['? [a, b]\n: 1\n', 1, /key is a text/],
  ] as const) {
    const bad = readYaml(text);
    assert.ok('fault' in bad);
    assert.equal(bad.fault.line, line, text);
    assert.match(bad.fault.message, message);
  }
});

test('a text with billions of aliases is refused', () => {
  const names = [...'abcdefghij'];
  const texts = names.map((name, at) => {
    const before = at === 0 ? 'x' : `*${names[at - 1]}`;
    return `${name}: &${name} [${Array(10).fill(before).join(', ')}]`;
  });
  assert.ok('fault' in readYaml(texts.join('\n')));
});

test('keys << are merged, and lines of merged fields are those of their object', () => {
  const text = 'base: &base {A: 1, B: 1}\nenv:\n  <<: *base\n  B: 2\n';
  const read = readYaml(text);
  assert.ok('value' in read);
  assert.deepEqual((read.value as { env: object }).env, { A: 1, B: 2 });
  assert.deepEqual(linesOf(text, '/env/A', '/env/B'), [2, 4]);
});

test('a text states the numbers whose zeros are lost, and no others', () => {
  const read = readYaml('a: 1.10\nb: [017, 1.0, 1e-4, 0.5, 10, "1.10", 0]\n');
  assert.ok('value' in read);
  assert.deepEqual(read.rewritten, [
    { line: 1, written: '1.10', value: 1.1 },
    { line: 2, written: '017', value: 17 },
  ]);
});
