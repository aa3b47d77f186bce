import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fittedTable, idColumn, table } from '../src/table.ts';
import { columnsOf } from '../src/width.ts';

const COLUMNS = [
  { title: 'ID' },
  { title: 'NAME', minWidth: 6 },
  { title: 'A', drop: 1 },
  { title: 'B', drop: 2 },
];
const ROW = ['exp-1', 'a rather long name', 'aaaaaaaaaa', 'bbbbbbbbbb'];
const widest = (text: string) => Math.max(...text.split('\n').map(columnsOf));

test('a table without a width keeps all columns, nothing cut', () => {
  assert.match(fittedTable(COLUMNS, [ROW]), /exp-1 {2}a rather long name {2}a{10} {2}b{10}$/);
});

test('a table first cuts its cells, then leaves columns out, and never exceeds the width', () => {
  assert.match(
    fittedTable(COLUMNS, [ROW], 40),
    /exp-1 {2}a r…me {4}a{10} {2}b{10}$|exp-1 {2}a \S*.*a{10} {2}b{10}$/,
  );
  for (const width of [45, 40, 35, 30, 25, 15])
    assert.ok(widest(fittedTable(COLUMNS, [ROW], width)) <= width, fittedTable(COLUMNS, [ROW], width));
  const narrow = fittedTable(COLUMNS, [ROW], 28);
  assert.match(narrow, /NAME +A$/m);
  assert.doesNotMatch(narrow, / B$/m);
});

test('colours take no room', () => {
  const red = `\u001b[31m${'x'.repeat(5)}\u001b[39m`;
  assert.match(fittedTable([{ title: 'STATE', minWidth: 2 }], [[red]], 5), /x{5}/);
});

test('ids are cut to a start that is unique among them', () => {
  const ids = ['exp-00aaaaaaaaaaaaaaaaa1', 'exp-00bbbbbbbbbbbbbbbbb1'];
  const column = idColumn(ids);
  assert.equal(
    fittedTable(
      [column],
      ids.map((id) => [id]),
      14,
    ),
    `ID\n${ids.map((id) => id.slice(0, 14)).join('\n')}`,
  );
  const children = ['exp-00aaaaaaaaaaaaaaaa01', 'exp-00aaaaaaaaaaaaaaaa02'];
  assert.equal(idColumn(children).minWidth, 24);
});

test('a table of wide characters fits the width, and its columns stay aligned', () => {
  const name = '実験：学習率の比較👩‍🔬の第三組と第四組の結果';
  const columns = [{ title: 'ID' }, { title: '名前', minWidth: 10 }, { title: 'STATE' }];
  const rows = [
    ['exp-1', name, 'running'],
    ['exp-2', 'plain', 'queued'],
  ];
  for (const width of [30, 40, 50]) {
    const lines = fittedTable(columns, rows, width).split('\n');
    assert.ok(widest(lines.join('\n')) <= width, lines.join('\n'));
    const places = lines.map((line) => columnsOf(line.slice(0, line.search(/STATE|running|queued/))));
    assert.equal(new Set(places).size, 1, lines.join('\n'));
  }
  assert.ok(widest(table(['ID', 'NAME'], [['exp-1', name]], 24)) <= 24);
});
