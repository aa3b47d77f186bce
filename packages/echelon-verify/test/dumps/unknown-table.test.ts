import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adapterFor, fileStart } from '../../src/dumps/registry.ts';
import { TABLE } from '../../src/dumps/table.ts';
import { unknownTable } from '../../src/dumps/unknown-table.ts';
import { folder, stepsOf } from '../support/dump-files.ts';

const ROWS = [
  ['q', 1, 0.5],
  ['q', 0, -0.5],
];
const NAMES = ['group', 'reward', 'advantage'];
const records = ROWS.map((row) => Object.fromEntries(NAMES.map((name, at) => [name, row[at]])));
const text = (delimiter: string) => [NAMES, ...ROWS].map((row) => row.join(delimiter)).join('\n');

const TABLES: Readonly<Record<string, string>> = {
  'array.json': JSON.stringify(records, null, 2),
  'one-line.json': JSON.stringify(records),
  'wandb.table.json': JSON.stringify({ columns: NAMES, data: ROWS }),
  'tabs.tsv': text('\t'),
  'semicolons.csv': text(';'),
  'commas.csv': text(','),
};

for (const [name, content] of Object.entries(TABLES)) {
  test(`a table as ${name} is recognised and read`, async () => {
    await using dir = await folder();
    const path = await dir.write(name, content);
    assert.equal(await adapterFor(path), TABLE);
    const [step] = await stepsOf(TABLE, [path]);
    assert.deepEqual(
      [[...step!.group.ids], [...step!.reward], [...step!.advantage!]],
      [
        [0, 0],
        [1, 0],
        [0.5, -0.5],
      ],
    );
  });
}

async function adviceOf(content: string, name = 'a.jsonl'): Promise<string | undefined> {
  await using dir = await folder();
  return unknownTable(await fileStart(await dir.write(name, content)))?.expected;
}

test('the advice for a table of no known trainer names the columns by what they usually mean', async () => {
  const own = await adviceOf('{"step": 1, "UID": "a", "score": 1, "adv": 0.5, "text": "x"}\n{}');
  assert.match(own!, /--map group=UID,reward=score,advantage=adv,step=step \(if that is what they are\)/);
});

test('the advice names what has no column with a usual name', async () => {
  assert.match((await adviceOf('a,b,score\n1,2,3\n'))!, /--map: reward=score and group=COLUMN, for which no/);
  assert.match((await adviceOf('{"x": 1}\n'))!, /--map: group=COLUMN,reward=COLUMN/);
});

test('a file that is no table gets no advice', async () => {
  assert.equal(await adviceOf('some text', 'a.txt'), undefined);
});

test('a column that --map names and the table lacks is named', async () => {
  await using dir = await folder();
  const path = await dir.write('a.csv', 'uid,score\n1,2\n');
  await assert.rejects(adapterFor(path, { group: 'uid', reward: 'reward' }), (error: Error) =>
    error.message.includes('a column "reward", which --map names, found the columns uid, score'),
  );
});
