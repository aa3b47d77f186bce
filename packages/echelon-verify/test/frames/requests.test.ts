import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeBatch } from '../../src/format/batch-wire.ts';
import { readBatchFile } from '../../src/format/read.ts';
import { type Forms, type Request, respond, type Verified } from '../../src/frames/requests.ts';
import { sampleFile } from '../sample-batch.ts';

const BUDGET = { budgetBytes: 2 ** 30 };

function sample(advantage: readonly number[]): Uint8Array {
  const reported = { stepReward: [4, 8, -0.25, 0], advantage };
  return encodeBatch(readBatchFile(sampleFile({ reported }), 'sample')[0]!);
}

function answerOf<T>(request: Request, wire: Uint8Array): T {
  const response = respond(request, wire);
  assert.ok('answer' in response, 'problem' in response ? response.problem : '');
  assert.ok(response.rssBytes > 0);
  return response.answer as T;
}

test('a request to verify a right batch is answered with its report and no explanation', () => {
  const { report, explained } = answerOf<Verified>(
    { name: 'verify', ...BUDGET },
    sample([2.125, 4, -2.125, -4]),
  );
  assert.deepEqual([report.rows, report.wrong, explained], [4, 0, null]);
});

test('a request to verify a wrong batch is answered with the explanation of its first wrong row', () => {
  const { report, explained } = answerOf<Verified>({ name: 'verify', ...BUDGET }, sample([2.125, 4, 7, -4]));
  assert.deepEqual(report.wrongRows, [2]);
  assert.match(explained!.text, /^Row 2 of two is WRONG\n/);
  assert.equal(explained!.row.reported, 7);
});

test('bytes that are no batch are answered as invalid and not as a fault of the verifier', () => {
  const response = respond({ name: 'verify', ...BUDGET }, Uint8Array.of(255, 1, 2));
  assert.ok('problem' in response && response.invalid);
});

test('a row that the batch does not have is answered as invalid with the rows that there are', () => {
  const response = respond({ name: 'explain', row: 9 }, sample([0, 0, 0, 0]));
  assert.ok('problem' in response && response.invalid);
  assert.match(response.problem, /rows 0 to 3, not 9/);
});

test('the known forms are answered by id with their estimator and parameters', () => {
  const forms = answerOf<Forms>({ name: 'forms' }, new Uint8Array(0));
  assert.equal(forms['trl/grpo']?.estimator, 'grpo');
  assert.equal(forms['trl/grpo']?.params.epsilon, 1e-4);
});
