import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainFile } from '../../../src/cli/explain-file.ts';
import { captured } from '../../support/captured.ts';

const FILE = 'test/golden/hgpo.json';

test('explains a row in words or JSON', async () => {
  const text = captured();
  assert.equal(await explainFile(FILE, { batch: 'late-n7', row: 16 }, text.io), 0);
  assert.match(text.out(), /^Row 16 of late-n7 is ROUNDING/);
  const json = captured();
  assert.equal(await explainFile(FILE, { batch: 'late-n7', row: 16, json: true }, json.io), 0);
  assert.equal((JSON.parse(json.out()) as { outcome: string }).outcome, 'rounding');
});

test('refuses batches and rows that are not there', async () => {
  const streams = captured();
  assert.equal(await explainFile(FILE, { batch: 'late-n7', row: 238 }, streams.io), 2);
  assert.match(streams.err(), /batch late-n7: has rows 0 to 237, not 238/);
  assert.equal(await explainFile(FILE, { batch: 'late-n8', row: 0 }, streams.io), 2);
  assert.match(streams.err(), /did you mean late-n7\?/);
  assert.equal(await explainFile(FILE, { batch: 'late-n7', row: Number.NaN }, streams.io), 2);
  assert.equal(streams.out(), '');
});
