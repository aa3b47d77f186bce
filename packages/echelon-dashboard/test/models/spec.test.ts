import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differingFields, lineRange, readSpec, rowsOf, tokensOf, writeSpec } from '../../src/models/spec.ts';

test('fields are listed by path, and those below a default are defaults', () => {
  const rows = rowsOf({ name: 'x', resources: { gpus: 0 }, labels: {}, rules: [1] }, new Set(['/resources']));
  assert.deepEqual(
    rows.map(({ field, value, isDefault }) => [field, value, isDefault]),
    [
      ['name', 'x', false],
      ['resources.gpus', '0', true],
      ['labels', '{}', false],
      ['rules', '[1]', false],
    ],
  );
});

test('a difference names the field and the value of each spec', () => {
  const specs = [
    { a: { b: 1 }, same: 2 },
    { a: { b: 2 }, same: 2, c: true },
    { a: { b: 1 }, same: 2 },
  ];
  assert.deepEqual(differingFields(specs), [
    { field: 'a.b', values: ['1', '2', '1'] },
    { field: 'c', values: [undefined, 'true', undefined] },
  ]);
});

test('a spec is read from YAML and from JSON, with the lines of its fields', async () => {
  for (const text of ['engine: replay\nname: x\n', '{"engine": "replay",\n"name": "x"}']) {
    const read = await readSpec(text);
    assert.ok('spec' in read);
    assert.deepEqual([read.spec, read.lineOf('/name')], [{ engine: 'replay', name: 'x' }, 2]);
  }
});

test('a text that is no spec has a problem, with its line if it is known', async () => {
  const problemOf = async (text: string) => {
    const read = await readSpec(text);
    return 'problem' in read ? read.problem : undefined;
  };
  const { line, message } = (await problemOf('a: 1\na: 2'))!;
  assert.equal(line, 2);
  assert.match(message, /unique.*\(column 1\)/);
  for (const text of ['', '[1]', 'word'])
    assert.match((await problemOf(text))!.message, /A spec is an object/);
});

test('a spec is written as YAML that is read again', async () => {
  const spec = { engine: 'replay', name: 'a: b', replay: { batches: 3 } };
  const read = await readSpec(await writeSpec(spec));
  assert.deepEqual('spec' in read && read.spec, spec);
});

test('a line has its range in the text', () => {
  assert.deepEqual(lineRange('ab\ncde\n', 2), [3, 6]);
  assert.deepEqual(lineRange('ab', 1), [0, 2]);
});

test('a line is coloured by its parts, which together are the line', () => {
  const kinds = (line: string) => {
    const tokens = tokensOf(line);
    assert.equal(tokens.map(({ text }) => text).join(''), line);
    return tokens.filter(({ kind }) => kind !== 'plain').map(({ kind, text }) => `${kind} ${text}`);
  };
  assert.deepEqual(kinds('  lr: 1e-6  # small'), ['key lr', 'number 1e-6', 'comment # small']);
  assert.deepEqual(kinds('{"a b": true, "c": "x#1"}'), ['key "a b"', 'number true', 'key "c"', 'text "x#1"']);
  assert.deepEqual(kinds('recipe: qwen2.5_1.5b'), ['key recipe']);
});
