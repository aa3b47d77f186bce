import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { json, jsonLine } from '../src/output.ts';
import { table } from '../src/table.ts';

test('a table has its head, its rows in columns, and no trailing spaces', () => {
  const lines = table(
    ['ID', 'STATE'],
    [
      ['exp-1', 'running'],
      ['x', 2],
    ],
  ).split('\n');
  assert.equal(lines.length, 3);
  assert.equal(lines[1]!.indexOf('running'), lines[2]!.indexOf('2'));
  for (const line of lines) assert.equal(line, line.trimEnd());
});

// Fails if a remark is written at once: the pipe holds 64 kB, and the rest of the answer waits for its reader.
test('a remark comes behind the answer, however slowly that is read', async () => {
  const output = new URL('../src/output.ts', import.meta.url);
  const script = `import { terminal } from ${JSON.stringify(output)};
    terminal.line('x'.repeat(8_000_000)); terminal.remark('There are more'); terminal.remark('and a second');`;
  const child = spawn('sh', ['-c', '"$0" --input-type=module -e "$1" 2>&1', process.execPath, script]);
  assert.match((await text(child.stdout)).slice(-60), /x\nThere are more\nand a second\n$/);
});

test('JSON escapes what a terminal would obey or hide, and means the same', () => {
  const value = { text: 'a\u009b31m\u202eb\u200b\ufeff\u{e0041}\u007f ümlaut 字 👩\u200d🔬' };
  for (const text of [json(value), jsonLine(value)]) {
    assert.deepEqual(JSON.parse(text), value);
    assert.doesNotMatch(text, /[\u007f-\u009f\u202e\u200b\ufeff\u{e0041}]/u);
    assert.match(text, /\\u009b31m\\u202eb/);
    assert.ok(text.includes('ümlaut 字 👩\u200d🔬'), text);
  }
  assert.equal(jsonLine({ a: [1] }), '{"a":[1]}');
});

test('JSON is indented', () => {
  assert.equal(json({ a: 1 }), '{\n  "a": 1\n}');
});
