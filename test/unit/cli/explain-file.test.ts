import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { explainFile } from '../../../src/cli/explain-file.ts';
import { captured } from '../../support/captured.ts';

interface GoldenBatch {
  name: string;
  reported: { advantage: number[] };
}

const FILE = 'test/golden/hgpo.json';

test('explains a row in words or JSON', async () => {
  const text = captured();
  assert.equal(await explainFile(FILE, { batch: 'late-n7', row: 16 }, text.io), 0);
  assert.match(text.out(), /^Row 16 of late-n7 is ROUNDING/);
  const json = captured();
  assert.equal(await explainFile(FILE, { batch: 'late-n7', row: 16, json: true }, json.io), 0);
  assert.equal((JSON.parse(json.out()) as { outcome: string }).outcome, 'rounding');
});

test('explains the first wrong row if none is named, and says so if none is wrong', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'echelon-explain-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'batches.json');
  const golden = JSON.parse(await readFile(FILE, 'utf8')) as { batches: GoldenBatch[] };
  golden.batches = golden.batches.slice(0, 2);
  const explained = async () => {
    await writeFile(file, JSON.stringify(golden));
    const streams = captured();
    return { streams, status: await explainFile(file, {}, streams.io) };
  };
  const none = await explained();
  assert.equal(none.status, 2);
  assert.match(none.streams.err(), /no row is wrong\. Give the row/);
  golden.batches[1]!.reported.advantage[2] = 9;
  const found = await explained();
  assert.equal(found.status, 0, found.streams.err());
  assert.match(found.streams.out(), new RegExp(`^Row 2 of ${golden.batches[1]!.name} is WRONG`));
});

test('refuses batches and rows that are not there', async () => {
  const streams = captured();
  assert.equal(await explainFile(FILE, { batch: 'late-n7', row: 238 }, streams.io), 2);
  assert.match(streams.err(), /batch late-n7: there is no row 238\. The rows are 0 to 237/);
  assert.equal(await explainFile(FILE, { batch: 'late-n8', row: 0 }, streams.io), 2);
  assert.match(streams.err(), /Did you mean late-n7\?/);
  assert.equal(await explainFile(FILE, { batch: 'late-n7', row: Number.NaN }, streams.io), 2);
  assert.equal(streams.out(), '');
});
