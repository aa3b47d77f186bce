import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { explainFile } from '../../src/cli/explain-file.ts';
import { identifyFile } from '../../src/cli/identify-file.ts';
import { verifyFiles } from '../../src/cli/verify-files.ts';
import type { StageName } from '../../src/step/model/step-report.ts';
import { exampleBatch, stepFile } from '../step/sample-step.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'echelon-step-'));
});
after(() => rm(folder, { recursive: true }));

/** What `echelon verify` prints of a batch, and its exit status. */
async function verified(batch: unknown, json = false, required?: readonly StageName[]) {
  const path = join(folder, 'step.json');
  await writeFile(path, stepFile(batch));
  let text = '';
  const stream = {
    write(part: string) {
      text += part;
    },
  };
  const status = await verifyFiles([path], { json, require: required }, { stdout: stream, stderr: stream });
  return { text, status };
}

test('echelon verify of a step that is ok ends with 3 and names the stages that are not verified', async () => {
  const { text, status } = await verified(exampleBatch());
  assert.equal(status, 3);
  assert.match(text, /gradient +5/);
  assert.match(text, /^6 of 12 stages verified; not: rows \(needs .*mask \(needs tokens\.sampled\); once/m);
  assert.match(text, /1 of 1 step ok\n$/);
});

test('echelon verify ends with 0 if the required stages are verified, and says which they are', async () => {
  const { text, status } = await verified(exampleBatch(), false, ['gradient', 'denominator']);
  assert.equal(status, 0);
  assert.match(text, /; required: gradient, denominator$/m);
  assert.equal((await verified(exampleBatch(), false, ['gradient', 'once'])).status, 3);
});

test('a warning about a step ends with 3 although every required stage is verified', async () => {
  const batch = exampleBatch();
  // The rollout engine reports no log-probs, only placeholders.
  const { logProb } = batch.tokens as { logProb: number[] };
  const wide = Array.from({ length: 40 }, () => logProb).flat();
  const column = (value: (at: number) => number) => wide.map((_, at) => value(at));
  const rows = Array.from({ length: 40 }, (_, row) => row);
  Object.assign(batch.step, {
    microBatches: [{}],
    reported: {},
    dataParallelSize: 1,
    aggregation: { mode: 'token-sum' },
  });
  Object.assign(batch, {
    group: rows.map(String),
    trajectory: rows.map(String),
    microBatch: rows.map(() => 0),
  });
  const tokens = {
    offset: [...rows, 40].map((row) => 5 * row),
    mask: column(() => 1),
    logProb: wide,
    oldLogProb: wide,
    reportedAdvantage: column(() => 0.5),
    lossGradient: column(() => -0.5),
  };
  const required: StageName[] = ['gradient'];
  assert.equal((await verified({ ...batch, tokens }, false, required)).status, 0);
  const own = { ...batch, tokens: { ...tokens, rolloutLogProb: column(() => 0) } };
  const { text, status } = await verified(own, false, required);
  assert.match(text, /warning log-prob-placeholder/);
  assert.equal(status, 3);
});

test('echelon verify names the batch of advantages as all that a step with every column lacks', async () => {
  const batch = exampleBatch();
  Object.assign(batch, { policyVersionStart: [40, 40], policyVersionEnd: [40, 40] });
  Object.assign(batch.step, { rowDigests: ['a', 'b'], sourceDigests: ['b', 'c', 'a'] });
  const five = [1, 2, 3, 4, 5];
  const own = { id: five, sampledId: five, sampled: five.map(() => 1), position: [0, 1, 2, 0, 1] };
  batch.tokens = { ...batch.tokens, ...own };
  const { text, status } = await verified(batch);
  assert.match(
    text,
    /^11 of 12 stages verified; not: advantage \(needs trajectory, the batch of advantages\)$/m,
  );
  assert.equal(status, 3);
});

test('echelon verify of a step with a wrong token ends with 1 and says how to explain it', async () => {
  const batch = exampleBatch();
  batch.tokens.lossGradient = [-0.2, -0.27, -0.2, 0.2, 0.2];
  const { text, status } = await verified(batch);
  assert.equal(status, 1);
  assert.match(text, /--row 0 --position 1/);
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
  assert.deepEqual([status, batches.length, steps[0].name, steps[0].ok], [3, 0, 'update 40', true]);
});

/** Runs a command on the example with a clipped token that moves. */
async function onWrong(command: (path: string, io: { stdout: Writer; stderr: Writer }) => Promise<number>) {
  const path = join(folder, 'wrong.json');
  const batch = exampleBatch();
  batch.tokens.lossGradient = [-0.2, -0.2 * Math.exp(0.3), -0.2, 0.2, 0.2];
  await writeFile(path, stepFile(batch));
  let text = '';
  const stream: Writer = {
    write(part) {
      text += part;
    },
  };
  const status = await command(path, { stdout: stream, stderr: stream });
  return { text, status };
}
interface Writer {
  write(part: string): void;
}

test('echelon explain of a step without a token explains the first wrong one', async () => {
  const { text, status } = await onWrong((path, io) => explainFile(path, {}, io));
  assert.equal(status, 0);
  assert.match(text, /^Token 1 of row 0 of update 40 is WRONG, broken at the stage gradient/);
});

test('echelon explain of a token that is not there ends with 2', async () => {
  const { text, status } = await onWrong((path, io) => explainFile(path, { row: 7, position: 0 }, io));
  assert.equal(status, 2);
  assert.match(text, /no token 0 of row 7/);
});

test('echelon identify of a step ends with 3 if a change explains it, and names the change', async () => {
  const { text, status } = await onWrong((path, io) => identifyFile(path, {}, io));
  assert.equal(status, 3);
  assert.match(text, /not clipped|clipHigh|reinforce/);
});

test('echelon verify of a step that is not right prints its first likely cause', async () => {
  const batch = exampleBatch();
  batch.tokens.lossGradient = [0.2, 0, 0.2, -0.2, -0.2];
  const { text } = await verified(batch);
  assert.match(text, /likely cause: the sign is reversed/);
});

test('the stage of the mask says which of its rules is broken', async () => {
  const batch = exampleBatch();
  Object.assign(batch.tokens, { mask: [1, 1, 1, 1, 0], sampled: [0, 1, 1, 1, 1] });
  const { text } = await verified(batch);
  assert.match(
    text,
    /mask .*tokens: 1 in the mask although it was not sampled, 1 outside of the mask with a gradient/,
  );
});

test('three wrong values of a step are printed, with their factors, and the others are counted', async () => {
  const batch = exampleBatch();
  const wrong = ['loss', 'clipFraction', 'approxKl', 'clipFractionLower'].map((key) => [
    key,
    { value: 0.75, reduction: 'tokens' },
  ]);
  batch.step.reported = {
    ...Object.fromEntries(wrong),
    policyLoss: { value: -0.256, reduction: 'sum-of-micro-batches' },
  };
  const { text } = await verified(batch);
  assert.equal(text.match(/ is wrong/g)?.length, 3, text);
  assert.match(text, /policyLoss: -0\.256 is wrong, 2(\.0\d*)? times, expected -0\.128/);
  assert.match(text, /… and \d values? more that (is|are) wrong/);
});

test('echelon explain of a step with a wrong reported value explains the value', async () => {
  const path = join(folder, 'value.json');
  const batch = exampleBatch();
  batch.step.reported = { clipFraction: { value: 0.2, reduction: 'mean-of-micro-batches' } };
  await writeFile(path, stepFile(batch));
  let text = '';
  const stream: Writer = {
    write(part) {
      text += part;
    },
  };
  assert.equal(await explainFile(path, {}, { stdout: stream, stderr: stream }), 0);
  assert.match(text, /likely cause: reported clipFraction 0\.2: it is the mean over tokens/);
});
