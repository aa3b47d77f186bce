import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainToken } from '../../src/explain/explain-step.ts';
import { formatIdentification, formatToken } from '../../src/explain/step-text.ts';
import { identifyStep } from '../../src/identify/steps/identify-step.ts';
import { exampleBatch, readOne } from '../step/sample-step.ts';
import { simulated } from '../step/simulate-step.ts';

test('the chain of a right token lists every stage without a break', () => {
  const explanation = explainToken(readOne(exampleBatch()), 0, 1);
  assert.deepEqual([explanation.outcome, explanation.breaks], ['exact', null]);
  const text = formatToken(explanation);
  for (const title of ['log-prob', 'ratio', 'policy loss', 'divisor', 'gradient'])
    assert.match(text, new RegExp(`^  ${title} `, 'm'));
  assert.match(text, /clipped: ratio 1.3498587 is above 1.28, advantage > 0/);
});

test('the chain of a token without a KL gradient breaks at the gradient and names the cause', () => {
  const batch = exampleBatch();
  batch.step.kl = { estimator: 'k3', coefficient: 0.1 };
  batch.tokens.referenceLogProb = [-0.6, -1.6, -0.3, -1.5, -0.9];
  const explanation = explainToken(readOne(batch), 0, 1);
  assert.equal(explanation.breaks, 'gradient');
  assert.equal(explanation.causes[0], 'the KL term has no gradient');
});

test('the first stage that breaks is named, not the last', () => {
  const batch = exampleBatch();
  batch.tokens.reportedRatio = [1, 1.1, 1, 1, 1];
  batch.tokens.lossGradient = [-0.2, -0.22, -0.2, 0.2, 0.2];
  assert.equal(explainToken(readOne(batch), 0, 1).breaks, 'ratio');
});

test('a token outside the mask is explained as one without a gradient', () => {
  const batch = exampleBatch();
  batch.tokens.mask = [0, 1, 1, 1, 1];
  const explanation = explainToken(readOne(batch), 0, 0);
  assert.deepEqual([explanation.outcome, explanation.breaks], ['wrong', 'mask']);
});

test('a clipped token is explained with its limit and the number that is compared with it, for each loss', () => {
  const note = (policyLoss: object, advantage: number) => {
    const batch = exampleBatch();
    batch.step.policyLoss = policyLoss;
    batch.tokens.oldLogProb = [-0.5, -3, -0.1, -2, -0.7];
    batch.tokens.reportedAdvantage = [0.5, advantage, 0.5, -0.5, -0.5];
    return explainToken(readOne(batch), 0, 1).lines.find(({ stage }) => stage === 'ratio')!.note;
  };
  assert.equal(
    note({ name: 'ppo-clip', dualClip: 3 }, -1),
    'dual clip: ratio 6.0496472 is above 3, advantage < 0',
  );
  assert.equal(
    note({ name: 'ppo-clip', delta: 1.1 }, 1),
    'clipped: ratio 6.0496472 is above 1.1, advantage > 0',
  );
  assert.equal(
    note({ name: 'cispo', clipHigh: 4 }, -1),
    'clipped: ratio 6.0496472 is above 5, advantage < 0',
  );
  assert.equal(note({ name: 'gmpo' }, 1), 'clipped: log-ratio 1.8 is above 0.2, advantage > 0');
  assert.match(note({ name: 'gspo' }, 1), /^clipped: ratio 1\.82211\d+ is above 1\.2, advantage > 0$/);
  assert.match(
    note({ name: 'dppo-tv' }, 1),
    /^clipped: change of the probability 0\.2514\d+ is above 0\.2, advantage > 0$/,
  );
  assert.equal(note({ name: 'reinforce' }, 1), '');
});

test('a token whose trained id was not sampled breaks at the stage tokens, with both ids', () => {
  const batch = exampleBatch();
  batch.tokens.id = [7, 8, 9, 7, 8];
  batch.tokens.sampledId = [7, 5, 9, 7, 8];
  const { breaks, lines } = explainToken(readOne(batch), 0, 1);
  assert.equal(breaks, 'tokens');
  assert.deepEqual([lines[0]!.value, lines[0]!.reported], [5, 8]);
});

test('a gradient that each rank divided by its own tokens is explained with both counts', () => {
  const batch = exampleBatch();
  // Rank 0 has 3 tokens, and the mean of 2 ranks: A / (2 · 3) · 2 in place of A / 5 · 2, as each rank multiplies by 1.
  batch.tokens.lossGradient = [-0.5 / 3, 0, -0.5 / 3, 0.5 / 2, 0.5 / 2];
  assert.deepEqual(explainToken(readOne(batch), 0, 0).causes, [
    'divided by the 3 tokens of the micro-batch instead of all 5, and averaged over the 2',
    'divided by the 3 tokens of the rank instead of all 5, and averaged over the 2',
  ]);
});

test('a reported loss is explained beside the loss with its weight, and the ratio of a row beside that ratio', () => {
  const batch = exampleBatch();
  batch.step.policyLoss = { name: 'gspo' };
  Object.assign(batch.tokens, { rolloutWeight: [2, 2, 2, 1, 1], reportedLoss: [-1, -1, -1, 0.5, 0.5] });
  batch.tokens.reportedRatio = [1.1, 1.1, 1.1, 1, 1];
  batch.step.rolloutCorrection = { level: 'token', action: 'unknown' };
  batch.tokens.logProb = [-0.4, -1.4, 0, -2, -0.7];
  batch.tokens.oldLogProb = [-0.5, -1.5, -0.1, -2, -0.7];
  const lines = explainToken(readOne(batch), 0, 0).lines;
  const expected = (stage: string) => lines.find((line) => line.stage === stage)!.value!;
  assert.ok(Math.abs(expected('ratio') - Math.exp(0.1)) < 1e-6);
  assert.ok(Math.abs(expected('loss') + 0.5 * 2 * Math.exp(0.1)) < 1e-6);
});

test('a token that is not there is refused with its place', () => {
  assert.throws(() => explainToken(readOne(exampleBatch()), 1, 2), /no token 2 of row 1/);
});

test('identify of a right step says that the stated arithmetic explains it', () => {
  const found = identifyStep(readOne(exampleBatch()));
  assert.deepEqual([found.statedExplains, found.explanations, found.clues], [5, [], []]);
  assert.match(formatIdentification(found), /explains all 5 gradient coefficients/);
});

test('identify lists arithmetics that fit equally, and how to separate them', () => {
  const batch = simulated({ faults: { logRatio: () => 0 } });
  const { explanations, separate } = identifyStep(batch);
  assert.ok(explanations.length >= 2);
  assert.match(separate!, /Capture a step with/);
});

test('identify of a step without gradients names the column', () => {
  const batch = exampleBatch();
  delete batch.tokens.lossGradient;
  assert.deepEqual(identifyStep(readOne(batch)).lacks, ['tokens.lossGradient']);
});
