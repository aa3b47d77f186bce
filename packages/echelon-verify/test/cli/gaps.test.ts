import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { verifyFiles } from '../../src/cli/verify-files.ts';
import { exampleBatch, stepFile } from '../step/sample-step.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'echelon-gaps-'));
  await writeFile(join(folder, 'update-000040.json'), stepFile(exampleBatch()));
});
after(() => rm(folder, { recursive: true }));

async function verified(json = false): Promise<{ text: string; status: number }> {
  let text = '';
  const stream = { write: (part: string) => (text += part) };
  const options = { json, require: ['gradient'] as const };
  return { status: await verifyFiles([folder], options, { stdout: stream, stderr: stream }), text };
}

test('a gap beside verified files is printed, and the exit status is 3', async () => {
  assert.equal((await verified()).status, 0);
  const gap = { step: 41, of: 'step', rows: 2, reason: 'ValueError: not verifiable: \u001b[2J top_p' };
  const batch = { step: 42, rows: 2, reason: 'the disk is too slow' };
  await writeFile(join(folder, 'gaps.jsonl'), `${JSON.stringify(gap)}\n${JSON.stringify(batch)}\nno JSON\n`);
  const { text, status } = await verified();
  assert.equal(status, 3);
  assert.match(text, /Not captured: 2 batches and 1 optimizer step/);
  assert.match(text, /optimizer step 41: ValueError: not verifiable/);
  assert.ok(!text.includes('\u001b[2J'));
  const { gaps } = JSON.parse((await verified(true)).text) as { gaps: object[] };
  assert.equal(gaps.length, 3);
});
