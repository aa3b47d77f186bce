import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { verifyFiles } from '../../src/cli/verify-files.ts';
import { exampleBatch, stepFile } from '../step/sample-step.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'echelon-step-'));
});
after(() => rm(folder, { recursive: true }));

/** What `echelon verify` prints of a batch, and its exit status. */
async function verified(batch: unknown, json = false) {
  const path = join(folder, 'step.json');
  await writeFile(path, stepFile(batch));
  let text = '';
  const stream = {
    write(part: string) {
      text += part;
    },
  };
  const status = await verifyFiles([path], { json }, { stdout: stream, stderr: stream });
  return { text, status };
}

test('echelon verify of a step that is ok ends with 0 and names every stage', async () => {
  const { text, status } = await verified(exampleBatch());
  assert.equal(status, 0);
  assert.match(text, /gradient +5/);
  assert.match(text, /1 of 1 step ok/);
});

test('echelon verify of a step with a wrong token ends with 1 and says how to explain it', async () => {
  const batch = exampleBatch();
  batch.tokens.lossGradient = [-0.2, -0.27, -0.2, 0.2, 0.2];
  const { text, status } = await verified(batch);
  assert.equal(status, 1);
  assert.match(text, /--row 0 --token 1/);
});

test('echelon verify of a step without gradients ends with 3 and names the column', async () => {
  const batch = exampleBatch();
  delete batch.tokens.lossGradient;
  const { text, status } = await verified(batch);
  assert.equal(status, 3);
  assert.match(text, /needs tokens\.lossGradient/);
});

test('echelon verify --json prints steps beside batches', async () => {
  const { text, status } = await verified(exampleBatch(), true);
  const { batches, steps } = JSON.parse(text);
  assert.deepEqual([status, batches.length, steps[0].name, steps[0].ok], [0, 0, 'update 40', true]);
});
